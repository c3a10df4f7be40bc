/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionTriggers: a session's rules, and what they have it do
 *
 *   - session_triggers_new() before anything is programmed: whether the rules make sense
 *   - session_triggers_begin() when all is programmed: listens; to what an earlier daemon had hung
 *     too, whatever rang meanwhile
 *   - session_triggers_look() after a change of state, and when a snapshot is done
 *   - session_triggers_hooked() when session_hooks_change() has ended: does what was put off
 *   - session_triggers_end() before recording is switched off for good: listens no more
 *   - session_triggers_free() before the tracer is disarmed, which notifiers in use would hinder; never
 *     from within a trigger
 *
 * A session without rules has none of it: NULL does nothing.
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/session/session-hooks.h"
#include "daemon/tracer/controller.h"
#include "daemon/watch/health.h"
#include "meta/meta.h"
#include "wire/refusal.h"

/* Whether the rules of @spec make sense.  0, REFUSED, -errno. */
int session_triggers_admit(const Spec *spec, Refusal *refusal);
/* Whether the moments that it waits for are to come: asked when it is begun, and never again. */
int session_triggers_admit_moments(const Spec *spec, Refusal *refusal);

typedef struct SessionTriggers SessionTriggers;

/* Borrowed for as long as it lives. */
typedef struct SessionTriggersConfig {
        sd_event *event;
        SessionMeta *meta; /* its captures are counted */
        Tracer *tracer;
        Health *health;
        SessionHooks *hooks;
        Session *session;                       /* for the callbacks */
        bool (*has_snapshot)(const Session *s); /* a snapshot is under way */
        /* ARMED becomes RECORDING: 0, or -errno and what failed. */
        int (*go)(Session *s, const char **ret_what, const char **ret_object);
        /* RECORDING becomes ARMED again; what was recorded becomes a snapshot. */
        void (*pause)(Session *s, const char *reason);
        void (*stop)(Session *s, const char *reason);
        int (*snapshot)(Session *s, const char *reason); /* 0 or -errno */
        void (*counted)(Session *s);                     /* meta says that something fired */
        void (*changed)(Session *s);                     /* as SessionChanged */
} SessionTriggersConfig;

/* *@ret: NULL if @m has no rules, of which the number is set.  0, REFUSED, -errno. */
int session_triggers_new(SessionTriggers **ret, SessionMeta *m, Refusal *refusal);
SessionTriggers *session_triggers_free(SessionTriggers *t);

/* Whether the session waits for one to begin recording. */
bool session_triggers_start(const SessionTriggers *t);
/* 0 or -errno. */
int session_triggers_begin(SessionTriggers *t, const SessionTriggersConfig *config,
                           bool is_adopted);
void session_triggers_look(SessionTriggers *t);
void session_triggers_hooked(SessionTriggers *t);
/* As session_trigger() and session_signal(). */
int session_triggers_command(SessionTriggers *t, const char *who);
bool session_triggers_signal(SessionTriggers *t);
/* Another daemon goes on: what rings from now on is the next one's. */
void session_triggers_leave(SessionTriggers *t);
void session_triggers_end(SessionTriggers *t);
