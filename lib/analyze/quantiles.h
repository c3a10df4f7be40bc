/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Quantiles: how durations are spread, in little memory
 *
 * Up to QUANTILES_EXACT_MAX of them are kept, and quantiles are exact; of more,
 * only how many fall between neighbouring values of two and a half per cent's
 * distance, so that quantiles are that exact.
 */

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
void quantiles_done(Quantiles *s);

/*
 * Ranges: a spread in pieces, to be drawn as a histogram; each is twice as long as the one before
 */
#define RANGES_MAX 66

typedef struct Range {
        uint64_t from_ns, to_ns; /* the first is in it, the last is not; UINT64_MAX: no end */
        uint64_t n;
} Range;

/* How many ranges, from the one with the shortest to that with the longest; 0 of an empty spread. */
size_t ranges_of(Range ret[static RANGES_MAX], const Quantiles *s);
