/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Diff: what has changed from one recording to another
 *
 * Roots that both have are compared, and below each the functions: what such an outermost call spends
 * in them on average, how often it calls them, and who calls whom.  Whether a change may be chance is
 * what the Mann-Whitney test says of the outermost calls (in ranks, so that a few very slow ones do
 * not count for more than one each): p is how likely as great a difference is between two recordings
 * of the same.  Fewer than DIFF_N_MIN calls on a side say nothing: p is 1.
 */

#include "analyze/root-profile.h"
#include "base/cleanup.h"

#define DIFF_N_MIN 5
#define DIFF_P_MAX 0.001 /* a change is one below that, since hundreds of functions are compared */

typedef enum DiffKind {
        DIFF_SAME,    /* nothing, or it may be chance */
        DIFF_CHANGED, /* its own time, or how often it is called */
        DIFF_NEW,     /* not called before */
        DIFF_GONE,    /* not called any more */
} DiffKind;

/* One side; all for each outermost call. */
typedef struct DiffSide {
        const Function *function; /* NULL: it is not called */
        double calls, self_ns, total_ns;
} DiffSide;

typedef struct DiffFunction {
        DiffKind kind;
        DiffSide before, now;
        double p;         /* of its own time */
        bool is_top;      /* new, gone: who calls it is not */
        bool is_irq;      /* it is an interrupt */
        bool in_irq;      /* or below one; the same function outside of interrupts is another row */
        double change_ns; /* CHANGED, SAME: of its own time; NEW, GONE: of its total */
} DiffFunction;

/* A function that both recordings have is called by another one that both have, in only one. */
typedef struct DiffPath {
        const Function *caller, *callee;
        bool is_new; /* else gone */
        bool in_irq; /* both are below an interrupt, or the caller is one */
} DiffPath;

typedef struct DiffRoot {
        const Function *before, *now;
        uint64_t n_before, n_now, n_cut_before, n_cut_now;
        uint64_t median_before_ns, median_now_ns;
        uint64_t p90_before_ns, p90_now_ns;
        double p;
        double p_least; /* what p were if no call of one side took as long as any of the other */
        bool is_enough; /* outermost calls on both sides to tell */
        DiffFunction *functions; /* the greatest changes first */
        size_t n_functions;
        DiffPath *paths;
        size_t n_paths;
} DiffRoot;

typedef struct Diff {
        DiffRoot *roots; /* the greatest changes of all their calls first */
        size_t n_roots;
} Diff;

/* Both borrowed for the diff's life.  0 or -ENOMEM; without a common root n_roots is 0. */
int diff_new(Diff **ret, const RootProfile *before, const RootProfile *now);
Diff *diff_free(Diff *d);
DEFINE_CLEANUP(Diff *, diff_free);
