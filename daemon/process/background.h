/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Background: slow work of the daemon beside its loop
 *
 * Arming and disarming ask the kernel for things that take it tenths of a second, while other clients want an answer.
 * Such work is a task: a function like any other, which says where it is about to wait (background_leave()) and where
 * it is through (background_return()).  In between the loop goes on, and only there: at any moment either the loop or
 * one task runs, so that tasks use the daemon's structures as the loop does, without locks.  What a task has looked at
 * before it left may have changed when it returns.  Tasks run one after the other, in the order of coming.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"

typedef struct Background Background;
typedef void (*BackgroundTask)(void *userdata);

/* Tasks run from beginning to end until background_open().  0 or -errno. */
int background_new(Background **ret, sd_event *event);
/* Ends all tasks first; NULL is fine. */
Background *background_free(Background *a);
DEFINE_CLEANUP(Background *, background_free);
/* The loop is about to run, and this thread has the privileges that tasks are to have. */
void background_open(Background *a);

/*
 * background_run() - begin @task, or put it behind those that are under way
 * @userdata: lives until it has run, or background_drop()
 *
 * If none is under way it runs at once, until it leaves for the first time.  @a NULL, no memory, and whatever
 * keeps a thread from being made: it runs from beginning to end, and the loop waits.
 */
void background_run(Background *a, BackgroundTask task, void *userdata);
/* Takes out those of @userdata that have not begun.  NULL is fine. */
void background_drop(Background *a, const void *userdata);
/* True if any is under way, for whoever is no task of @a.  NULL: no. */
bool background_is_busy(const Background *a);
/* Returns when all have ended; the loop stands still meanwhile, and systemd's watchdog is told that it does.  Called by a
 * task of @a: nothing happens; NULL is fine. */
void background_settle(Background *a);

/*
 * Around what takes time.  In between nothing of the daemon's may be touched but what the task alone knows of, and
 * nobody leaves again before he has returned, which is asserted: while somebody settles the second one would never come
 * back.  Whoever is no task may call them, too: then the loop waits.
 */
void background_leave(void);
void background_return(void);
/* The value of @call, which is made between the two. */
#define BACKGROUND_CALL(call)                                                                      \
        ({                                                                                         \
                background_leave();                                                                \
                typeof(call) _result = (call);                                                     \
                background_return();                                                               \
                _result;                                                                           \
        })
