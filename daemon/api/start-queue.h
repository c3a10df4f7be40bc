/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Start queue: calls of Start, and the queue of those that wait
 *
 * Starting takes the kernel tenths of a second, so it is a task (daemon/process/background.h), and whoever comes
 * meanwhile waits for its turn.
 *
 * Who may wait is refused nothing that another one uses at the moment: the call is kept and tried
 * again when a session ends, and about once a second, since nobody tells when a stranger's tracer
 * goes.  Who came first is tried first; who can begin at once is not held up by those who cannot.
 *
 * Who has lean decide what is hooked waits for what is being learned of the same roots, asked or not, but
 * a moment only: a session that has just ended leaves it to be counted for one to three seconds.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/api/sessions.h"
#include "daemon/server/server.h"

#define START_QUEUE_FOR_EVER ((uint64_t) INT64_MAX) /* as wait_ns */

typedef struct StartQueue StartQueue;

/* Everything is borrowed. */
int start_queue_new(StartQueue **ret, sd_event *event, Background *background, Sessions *sessions);
/* Who says what goes for what has begun: a value for the reply's member "retention"; NULL: nobody. */
void start_queue_set_outlook(StartQueue *s, json_t *(*foresee)(void *userdata), void *userdata);
/*
 * start_queue_begin() - answer @call, now or later
 * @request: copied
 * @wait_ns: how long it may wait; 0: not at all
 *
 * While it waits, and if it was called with `more`, it is told for what at first and at every
 * change; of a learning pass if that takes longer than one notices.  Return: 0 or -ENOMEM.
 */
int start_queue_begin(StartQueue *s, ServerCall *call, const SessionRequest *request,
                      uint64_t wait_ns);
/* Something has ended: the queue is tried when the loop comes round. */
void start_queue_wake(StartQueue *s);
/* Drops calls whose connection has gone. */
void start_queue_drop_gone(StartQueue *s);
/* Refuses all that wait: the daemon goes.  No task is under way. */
void start_queue_end(StartQueue *s);
/* How many wait, for their turn or for what another one uses. */
size_t start_queue_n(const StartQueue *s);
StartQueue *start_queue_free(StartQueue *s);
DEFINE_CLEANUP(StartQueue *, start_queue_free);
