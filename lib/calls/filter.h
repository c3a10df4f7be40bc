/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Filter: which steps of a recording are passed on
 *
 * Stands between Steps and whoever draws or counts.  What is left out is as if it had not been
 * recorded, and what is left is passed on as it came: leaving a subtree out removes exactly its
 * lines.  Steps are judged in this order:
 *
 *      task, pid, cpu, time    a step that fails is not seen by what follows
 *      trees                   a tree is a call of a root with all that it calls; without roots, an
 *                              outermost call of a task.  nth, slowest and depth count by trees
 *      notrace, function       what is left of the trees
 *      slower                  calls that took at least so long
 *
 * Losses are passed on whatever is asked for, except of other CPUs and times.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "calls/steps.h"

typedef struct Filter Filter;

/* Patterns are as fnmatch(3) has them. */
typedef struct FilterSpec {
        const Strv *tasks;     /* patterns of names; NULL or empty: all.  So are the next: */
        const Strv *roots;     /* of functions */
        const Strv *functions; /* calls of these, without what they call */
        const Strv *notrace;   /* not calls of these, nor what they call */
        const int32_t *pids;
        size_t n_pids;
        const bool *cpus; /* NULL: all */
        size_t n_cpus;
        uint64_t from_ns, to_ns; /* both included, trace clock; to_ns 0: no end */
        uint64_t slower_ns;      /* 0: all */
        uint64_t depth;          /* levels of a tree; 0: all */
        uint64_t nth;            /* the one tree; 0: all */
        uint64_t n_slowest;      /* trees; 0: all */
} FilterSpec;

/* Whether anything is left out at all. */
bool filter_spec_is_empty(const FilterSpec *spec);

/* @spec, and what it points at: borrowed for the filter's life.  0 or -ENOMEM. */
int filter_new(Filter **ret, const FilterSpec *spec);

/*
 * filter_rank() - read all of @steps to find the slowest trees
 *
 * Of a spec with n_slowest, once, before filter_next() is asked for the steps of the same recording
 * from its beginning.  A tree that has no end is as long as was seen of it.
 *
 * Return: 0, -errno.
 */
int filter_rank(Filter *f, Steps *steps);

/* As steps_next(), of what is left. */
int filter_next(Filter *f, Steps *steps, uint64_t until_ns, Step *ret);

Filter *filter_free(Filter *f);
DEFINE_CLEANUP(Filter *, filter_free);
