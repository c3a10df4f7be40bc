/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Census: what there is in a recording, counted step by step
 *
 * Entries and exits are matched by task and depth.  What has no partner was cut
 * off by the beginning or the end, or was separated from it by a loss.  Where only exits were
 * recorded (of calls that took long enough) each stands for its call; one of a root is a tree.
 */

#include <stdint.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "calls/step.h"
#include "calls/stacks.h"

typedef struct CensusRoot {
        char *name;
        uint64_t n_trees;
} CensusRoot;

typedef struct CensusCpu {
        uint64_t n_entries, n_exits, n_others;
        uint64_t n_gaps; /* LOST steps */
        uint64_t n_lost; /* events, where the kernel said how many */
} CensusCpu;

typedef struct Census {
        bool only_exits;             /* then an exit is one of each, too */
        uint64_t n_entries, n_exits; /* a leaf is one of each */
        uint64_t n_others;           /* events of other kinds */
        uint64_t n_gaps, n_lost;
        uint64_t n_trees;               /* begun */
        uint64_t n_trees_complete;      /* and ended */
        uint64_t n_below;               /* entries inside trees, their roots not counted */
        uint64_t n_unmatched_entries;   /* whose exit is missing */
        uint64_t n_unmatched_irq_exits; /* of these: ends of interrupts, which linux 7.2 may drop */
        uint64_t n_unmatched_exits;     /* whose entry is missing */
        uint64_t n_cut_entries;         /* still open when the recording ended */
        uint64_t n_cut_exits;           /* of calls that were open when it began */
        uint64_t first_ns, last_ns;     /* trace clock; 0 if there is nothing */
        CensusRoot *roots;              /* in the order of the list given */
        size_t n_roots;
        CensusCpu *cpus; /* by number; n_cpus is the highest with data plus 1 */
        size_t n_cpus;
        Stacks *trees; /* what is open (calls/trees.h); the census's own affair */
} Census;

/*
 * census_init()
 * @roots:      the list that the Function table was made with; copied
 * @only_exits: no entries were recorded
 */
int census_init(Census *ret, const Strv *roots, bool only_exits);
/* 0 or -ENOMEM. */
int census_step(Census *c, const Step *step);
/* Counts what is still open.  No more steps after this. */
void census_finish(Census *c);
/* CPUs that have any event. */
size_t census_n_cpus(const Census *c);
void census_done(Census *c);
#define _cleanup_census_ _cleanup_(census_done)
