/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Root calls: the outermost calls of each root, when and how long
 *
 * For whoever wants to look at one of them again, or at the slowest.  Memory is in proportion to the
 * outermost calls, 32 bytes each.
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/pairing.h"
#include "base/cleanup.h"

typedef struct RootCall {
        uint64_t start_ns, duration_ns;
        int64_t task;  /* step_task_key() */
        uint32_t cpu;  /* on which it ended */
        bool is_whole; /* its beginning and its end were seen */
} RootCall;

typedef struct RootCallsRow {
        const Function *root;
        uint64_t total_ns;
        RootCall *calls; /* by their beginnings */
        size_t n;
} RootCallsRow;

typedef struct RootCalls RootCalls;

/* A sink of @pairing, which must outlive its last step.  0 or -ENOMEM. */
int root_calls_new(RootCalls **ret, Pairing *pairing);
/* The root that took most time; NULL: there are no calls.  After the last call; valid until it is
 * freed. */
const RootCallsRow *root_calls_most(RootCalls *c);
/* How many outermost calls, of all roots, begin no later than @call: its number, from 1. */
uint64_t root_calls_number(const RootCalls *c, const RootCall *call);
/*
 * root_calls_slowest() - the slowest hundredth of the calls of a root that are whole
 * @ret:   the slowest first; the caller frees
 * @ret_n: one at least, unless none is whole, and at most @n_max
 *
 * 0 or -ENOMEM.
 */
int root_calls_slowest(const RootCallsRow *row, size_t n_max, const RootCall ***ret, size_t *ret_n);
RootCalls *root_calls_free(RootCalls *c);
DEFINE_CLEANUP(RootCalls *, root_calls_free);
