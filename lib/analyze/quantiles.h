/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Quantiles: how durations are spread, in little memory
 *
 * Up to QUANTILES_EXACT_MAX of them are kept, and quantiles are exact; of more,
 * only how many fall between neighbouring values of two and a half per cent's
 * distance, so that quantiles are that exact.
 */

#include <stdint.h>

#include "base/cleanup.h"

#define QUANTILES_EXACT_MAX 64

typedef struct Quantiles {
        uint64_t n;
        uint64_t min, max, sum;
        uint64_t *exact;  /* n of them, as they came; NULL beyond QUANTILES_EXACT_MAX */
        uint32_t *counts; /* of n_counts buckets from i_first on */
        uint32_t n_counts, i_first;
} Quantiles;

int quantiles_add(Quantiles *s, uint64_t value); /* 0 or -ENOMEM */
/* The smallest value that @permille of all do not exceed; 0 of none. */
uint64_t quantiles_at(const Quantiles *s, unsigned permille);
/* How many are at least @from and less than @to; of more than QUANTILES_EXACT_MAX those count as the
 * middle of their bucket, so that bounds that are powers of two are exact. */
uint64_t quantiles_n_between(const Quantiles *s, uint64_t from, uint64_t to);
/* Of the values of two spreads together, the smallest of which has rank 1, equal ones the middle of
 * theirs. */
typedef struct QuantilesRanks {
        double sum;  /* of the first one's */
        double ties; /* t * t * t - t, of each t values that are equal, added up */
} QuantilesRanks;

/* @n_a, @n_b: how many values each shall have; those that it has not are 0.  0 or -ENOMEM. */
int quantiles_ranks(const Quantiles *a, uint64_t n_a, const Quantiles *b, uint64_t n_b,
                    QuantilesRanks *ret);
void quantiles_done(Quantiles *s);
