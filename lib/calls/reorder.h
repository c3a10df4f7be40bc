/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reorder: calls in the order of their steps, until it is known how long they took
 *
 * The entry of a call comes before its duration, and the steps behind it must not overtake it.  So
 * steps wait in a queue; a call that turns out to be too short leaves it, and what is at its head
 * and known to be long enough can go.  Whatever is open for as long as asked is long enough.
 */

#include "base/cleanup.h"
#include "calls/step.h"

typedef struct Reorder Reorder;

int reorder_new(Reorder **ret, uint64_t min_ns);
/* @task: a number for the step's task, small.  Takes a copy of what the step points at.  0 or
 * -ENOMEM. */
int reorder_push(Reorder *h, size_t task, const Step *step);
/* What is known of the one is the other's.  0 or -ENOMEM. */
int reorder_swap_tasks(Reorder *h, size_t a, size_t b);
/* No more will come: what is still open is as long as was seen of it. */
void reorder_finish(Reorder *h);
/* The next that may go; valid until the next call.  False: none yet. */
bool reorder_pop(Reorder *h, Step *ret);
Reorder *reorder_free(Reorder *h);
DEFINE_CLEANUP(Reorder *, reorder_free);
