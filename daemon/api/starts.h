/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Starts: calls of Start, and the queue of those that wait
 *
 * Starting takes the kernel tenths of a second, so it is a task (daemon/process/aside.h), and whoever comes
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

#define STARTS_FOR_EVER ((uint64_t) INT64_MAX) /* as wait_ns */

typedef struct Starts Starts;

/* Everything is borrowed. */
int starts_new(Starts **ret, sd_event *event, Aside *aside, Sessions *sessions);
/* Who says what goes for what has begun: a value for the reply's member "retention"; NULL: nobody. */
void starts_set_outlook(Starts *s, json_t *(*foresee)(void *userdata), void *userdata);
/*
 * starts_begin() - answer @call, now or later
 * @request: copied
 * @wait_ns: how long it may wait; 0: not at all
 *
 * While it waits, and if it was called with `more`, it is told for what at first and at every
 * change; of a lesson if that takes longer than one notices.  Return: 0 or -ENOMEM.
 */
int starts_begin(Starts *s, ServerCall *call, const SessionRequest *request, uint64_t wait_ns);
/* Something has ended: the queue is tried when the loop comes round. */
void starts_wake(Starts *s);
/* Drops calls whose connection has gone. */
void starts_drop_gone(Starts *s);
/* Refuses all that wait: the daemon goes.  No task is under way. */
void starts_end(Starts *s);
/* How many wait, for their turn or for what another one uses. */
size_t starts_n(const Starts *s);
Starts *starts_free(Starts *s);
DEFINE_CLEANUP(Starts *, starts_free);
