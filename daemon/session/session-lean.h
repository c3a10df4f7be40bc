/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionLean: what is hooked for a session while it records, with --lean=auto
 *
 *      nobody knows the roots:  all ──0.3 s──> roots ──> what was learned ──1 h──> all, for 0.3 s ...
 *      their tree is known:     the tree ──others pay too much──> less of it ──not any more──> the tree
 *
 *   - a lesson is all hooked for a moment; then what it stored is learned (daemon/watch/learning-pass.h).  One that saw
 *     too few calls of the roots is repeated, after ever longer and only while something is recorded.  What a session with
 *     everything hooked saw is learned when it ends
 *   - what others call is looked at after a second, then ever less often, and whenever the host begins to do more
 *     (daemon/watch/host-load.h); what costs them too much is not hooked any more, and comes back, to be looked at
 *     anew, when the host does less
 *   - while the roots are not called, what usual loads call often is not hooked either (daemon/lean/lean.h)
 *   - once in RelearnSec= (an hour) there is a lesson of what is called by now
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/process/background.h"
#include "daemon/record/recorder.h"
#include "daemon/session/session-types.h"
#include "daemon/tracer/controller.h"
#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct SessionLean SessionLean;

/* Borrowed for as long as it lives; the directory, the recorder and the tracer until session_lean_end(). */
typedef struct SessionLeanConfig {
        sd_event *event;
        Background *background;
        Controller *controller;
        Recorder *recorder;
        const SessionDir *dir;
        SessionMeta *meta;
        Tracer *tracer;
        uint64_t widen_us; /* RelearnSec=; 0: never */
        Session *session;  /* for the callbacks */
        /* A task: while it records. */
        void (*rehook)(Session *s, LeanScope scope, const Load *load, HookReason reason);
        void (*changed)(Session *s); /* a learning pass is over: starts may have waited for it */
} SessionLeanConfig;

/* 0 or -ENOMEM. */
int session_lean_new(SessionLean **ret, const SessionLeanConfig *config);
/* Ends a learning pass without an answer. */
SessionLean *session_lean_free(SessionLean *l);

/* It records, and all that it needs is hooked.  0 or -errno. */
int session_lean_begin(SessionLean *l);
/* Hooks less from now on, because it costs the host more than it may: whether there is anything to leave out. */
bool session_lean_shed(SessionLean *l);
/* The readers have ended, the tracer is still there.  @has_calls: more than its roots was hooked while
 * it recorded.  The learning pass goes on without both. */
void session_lean_end(SessionLean *l, bool has_calls);
/* Whether a learning pass is under way.  NULL: no. */
bool session_lean_is_busy(const SessionLean *l);
