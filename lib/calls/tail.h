/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tail: trees that wait until it is known whether they are kept
 *
 * Steps go in in their order and come out in it.  A tree that is dropped takes all its steps along;
 * one that is open holds back what came after its first step.  TAIL_STEPS_MAX wait at most: then the
 * tree that is first in the line is kept whatever becomes of it, and counted.
 *
 *      tail_begin() -> tree    tail_push(tree, step)...    tail_end(tree, keep)
 */

#include <stdbool.h>

#include "base/cleanup.h"
#include "calls/step.h"

#define TAIL_STEPS_MAX 131072 /* some 40 MB */

typedef struct Tail Tail;
typedef struct TailTree TailTree;

int tail_new(Tail **ret);
/* NULL without memory. */
TailTree *tail_begin(void);
/* Takes a copy of @step (calls/step-copy.h).  @tree: NULL: it is in none, and stays.  @task: the
 * caller's, given back with it.  0 or -ENOMEM. */
int tail_push(Tail *t, TailTree *tree, size_t task, const Step *step);
/* Consumes @tree. */
void tail_end(Tail *t, TailTree *tree, bool is_kept);
/* The next that may go; valid until the next call.  False: none yet. */
bool tail_pop(Tail *t, Step *ret, size_t *ret_task);
Tail *tail_free(Tail *t);
DEFINE_CLEANUP(Tail *, tail_free);
