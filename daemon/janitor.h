/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Janitor: keeps the store within its limits
 *
 * Looks after every change (janitor_look()), and when a session becomes too old; there is no timer
 * when nothing can become too old.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/sessions.h"
#include "store/config.h"
#include "store/vacuum.h"

typedef struct Janitor Janitor;

/* Everything is borrowed, and lives longer. */
int janitor_new(Janitor **ret, sd_event *event, Store *store, Sessions *sessions,
                const Limits *limits);
/* Something has changed: looks once the loop is free.  @j may be NULL. */
void janitor_look(Janitor *j);
/* The limits that it goes by. */
RetainLimits janitor_limits(const Limits *limits);
Janitor *janitor_free(Janitor *j);
DEFINE_CLEANUP(Janitor *, janitor_free);

/* Vacuums now, and says what went.  0 or -errno. */
int janitor_vacuum(Vacuum *ret, Store *store, Sessions *sessions, const RetainLimits *limits,
                   bool dry_run);
