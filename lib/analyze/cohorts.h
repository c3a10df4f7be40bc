/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Cohorts: which outermost calls of a root are slow, and which are usual
 *
 *      slowest    the slowest hundredth, but at least 8 of 80 and more; usual: the middle half
 *      slower     at least so long; usual: the middle half of all, without these
 *      window     begun within it; usual: all others
 *      failed     returned an error; usual: those that returned something else
 *      source     of the last recording; usual: of those before
 *
 * Only of the first two were calls chosen by how long they took.
 */

#include "analyze/anatomy.h"

#define COHORTS_CALLS_MIN 20 /* of a root, to tell anything */

typedef enum CohortsBy {
        COHORTS_BY_SLOWEST,
        COHORTS_BY_DURATION,
        COHORTS_BY_WINDOW,
        COHORTS_BY_FAILURE,
        COHORTS_BY_SOURCE,
} CohortsBy;

typedef struct CohortsSpec {
        CohortsBy by;
        uint64_t slower_ns;      /* DURATION */
        uint64_t from_ns, to_ns; /* WINDOW: both included, trace clock; to_ns 0: no end */
} CohortsSpec;

/* Indices of the anatomy's calls, by their beginnings. */
typedef struct Cohorts {
        size_t *slow, *usual, *all; /* all: of the root, also those that are in neither */
        size_t n_slow, n_usual, n_all;
} Cohorts;

/* An outermost function; of several recordings, which have calls of it. */
typedef struct CohortsRoot {
        const CallNode *node;
        uint64_t total_ns;
        bool in_first, in_last;
        const size_t *calls; /* indices of the anatomy's */
        size_t n_calls;
} CohortsRoot;

/* All roots, those with the most time first; the caller frees, which is all.  0 or -ENOMEM. */
int cohorts_roots(CohortsRoot **ret, size_t *ret_n, const Anatomy *a);
/* Either may be empty.  0 or -ENOMEM; then, too, cohorts_done() it. */
int cohorts_choose(Cohorts *ret, const Anatomy *a, const CohortsRoot *root,
                   const CohortsSpec *spec);
void cohorts_done(Cohorts *c);
#define _cleanup_cohorts_ _cleanup_(cohorts_done)
/* Whether calls were chosen by how long they took. */
bool cohorts_are_by_time(CohortsBy by);
/* Whether calls were chosen by when they were, and not one by one. */
bool cohorts_are_stretches(CohortsBy by);
