/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Backoff: how long a reader leaves its CPU's buffer alone
 *
 * The kernel wakes a reader that waits in poll() by an interrupt it sends to itself in the middle
 * of recording an event (irq_work; linux 6.12 kernel/trace/ring_buffer.c, rb_wakeups()).  The
 * functions that send it are then recorded below the root, as if it had called them, and where
 * another interrupt meets them the return of irq_exit_rcu() is dropped without being counted
 * (7.2; calls/census.c).  So poll() is for bursts, and a steady stream is
 * fetched by the clock, before poll() would have anything to say.
 */

#include <stdint.h>

#define BACKOFF_MIN_MS 1
#define BACKOFF_FIRST_MS                                                                           \
        10 /* after the kernel had to wake us: the stream's rate is not known yet */

typedef struct Backoff {
        uint64_t goal_bytes; /* to be fetched at a time: well below what makes poll() readable */
        uint32_t max_ms;     /* with no data, and never longer */
        uint32_t interval_ms;
} Backoff;

#define BACKOFF_INIT(goal, max)                                                                    \
        ((Backoff){ .goal_bytes = (goal), .max_ms = (max), .interval_ms = (max) })

/*
 * backoff_percent() - how full a buffer is when the kernel wakes its reader (buffer_percent), 1..25
 * @max_bytes: of the whole recording, 0: no limit; a small one is not to be overshot by much
 */
unsigned backoff_percent(uint64_t buffer_bytes, uint64_t max_bytes);
/* Half of that, in bytes: a Backoff's goal. */
uint64_t backoff_goal(uint64_t buffer_bytes, uint64_t max_bytes);

/* @n_bytes came in the last @elapsed_ms: how long to wait now [ms], BACKOFF_MIN_MS..max_ms. */
uint32_t backoff_next(Backoff *p, uint64_t n_bytes, uint64_t elapsed_ms);
/* The kernel woke us: more came than was foreseen. */
void backoff_wake(Backoff *p);
