/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waits: where tasks waited, who woke them, and how long that took, added up
 *
 * A row is a function that waited and who woke it in which function.  The function is the innermost
 * that was recorded, without those that only are the scheduler's own ("schedule").  Memory is in
 * proportion to the rows.
 */

#include "analyze/pairing.h"
#include "analyze/quantiles.h"

typedef struct Waits Waits;

typedef struct WaitsRow {
        const Function *function;
        Waker waker;       /* its pid only if all were of the same; else -1 */
        bool is_woken;     /* nobody was seen to: false */
        bool is_forced;    /* it did not want to leave the CPU: preempted */
        Quantiles away;    /* from leaving the CPU to coming back */
        Quantiles latency; /* of that, from being woken on */
} WaitsRow;

/* What @pairing tells of waiting goes here.  0 or -ENOMEM. */
int waits_new(Waits **ret, Pairing *pairing);
/* Those that took most first; valid until it is freed. */
const WaitsRow *const *waits_rows(Waits *w, size_t *ret_n);
/* Whether a function is only the scheduler's own. */
bool waits_is_scheduler(const Function *function);
/* The function of a row that @wait counts in. */
const Function *waits_function(const CallWait *wait);
Waits *waits_free(Waits *w);
DEFINE_CLEANUP(Waits *, waits_free);
