/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Janitor: keeps the store within its limits, and within others when asked
 *
 * Looks after every change (janitor_look()), when a session becomes too old or may go from then on, and
 * every 15 s while something records; there is no timer when nothing can go.  However many sessions there are, it never keeps the loop for
 * longer than a moment.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/api/sessions.h"
#include "daemon/server/server.h"
#include "meta/config.h"
#include "retention/vacuum.h"

typedef struct Janitor Janitor;

/* Everything is borrowed, and lives longer.  @is_asked_only: never looks by itself. */
int janitor_new(Janitor **ret, sd_event *event, Store *store, Sessions *sessions,
                const Limits *limits, bool is_asked_only);
/* Something has changed: looks once the loop is free.  @j may be NULL. */
void janitor_look(Janitor *j);
/* All sessions are known (daemon/api/sessions.h).  @j may be NULL. */
void janitor_go_on(Janitor *j);
/* What goes next; NULL: nothing is removed by itself here, not all sessions are known yet, or there is no
 * memory.  @j may be NULL. */
json_t *janitor_foresee(Janitor *j);
/* Adds a CheckResult (org.ftraced.varlink) of that. */
void janitor_check(Janitor *j, json_t *checks);
/* Whether anything is under way; @j may be NULL. */
bool janitor_is_busy(const Janitor *j);
Janitor *janitor_free(Janitor *j);
DEFINE_CLEANUP(Janitor *, janitor_free);

/* Vacuums when what was asked for before is done: @call is kept, told meanwhile how far that is, and answered at the
 * end.  A caller who hangs up wants no more of it: the session that is being removed is, and no other.
 * 0 or -ENOMEM. */
int janitor_vacuum(Janitor *j, ServerCall *call, const RetainLimits *limits, bool dry_run);
