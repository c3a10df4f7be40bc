/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatPlan: which pages of a recording go into a trace.dat
 *
 * The head of a trace.dat says how many pages each CPU has, so they are counted before any is
 * written.  Pages that were never written, or whose length is impossible, are left out, as they are
 * when we draw; of a session that still records, what is there when the plan is made.
 */

#include "base/cleanup.h"
#include "store/page.h"
#include "store/session-dir.h"

/* Pages of one segment that follow each other and are taken. */
typedef struct DatRun {
        uint32_t cpu;
        uint64_t sequence, first, n;
} DatRun;

typedef struct DatPlan {
        bool swap; /* of the recorded machine, seen from this one */
        uint32_t page_bytes;
        DatRun *runs; /* ascending by cpu, sequence, first */
        size_t n_runs;
        uint32_t n_cpus;       /* the highest number plus 1; 0: there is no CPU */
        uint64_t n_pages;      /* in all runs */
        uint64_t n_lost;       /* pages that are damaged: left out */
        uint64_t n_unreadable; /* segments, the same */
} DatPlan;

/* What to take. */
typedef struct DatChoice {
        const bool *cpus; /* NULL: all */
        size_t n_cpus;
        uint64_t from_ns,
                to_ns; /* as events' times are; to_ns 0: no end.  Read is what may lie between */
        /* Asked for each good page, in the order of the runs: 1 takes it, 0 leaves it out, -errno ends it all.  NULL
         * takes every page. */
        int (*look)(void *userdata, uint32_t cpu, const PageInfo *info, const void *page);
        void *userdata;
} DatChoice;

/* @ret->swap and page_bytes are set by the caller, the rest is zero.  dat_plan_done() it, also after
 * a failure.  0 or -errno. */
int dat_plan_make(DatPlan *ret, const SessionDir *dir, const DatChoice *choice);
void dat_plan_done(DatPlan *p);
#define _cleanup_dat_plan_ _cleanup_(dat_plan_done)
