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
#include "calls/step.h"
#include "calls/stacks.h"

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
        uint64_t n_cut_entries;         /* still open when the recording ended */
        uint64_t n_cut_exits;           /* of calls that were open when it began */
        uint64_t first_ns, last_ns;     /* trace clock; 0 if there is nothing */
        size_t n_cpus;                  /* that have any event */
        bool *cpus;                     /* which; the census's own affair, like the next two */
        size_t n_cpus_room;
        Stacks trees; /* what is open (calls/trees.h) */
} Census;

/* 0 or -ENOMEM. */
int census_step(Census *c, const Step *step);
/* Counts what is still open.  No more steps after this. */
void census_finish(Census *c);
void census_done(Census *c);
#define _cleanup_census_ _cleanup_(census_done)
