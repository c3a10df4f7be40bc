/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * By root: how long chosen functions took, for each function at the top of their callers
 *
 * Calls that were cut are counted, and not in the spread.  Memory is in proportion to the roots.
 */

#include "analyze/pairing.h"
#include "analyze/quantiles.h"
#include "base/cleanup.h"
#include "calls/name-set.h"

typedef struct ByRoot ByRoot;

typedef struct ByRootRow {
        const Function *root;
        uint64_t n_cut;
        Quantiles quantiles;
} ByRootRow;

/*
 * by_root_new() - a sink of @pairing, which must outlive its last step
 * @names: whose calls, borrowed; NULL: the roots themselves
 *
 * 0 or -ENOMEM.
 */
int by_root_new(ByRoot **ret, Pairing *pairing, NameSet *names);
/* All together. */
const ByRootRow *by_root_all(const ByRoot *b);
/* Those with the most time first; valid until it is freed. */
const ByRootRow *const *by_root_rows(ByRoot *b, size_t *ret_n);
ByRoot *by_root_free(ByRoot *b);
DEFINE_CLEANUP(ByRoot *, by_root_free);
