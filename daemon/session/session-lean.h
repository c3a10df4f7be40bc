/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionLean: what is hooked for a session while it records, with --lean=auto or full
 *
 *      nearly all ──5 s──> learned? ──> what its roots call ──1 h──> nearly all, for some seconds
 *
 *   - a session that learns (daemon/watch/learning-pass.h) is looked at after some seconds; if what it has stored
 *     was enough only what was seen stays hooked, else it goes on and is looked at again after twice the time.  One
 *     that ends before is looked at when it ends, for the next one; so is one with --lean=off
 *   - what others call is looked at after a second and then ever less often (daemon/watch/bystander-watch.h); what
 *     they call too often is not hooked any more
 *   - once in RelearnSec= (an hour) nearly all is hooked again, and what the roots call by now is learned
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/process/background.h"
#include "daemon/session/session-types.h"
#include "daemon/tracer/controller.h"
#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct SessionLean SessionLean;

/* Borrowed for as long as it lives; the directory and the tracer until session_lean_end(). */
typedef struct SessionLeanConfig {
        sd_event *event;
        Background *background;
        Controller *controller;
        const SessionDir *dir;
        const SessionMeta *meta;
        Tracer *tracer;
        uint64_t widen_us;                             /* RelearnSec=; 0: never */
        Session *session;                              /* for the callbacks */
        void (*rehook)(Session *s, HookReason reason); /* a task: while it records */
        void (*changed)(Session *s); /* a learning pass is over: starts may have waited for it */
} SessionLeanConfig;

/* 0 or -ENOMEM. */
int session_lean_new(SessionLean **ret, const SessionLeanConfig *config);
/* Ends a learning pass without an answer. */
SessionLean *session_lean_free(SessionLean *l);

/* It records, and all that it needs is hooked.  0 or -errno. */
int session_lean_begin(SessionLean *l);
/* Modules changed.  Who has nearly all hooked has that of those that came, too, by a task. */
void session_lean_look_at_modules(SessionLean *l);
/* The readers have ended, the tracer is still there.  @has_calls: more than its roots was hooked while
 * it recorded.  The learning pass goes on without both. */
void session_lean_end(SessionLean *l, bool has_calls);
/* Whether a learning pass is under way.  NULL: no. */
bool session_lean_is_busy(const SessionLean *l);
