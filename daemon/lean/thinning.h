/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Thinning: what is not hooked, so that others pay no more than they may
 *
 * Each call of a hooked function outside the roots costs whoever makes it a hook.  Over the budget go, of each of these
 * classes the most called first, until the rest costs less:
 *
 *      leaves without a part in the roots' time, and where tasks wait if the roots are not known to call it
 *      what only the scheduler calls
 *      other leaves
 *      what calls others, as long as there is one more at its depth below the roots
 *      where tasks wait below the roots (daemon/lean/waiting.h), and where interrupts begin
 */

#include "daemon/lean/call-rates.h"
#include "daemon/lean/lean-tree.h"

/* Calls of others, counted for a moment. */
typedef struct Load {
        CallRates rates; /* none: nobody has counted */
        Strv counted;    /* whose calls were, sorted */
        Strv out;        /* what was counted before, and is not hooked any more, sorted */
        uint64_t window_ns, hook_ns; /* in which; what a hook takes */
        bool is_work; /* while the roots are called: what counts is this, and not what other work might call */
} Load;

/* What was counted @before but not @now is out; how often it would be called now nobody knows.  0 or -ENOMEM. */
int load_keep(Load *now, const Load *before);
void load_done(Load *l);

/* What would be hooked, by class and depth; names are borrowed. */
typedef struct Rank Rank;
typedef struct Ranks {
        Rank *items;
        size_t n;
} Ranks;

/* @hooked, @roots: sorted; roots stay.  0 or -ENOMEM. */
int thinning_rank(Ranks *ret, const LeanTree *tree, const Strv *hooked, const Strv *roots);
void ranks_done(Ranks *r);
/* @ret: what is left out already, and what is to be besides, sorted.  0 or -ENOMEM. */
int thinning_choose(const Ranks *ranks, const Load *load, uint64_t budget_ppm, Strv *ret);
