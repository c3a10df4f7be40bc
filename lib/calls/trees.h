/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Trees: which call tree a task is in
 *
 * A tree begins when a task enters a root while it is in no tree, and ends when
 * the task leaves that root.  Depth counts over all users of function_graph, so
 * a root may stand at any depth; what is above it is not ours, and an entry at
 * its depth while it is open means that it has returned: its record follows, if it is not lost.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "calls/step.h"

typedef struct Trees Trees;

typedef enum Place {
        PLACE_OUTSIDE, /* in no tree */
        PLACE_ROOT,    /* this step begins a tree (a leaf ends it, too) */
        PLACE_INSIDE,
        PLACE_END, /* this step ends a tree */
} Place;

/* A level of a task's stack. */
typedef struct OpenCall {
        const Function *function; /* open; NULL: nothing is */
        const Function *ending;   /* has returned, but its record is still to come; NULL */
} OpenCall;

/* What one task has open. */
typedef struct TaskTree {
        int64_t key;
        const Function *root;   /* of the tree it is in; NULL: in none */
        const Function *ending; /* a root that an interrupt met between its end and its record */
        int32_t root_depth;     /* of either */
        OpenCall *open;         /* by depth, for whoever counts */
        int32_t n_open;         /* the deepest open one is n_open - 1 */
        int32_t n_room;
        int32_t floor; /* lowest depth that was entered, INT32_MAX before that */
} TaskTree;

int trees_new(Trees **ret);
/* The task of a step, made if new; the idle tasks are one for each CPU.  NULL without memory.
 * Valid until the next call. */
TaskTree *trees_task(Trees *t, const Step *step);
/* Where an ENTER, LEAF or LEAVE stands; moves the task on. */
Place task_tree_place(TaskTree *task, const Step *step);
/* All tasks, in no order: trees_n() of them. */
size_t trees_n(const Trees *t);
TaskTree *trees_get(Trees *t, size_t i);
Trees *trees_free(Trees *t);
DEFINE_CLEANUP(Trees *, trees_free);
