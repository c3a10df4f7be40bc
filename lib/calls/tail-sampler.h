/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tail sampler: trees that wait until it is known whether they are kept
 *
 * Steps go in in their order and come out in it.  A tree that is dropped takes all its steps along;
 * one that is open holds back what came after its first step.  Only so many wait: then the tree that
 * is first in the line is kept whatever becomes of it, if it has lasted long enough.
 *
 *      tail_sampler_begin() -> tree    tail_sampler_push(tree, step)...    tail_sampler_end(tree, keep)
 */

#include <stdbool.h>

#include "base/cleanup.h"
#include "calls/step.h"

typedef struct TailSampler TailSampler;
typedef struct SampledTree SampledTree;

/* @n_max: steps that wait; @min_ns: how old the first must be to go before it is decided.  0 or
 * -ENOMEM. */
int tail_sampler_new(TailSampler **ret, size_t n_max, uint64_t min_ns);
/* NULL without memory. */
SampledTree *tail_sampler_begin(void);
/* Takes a copy of @step (calls/step-copy.h).  @tree: NULL: it is in none, and stays.  0 or -ENOMEM. */
int tail_sampler_push(TailSampler *t, SampledTree *tree, const Step *step);
/* Consumes @tree.  Whether it was kept, perhaps before its end. */
bool tail_sampler_end(TailSampler *t, SampledTree *tree, bool is_kept);
/* The next that may go; valid until the next call.  False: none yet. */
bool tail_sampler_pop(TailSampler *t, uint64_t now_ns, Step *ret);
TailSampler *tail_sampler_free(TailSampler *t);
DEFINE_CLEANUP(TailSampler *, tail_sampler_free);
