/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Root profile: what an outermost call of each root consists of
 *
 * For each root how long its calls took, and for each function below it what it took in such a call,
 * its own time and its total, as spreads over the calls; further who called whom.  Functions are
 * counted by their plain names (analyze/alike.h), recursion counts once, the root is a row of its
 * own.  Calls of roots that were cut off are counted, and nothing of them is used.
 *
 * What interrupts do has rows of its own, also of functions that the root calls: whom an interrupt
 * meets, and how many there are, is chance.
 *
 * Memory is in proportion to functions under roots, and to the functions of the outermost calls that
 * are open.
 */

#include "analyze/alike.h"
#include "analyze/pairing.h"
#include "analyze/quantiles.h"
#include "base/cleanup.h"

typedef struct RootProfileRow {
        Alike name;
        const Function *function;
        uint32_t root;      /* index of one of the roots */
        uint32_t next;      /* row of that root, its index plus 1; 0: it is the last */
        bool is_irq;        /* it is an interrupt */
        bool in_irq;        /* or below one */
        uint64_t n;         /* calls */
        Quantiles self_ns;  /* in each outermost call that had any; in the others it is 0 */
        Quantiles total_ns; /* the same */
} RootProfileRow;

typedef struct RootProfileRoot {
        Alike name;
        const Function *function;
        uint64_t n_cut;
        Quantiles duration_ns; /* of those that were not */
        size_t n_rows;
        uint32_t first_row, last_row; /* indices plus 1 */
        uint32_t first_edge, last_edge;
} RootProfileRoot;

/* One function calls another one, which is no interrupt; indices of rows of the same root. */
typedef struct RootProfileEdge {
        uint32_t caller, callee;
        uint32_t next; /* as a row's */
} RootProfileEdge;

typedef struct RootProfile {
        RootProfileRoot *roots;
        size_t n_roots;
        RootProfileRow *rows;
        size_t n_rows;
        RootProfileEdge *edges; /* each once */
        size_t n_edges;
} RootProfile;

/* The only sink of @pairing, which must outlive its last step.  0 or -ENOMEM. */
int root_profile_new(RootProfile **ret, Pairing *pairing);
/* The root of this name; false: there is none. */
bool root_profile_find_root(const RootProfile *p, const Alike *name, uint32_t *ret);
/* The row of a function of this name under a root; NULL: it was not called there. */
const RootProfileRow *root_profile_find(const RootProfile *p, uint32_t root, const Alike *name,
                                        bool in_irq);
/* Whether one row calls another one; indices. */
bool root_profile_has_edge(const RootProfile *p, uint32_t caller, uint32_t callee);
RootProfile *root_profile_free(RootProfile *p);
DEFINE_CLEANUP(RootProfile *, root_profile_free);
