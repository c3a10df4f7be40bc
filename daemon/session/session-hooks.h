/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionHooks: what is hooked follows a session's state
 *
 * Everything while it records, the roots alone while it waits for a trigger (tracer_waits()), and less
 * once it is known what they call or what that costs.  Each takes the kernel most of a second, so it is a task, and the
 * session does not wait for it: it records from the trigger on, and can be stopped or wait again
 * meanwhile.
 */

#include <stdbool.h>

#include "base/cleanup.h"
#include "daemon/process/background.h"
#include "daemon/session/session-types.h"
#include "daemon/tracer/controller.h"
#include "daemon/watch/health.h"
#include "meta/meta.h"

typedef struct SessionHooks SessionHooks;

/* Borrowed for as long as it lives; the last three until the session has ended. */
typedef struct SessionHooksConfig {
        Session *session; /* for the callbacks, and whoever waits (SessionHooked) */
        Background *background;
        Controller *controller;
        SessionMeta *meta;
        Tracer *tracer;
        Health *health;
        bool (*is_watched)(const Session *s); /* its control files, now */
        /* All is hooked, and it records: 0, or -errno and what failed. */
        int (*hooked)(Session *s, const char **ret_what);
        void (*failed)(Session *s);   /* it cannot record */
        void (*settled)(Session *s);  /* the task is over: what waited for that can be done */
        void (*rehooked)(Session *s); /* meta says what is hooked now */
        void (*changed)(Session *s);  /* the same as SessionChanged */
} SessionHooksConfig;

/* 0 or -ENOMEM. */
int session_hooks_new(SessionHooks **ret, const SessionHooksConfig *config);
/* No task of it is under way. */
SessionHooks *session_hooks_free(SessionHooks *h);

/* After a change between RECORDING and ARMED.  @since_ns: CLOCK_MONOTONIC, when its trigger fired; 0:
 * before this daemon. */
void session_hooks_follow(SessionHooks *h, uint64_t since_ns);
/* A task: hooks what is to be hooked by now, for a session that records (controller_rehook()). */
void session_hooks_rehook(SessionHooks *h, LeanScope scope, const Load *load, HookReason reason);
/* In a task: what is hooked is written so that another user of function_graph does not change it. */
void session_hooks_list(SessionHooks *h);
/* While a task changes it: a look at the control files finds half of it, and a line that is written to
 * set_ftrace_filter meanwhile may undo the change.  NULL: no. */
bool session_hooks_change(const SessionHooks *h);
/* Whether it changes or has to. */
bool session_hooks_are_due(const SessionHooks *h);
/* Before a recording ends: says what it lacks.  NULL: nothing. */
void session_hooks_interrupt(SessionHooks *h);
/* Whether more than its roots was hooked while it recorded. */
bool session_hooks_had_calls(const SessionHooks *h);
/* As session_when_hooked(). */
int session_hooks_await(SessionHooks *h, SessionHooked done, void *userdata);
