/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionGuard: what a session costs, held against its limits (daemon/watch/guard.h)
 *
 * Nothing of it needs a look into pages: events are counted by the kernel, bytes and CPU time by the
 * readers.  A look comes with daemon/watch/health.h's, and the readers ask for one sooner when they
 * have stored what a flood would.
 */

#include "daemon/record/recorder.h"
#include "daemon/tracer/controller.h"
#include "daemon/watch/guard.h"
#include "daemon/watch/health.h"
#include "meta/meta.h"

/* Whoever has one fills it; all is borrowed for as long as it is used. */
typedef struct SessionGuard {
        const SessionMeta *meta;
        Recorder *recorder;
        Tracer *tracer;
        Health *health;
        Guard guard; /* from session_guard_begin() on */
} SessionGuard;

/* Recording begins or goes on: what was before does not count. */
void session_guard_begin(SessionGuard *g);
/*
 * session_guard_look() - while it records, and after session_guard_begin()
 * @ret, @ret_limit: why it is to end, and the limit that it passed
 *
 * Return: GUARD_E_PASSED or 0.
 */
int session_guard_look(SessionGuard *g, char ret[static GUARD_TEXT_MAX], SessionLimit *ret_limit);
