/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Steps: the source of them (calls/step.h)
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "calls/step.h"
#include "calls/values.h"
#include "decode/foreign.h"
#include "decode/names.h"
#include "decode/stream.h"

typedef struct Steps Steps;

/* Another session shares the kernel's graph filter, so that its trees may be in this buffer too. */
typedef enum StepsKeep {
        STEPS_ALL,
        STEPS_IN_TREES, /* what is in a tree that begins at one of the roots */
        STEPS_OF_ROOTS, /* the roots' own, where no tree can be seen */
} StepsKeep;

/*
 * steps_new()
 * @stream, @functions, @tasks: borrowed
 * @foreign:    what prints events of other kinds, borrowed; NULL: they have no text
 * @keep:       what is passed on; events of other kinds whose format is there were asked for, and
 *              stay
 */
int steps_new(Steps **ret, Stream *stream, Functions *functions, const Tasks *tasks,
              Foreign *foreign, StepsKeep keep);
/* What tells of calls what they were given and return; borrowed, before the first step.  Without it only entries
 * and exits do. */
void steps_set_values(Steps *s, Values *values);
/* The next step not later than @until_ns.  1: @ret is filled; 0: there is none; -errno. */
int steps_next(Steps *s, uint64_t until_ns, Step *ret);
/* For a recording that goes on: trees are told apart from now on, so that STEPS_IN_TREES may be set
 * later, when a neighbour has come. */
void steps_watch_trees(Steps *s);
void steps_set_keep(Steps *s, StepsKeep keep);
Steps *steps_free(Steps *s);
DEFINE_CLEANUP(Steps *, steps_free);
