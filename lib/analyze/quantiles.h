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
