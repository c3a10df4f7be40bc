/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spread: how durations are spread, in little memory
 *
 * Up to SPREAD_EXACT_MAX of them are kept, and quantiles are exact; of more,
 * only how many fall between neighbouring values of two and a half per cent's
 * distance, so that quantiles are that exact.
 */

#include <stdint.h>

#include "base/cleanup.h"

#define SPREAD_EXACT_MAX 64

typedef struct Spread {
        uint64_t n;
        uint64_t min, max, sum;
        uint64_t *exact;  /* n of them, as they came; NULL beyond SPREAD_EXACT_MAX */
        uint32_t *counts; /* of n_counts buckets from i_first on */
        uint32_t n_counts, i_first;
} Spread;

int spread_add(Spread *s, uint64_t value); /* 0 or -ENOMEM */
/* The smallest value that @permille of all do not exceed; 0 of none. */
uint64_t spread_quantile(const Spread *s, unsigned permille);
/* How many are at least @from and less than @to; of more than SPREAD_EXACT_MAX those count as the
 * middle of their bucket, so that bounds that are powers of two are exact. */
uint64_t spread_n_between(const Spread *s, uint64_t from, uint64_t to);
/* Of the values of two spreads together, the smallest of which has rank 1, equal ones the middle of
 * theirs. */
typedef struct SpreadRanks {
        double sum;  /* of the first one's */
        double ties; /* t * t * t - t, of each t values that are equal, added up */
} SpreadRanks;

/* @n_a, @n_b: how many values each shall have; those that it has not are 0.  0 or -ENOMEM. */
int spread_ranks(const Spread *a, uint64_t n_a, const Spread *b, uint64_t n_b, SpreadRanks *ret);
void spread_done(Spread *s);
