/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionClock: when the clock on the wall was set, or the host slept, while a session recorded
 *
 * A recording's times are the trace clock's; what the clock on the wall showed is worked out from
 * the moments that are written down: its start, and one after each such step.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/session/session-types.h"
#include "daemon/tracer/controller.h"
#include "meta/meta.h"

typedef struct SessionClock SessionClock;

/* Borrowed for as long as it lives. */
typedef struct SessionClockConfig {
        sd_event *event;
        SessionMeta *meta; /* its clock_steps are kept up to date */
        Tracer *tracer;
        void (*changed)(Session *s); /* a step was noted in meta */
        Session *session;            /* for that */
} SessionClockConfig;

/* Looks at once, and at each step from now on if the kernel tells of them, else it says so.
 * 0 or -ENOMEM. */
int session_clock_new(SessionClock **ret, const SessionClockConfig *config);
/* Notes what nobody was told of; nothing unless the session records.  NULL is fine. */
void session_clock_look(SessionClock *c);
SessionClock *session_clock_free(SessionClock *c);
