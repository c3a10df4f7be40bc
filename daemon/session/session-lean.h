/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionLean: when a session that learns looks at what it has stored (daemon/watch/learning-pass.h)
 *
 * It has everything hooked.  After SESSION_LEARN_US what it has stored is looked at; if that was enough
 * only what was seen stays hooked, else it goes on and is looked at again after twice the time.  A
 * session that ends before is looked at when it ends, for the next one.
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/process/background.h"
#include "daemon/tracer/controller.h"
#include "store/meta.h"
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
        void (*learned)(void *userdata); /* a task: while it records, what it calls is known */
        void (*changed)(
                void *userdata); /* a learning pass is over: starts may have waited for it */
        void *userdata;
} SessionLeanConfig;

/* 0 or -ENOMEM. */
int session_lean_new(SessionLean **ret, const SessionLeanConfig *config);
/* Ends a learning pass without an answer. */
SessionLean *session_lean_free(SessionLean *l);
DEFINE_CLEANUP(SessionLean *, session_lean_free);

/* It records, with everything hooked: if it is to be learned from, the timer is set.  0 or -errno. */
int session_lean_begin(SessionLean *l);
/* The readers have ended, the tracer is still there.  @has_calls: more than its roots was hooked while
 * it recorded.  The learning pass goes on without both. */
void session_lean_end(SessionLean *l, bool has_calls);
/* Whether a learning pass is under way.  NULL: no. */
bool session_lean_is_busy(const SessionLean *l);
