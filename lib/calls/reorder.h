/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reorder: calls in the order of their steps, until it is known how long they took
 *
 * The entry of a call comes before its duration, and the steps behind it must not overtake it.  So
 * each entry is a tree of its own to a TailSampler (calls/tail-sampler.h), kept if the call turns out
 * to be long enough.  Whatever is open for as long as asked is long enough.
 */

#include "base/cleanup.h"
#include "calls/step.h"

typedef struct Reorder Reorder;

int reorder_new(Reorder **ret, uint64_t min_ns);
/* Takes a copy of what the step points at.  0 or -ENOMEM. */
int reorder_push(Reorder *h, const Step *step);
/* No more will come: what is still open is as long as was seen of it. */
void reorder_finish(Reorder *h);
/* The next that may go; valid until the next call.  False: none yet. */
bool reorder_pop(Reorder *h, Step *ret);
Reorder *reorder_free(Reorder *h);
DEFINE_CLEANUP(Reorder *, reorder_free);
