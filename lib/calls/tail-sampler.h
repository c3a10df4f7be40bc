/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tail sampler: trees that wait until it is known whether they are kept
 *
 * Steps go in in their order and come out in it.  A tree that is dropped takes all its steps along;
 * one that is open holds back what came after its first step.  TAIL_SAMPLER_STEPS_MAX wait at most: then the
 * tree that is first in the line is kept whatever becomes of it, and counted.
 *
 *      tail_sampler_begin() -> tree    tail_sampler_push(tree, step)...    tail_sampler_end(tree, keep)
 */

#include <stdbool.h>

#include "base/cleanup.h"
#include "calls/step.h"

#define TAIL_SAMPLER_STEPS_MAX 131072 /* some 40 MB */

typedef struct TailSampler TailSampler;
typedef struct SampledTree SampledTree;

int tail_sampler_new(TailSampler **ret);
/* NULL without memory. */
SampledTree *tail_sampler_begin(void);
/* Takes a copy of @step (calls/step-copy.h).  @tree: NULL: it is in none, and stays.  @task: the
 * caller's, given back with it.  0 or -ENOMEM. */
int tail_sampler_push(TailSampler *t, SampledTree *tree, size_t task, const Step *step);
/* Consumes @tree. */
void tail_sampler_end(TailSampler *t, SampledTree *tree, bool is_kept);
/* The next that may go; valid until the next call.  False: none yet. */
bool tail_sampler_pop(TailSampler *t, Step *ret, size_t *ret_task);
TailSampler *tail_sampler_free(TailSampler *t);
DEFINE_CLEANUP(TailSampler *, tail_sampler_free);
