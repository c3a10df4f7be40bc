/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The difference of two means is in proportion to the sum of one group, once all values add up to 0;
 * of both groups the smaller one is added up.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/chance.h"
#include "base/cleanup.h"

/* The same each time, so that a recording has the same p each time. */
static uint64_t next_random(uint64_t *state) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        return *state;
}

static void standardize(float *values, size_t n_units, size_t n_things) {
        for (size_t k = 0; k < n_things; k++) {
                double mean = 0, variance = 0;
                float scale;

                for (size_t i = 0; i < n_units; i++)
                        mean += values[i * n_things + k];
                mean /= (double) n_units;
                for (size_t i = 0; i < n_units; i++) {
                        double x = values[i * n_things + k] - mean;

                        variance += x * x;
                }
                variance /= (double) n_units;
                /* What is left of rounding is no difference. */
                scale = variance > 1e-12 * mean * mean && variance > 0
                                ? (float) (1 / sqrt(variance))
                                : 0;
                for (size_t i = 0; i < n_units; i++)
                        values[i * n_things + k] =
                                (float) (values[i * n_things + k] - mean) * scale;
        }
}

static void add_row(float *sums, const float *row, size_t n) {
        for (size_t k = 0; k < n; k++)
                sums[k] += row[k];
}

static float greatest(const float *sums, size_t n) {
        float most = 0;

        for (size_t k = 0; k < n; k++)
                most = MAX(most, fabsf(sums[k]));
        return most;
}

int chance_test(double *ret_p, float *values, const bool *is_first, size_t n_units,
                size_t n_things) {
        _cleanup_free_ float *seen = calloc(n_things + 1, sizeof(*seen));
        _cleanup_free_ float *sums = calloc(n_things + 1, sizeof(*sums));
        _cleanup_free_ uint32_t *deck = calloc(n_units + 1, sizeof(*deck));
        _cleanup_free_ unsigned *n_reached = calloc(n_things + 1, sizeof(*n_reached));
        size_t n_first = 0, n_dealt;
        uint64_t state = 1;
        bool few;

        if (!seen || !sums || !deck || !n_reached)
                return -ENOMEM;
        for (size_t i = 0; i < n_units; i++)
                n_first += is_first[i];
        few = n_first <= n_units / 2;
        n_dealt = few ? n_first : n_units - n_first;
        standardize(values, n_units, n_things);
        for (size_t i = 0; i < n_units; i++) {
                deck[i] = (uint32_t) i;
                if (is_first[i] == few)
                        add_row(seen, values + i * n_things, n_things);
        }
        for (unsigned deal = 0; deal < CHANCE_DEALS; deal++) {
                float most;

                memset(sums, 0, n_things * sizeof(*sums));
                for (size_t i = 0; i < n_dealt; i++) {
                        size_t k = i + next_random(&state) % (n_units - i);

                        SWAP(deck[i], deck[k]);
                        add_row(sums, values + deck[i] * n_things, n_things);
                }
                most = greatest(sums, n_things);
                /* Sums of the same values in another order are the same. */
                for (size_t k = 0; k < n_things; k++)
                        n_reached[k] += most >= fabsf(seen[k]) * (1 - 1e-5F);
        }
        for (size_t k = 0; k < n_things; k++)
                ret_p[k] = n_dealt == 0 || seen[k] == 0
                                   ? 1
                                   : (1.0 + n_reached[k]) / (1.0 + CHANCE_DEALS);
        return 0;
}
