/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The rate of the last interval says when the goal is reached again.  A stream that gets faster is
 * followed at once, one that gets slower by doubling, so that a pause does not make us sleep
 * through what follows it.
 */

#include "base/cleanup.h"
#include "daemon/record/backoff.h"

#define PERCENT_MAX 25U /* leaves three quarters for what comes until the reader runs */

unsigned backoff_percent(uint64_t buffer_bytes, uint64_t max_bytes) {
        double percent = 100.0 * (double) max_bytes / 8 / (double) MAX(buffer_bytes, (uint64_t) 1);

        if (max_bytes == 0 || percent > PERCENT_MAX)
                return PERCENT_MAX;
        return MAX((unsigned) percent, 1U);
}

uint64_t backoff_goal(uint64_t buffer_bytes, uint64_t max_bytes) {
        return buffer_bytes / 200 * backoff_percent(buffer_bytes, max_bytes);
}

uint32_t backoff_next(Backoff *p, uint64_t n_bytes, uint64_t elapsed_ms) {
        uint64_t next_ms = MIN(2 * (uint64_t) p->interval_ms, p->max_ms);

        if (n_bytes > 0) {
                /* In double: the product of the two may not fit 64 bits. */
                double due_ms =
                        (double) MAX(elapsed_ms, 1U) * (double) p->goal_bytes / (double) n_bytes;

                if (due_ms < (double) next_ms)
                        next_ms = (uint64_t) due_ms;
        }
        p->interval_ms = (uint32_t) MAX(next_ms, (uint64_t) BACKOFF_MIN_MS);
        return p->interval_ms;
}

void backoff_wake(Backoff *p) {
        p->interval_ms = MIN(p->interval_ms, (uint32_t) BACKOFF_FIRST_MS / 2);
}
