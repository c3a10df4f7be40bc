/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whole: all calls of a recording, for a pairing that is told of some
 *
 * Stands beside a filter (calls/filter.h), and knows what does not depend on what is shown: how long what has no end
 * was seen, what tracing costs, and who wakes whom: without the calls that wake a task that wakes another in a softirq
 * of its own would be taken for an interrupt.
 */

#include "analyze/pairing.h"

typedef struct Whole Whole;

int whole_new(Whole **ret);
/* @step, of all, in their order: as FilterSpec has it.  0 or -errno. */
int whole_see(void *whole, const Step *step);
/* Has @pairing ask @w, which must outlive it, and be told of each step before the pairing is. */
void whole_tell(Whole *w, Pairing *pairing);
Whole *whole_free(Whole *w);
DEFINE_CLEANUP(Whole *, whole_free);
