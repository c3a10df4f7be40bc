/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Wakers: who wakes whom, by all calls, for a pairing that is told of some
 *
 * Stands beside a filter (calls/filter.h), which passes on all events that tell when tasks wait, and not the calls
 * that wake.  Without it a task that wakes another in a softirq of its own is taken for an interrupt.
 */

#include "analyze/pairing.h"

typedef struct Wakers Wakers;

int wakers_new(Wakers **ret);
/* @step, of all, in their order: as FilterSpec has it.  0 or -errno. */
int wakers_see(void *wakers, const Step *step);
/* Has @pairing ask @w, which must outlive it, and be told of each step before the pairing is. */
void wakers_tell(Wakers *w, Pairing *pairing);
Wakers *wakers_free(Wakers *w);
DEFINE_CLEANUP(Wakers *, wakers_free);
