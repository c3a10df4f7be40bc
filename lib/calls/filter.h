/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Filter: which steps of a recording are passed on
 *
 * What is left out is as if it had not been recorded, and what is left is passed on as it came.  Steps are judged in
 * this order:
 *
 *      task, owner, pid, cpu,  a step that fails is not seen by what follows
 *      time
 *      trees                   a tree is a call of a root with all that it calls; without roots, an
 *                              outermost call of a task.  nth, slowest, keep and depth count by
 *                              trees
 *      notrace, fold, function what is left of the trees
 *      slower                  calls that took at least so long
 *
 * Losses are passed on whatever is asked for, except of other CPUs and times, and so are, if they are asked
 * for, all events that say whose request a task works at (calls/stacks.h): which calls they are about
 * comes later; and all that tell when tasks wait: it is another task's event that one is woken, or back.  What a text does not say whose it is, is of no task and no process.
 */

#include "base/array.h"
#include "calls/step.h"

typedef struct Filter Filter;

/* A limit for each root, which filter_rank() finds. */
typedef struct FilterLimits {
        /* A tree of @root has taken so long: 0 or -ENOMEM. */
        int (*learn)(void *data, const Function *root, uint64_t duration_ns);
        /* What a tree of it must take to be kept, when all were learned. */
        uint64_t (*limit_ns)(void *data, const Function *root);
        void *data;
} FilterLimits;

/* Patterns are as fnmatch(3) has them; those of functions as NameSet says. */
typedef struct FilterSpec {
        const Strv *tasks;     /* patterns of names; NULL or empty: all.  So are the next: */
        const Strv *owners[_OWNER_WORD_N]; /* of whose they are */
        const Strv *roots;     /* of functions */
        const Strv *functions; /* calls of these, without what they call */
        const Strv *notrace;   /* not calls of these, nor what they call */
        const Strv *fold;      /* not what these call ("irq": interrupts); NULL or empty: none */
        bool (*is_irq)(const Function *); /* what "irq" stands for; NULL: nothing */
        const int32_t *pids;
        size_t n_pids;
        const bool *cpus; /* NULL: all */
        size_t n_cpus;
        uint64_t from_ns, to_ns; /* both included, trace clock; to_ns 0: no end */
        uint64_t slower_ns;      /* 0: all */
        uint64_t depth;          /* levels of a tree; 0: all */
        uint64_t nth;            /* the one tree; 0: all */
        uint64_t n_slowest;      /* trees; 0: all */
        /* Whole trees that took so long or whose root returned an error (-1 to -4095, in 32 bits or
         * 64) are kept, others left out; neither set: all. */
        uint64_t keep_ns;
        const FilterLimits *keep_limits; /* instead of keep_ns; NULL: none */
        bool keep_failed;
        bool keep_sched; /* all events of these times that tell when tasks wait */
        /* Is told of each step before it is judged, even of those that wait or are left out; 0 or -errno.  NULL:
         * nobody is. */
        int (*see)(void *witness, const Step *step);
        void *witness;
        bool keep_contexts; /* those before from_ns, too; leaves nothing out, so it does not make a spec
                             * that is not empty */
} FilterSpec;

/* True if a function that returned @retval has failed, as the kernel guesses: a 32 bit one leaves the upper half
 * 0. */
bool filter_is_error(uint64_t retval);

/* True if anything is left out at all. */
bool filter_spec_is_empty(const FilterSpec *spec);
/* Whether it asks whose tasks are. */
bool filter_spec_needs_owners(const FilterSpec *spec);
/* Whether filter_rank() must come first. */
bool filter_spec_needs_rank(const FilterSpec *spec);

/* @spec, and what it points at: borrowed for the filter's life.  0 or -ENOMEM. */
int filter_new(Filter **ret, const FilterSpec *spec);

/* Reads all of @source to know how long trees take: of a spec that needs it, once, before filter_next() is asked for the
 * steps of the same recording from its beginning.  A tree that has no end is as long as was seen of it.
 * 0, negative as the source has it, -ENOMEM. */
int filter_rank(Filter *f, const StepSource *source);

/* As step_source_next(), of what is left; also -ENOMEM, and what @spec's see() returned. */
int filter_next(Filter *f, const StepSource *source, uint64_t until_ns, Step *ret);

Filter *filter_free(Filter *f);
DEFINE_CLEANUP(Filter *, filter_free);
