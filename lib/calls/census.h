/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "calls/stacks.h"

/*
 * Trees: which call tree a task is in
 *
 * A tree begins when a task enters a root while it is in no tree, and ends when
 * the task leaves that root.  Depth counts over all users of function_graph, so
 * a root may stand at any depth; what is above it is not ours, and an entry at
 * its depth while it is open means that it has returned: its record follows, if it is not lost.
 */

/* A call of one function, with all that it calls, on a task's stack. */
typedef struct Stretch {
        const Function *function; /* that it began with; NULL: there is none */
        const Function *ending;   /* is over, but for this one's return */
        int32_t depth;            /* of either */
} Stretch;

typedef enum Leaving {
        LEAVES_NOTHING, /* it does not lie in the stretch */
        LEAVES_INSIDE,
        LEAVES_OPEN,   /* it is the end of what was open */
        LEAVES_ENDING, /* of what was ending */
} Leaving;

/* A call at @depth: what was open there or deeper is over.  Whether it lies in the stretch. */
bool stretch_call(Stretch *s, int32_t depth);
/* Returns what @step, a return, is the end of. */
Leaving stretch_leave(Stretch *s, const Step *step);

typedef enum Place {
        PLACE_OUTSIDE, /* in no tree */
        PLACE_ROOT,    /* this step begins a tree (a leaf ends it, too) */
        PLACE_INSIDE,
        PLACE_END, /* this step ends a tree */
} Place;

/* The data of a task's Stack. */
typedef struct TaskTree {
        Stretch tree;    /* of the root it is in */
        uint64_t n_lost; /* losses that were seen when its tree began */
} TaskTree;

/* The stack of a step's task, made if new.  NULL without memory. */
Stack *trees_get(Stacks *tasks, const Step *step);
/* Where an ENTER, LEAF or LEAVE stands; moves the task on. */
Place task_tree_place(Stack *stack, const Step *step);
/* Whether a step is a return from what was never entered here: the first user of function_graph is told of all returns,
 * also of functions that only others hook (linux 6.12 kernel/trace/fgraph.c, function_graph_enter_ops(), BIT(0)).
 * @place: what task_tree_place() has just said; @n_lost: losses met so far: after one an entry may be missing.  -ENOMEM. */
int task_tree_is_stray(Stack *stack, const Step *step, Place place, uint64_t n_lost);

/*
 * Census: what there is in a recording, counted step by step
 *
 * Entries and exits are matched by task and depth.  What has no partner was separated from it by a loss, unless the
 * beginning or the end has cut it off, which is not counted.  Where only exits were
 * recorded (of calls that took long enough) each stands for its call; one of a root is a tree.
 */

/* One of zeroes, but for the first member, has counted nothing. */
typedef struct Census {
        bool only_exits; /* no entries were recorded: then an exit is one of each, too */
        uint64_t n_entries, n_exits; /* a leaf is one of each */
        uint64_t n_gaps, n_lost;
        uint64_t n_trees;               /* begun */
        uint64_t n_trees_complete;      /* and ended */
        uint64_t n_below;               /* entries inside trees, their roots not counted */
        uint64_t n_unmatched_entries;   /* whose exit is missing */
        uint64_t n_unmatched_irq_exits; /* of these: ends of interrupts, which linux 7.2 may drop */
        uint64_t n_unmatched_exits;     /* whose entry is missing */
        uint64_t first_ns, last_ns;     /* trace clock; 0 if there is nothing */
        size_t n_cpus;                  /* that have any event */
        bool *cpus;                     /* which; the census's own affair, like the next two */
        size_t n_cpus_room;
        Stacks trees; /* what is open */
} Census;

/* 0 or -ENOMEM. */
int census_step(Census *c, const Step *step);
void census_done(Census *c);
#define _cleanup_census_ _cleanup_(census_done)

/* NameSet: functions by names or globs, as fnmatch(3) has them.  A name also stands for the clones that a compiler makes
 * of it: "do_softirq" for "do_softirq.part.20". */

typedef struct NameSet {
        const Strv *patterns;           /* borrowed */
        bool (*also)(const Function *); /* what is meant besides; NULL: nothing */
        Hash verdicts;                  /* the set's own: by function */
} NameSet;

/* 1 if @function is meant, else 0; or -ENOMEM.  Asked once for each, and kept by its pointer. */
int name_set_has(NameSet *s, const Function *function);
static inline void name_set_done(NameSet *s) {
        hash_done(&s->verdicts);
}

/* Prune: leaves out functions with all they call, or only what they call, so that all their time is their own */
typedef struct Prune {
        NameSet names; /* also: those that interrupts begin with, of which a text may say more */
        bool is_below; /* only what they call */
} Prune;

/* 1 if @step, a call's or an event's, is to be left out, else 0; or -ENOMEM.  @s: of its task, zeroes at first, until
 * step_cuts_all().  Wants to see all steps, in order. */
int prune_hides(Prune *p, Stretch *s, const Step *step);
