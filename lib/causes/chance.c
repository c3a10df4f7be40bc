/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The difference of two means is in proportion to the sum of one group, once all values add up to 0;
 * of both groups the smaller one is added up.
 */

#include <math.h>

#include "causes/chance.h"

#define LAGS_MAX 512 /* of the autocorrelation */

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

/* --- alike in time ---------------------------------------------------------------------------- */

typedef struct InTime {
        const float *values; /* standardized */
        const bool *is_first;
        const uint32_t *order;
        size_t n_units, n_things, n_lags;
        double *overlap; /* by lag: what pairs of units so far apart add to the variance of the difference */
        bool greater; /* is_first of the greater group */
        size_t n_greater;
} InTime;

static double value_at(const InTime *t, size_t i, size_t thing) {
        return t->values[t->order[i] * t->n_things + thing];
}

static bool is_greater_at(const InTime *t, size_t i) {
        return t->is_first[t->order[i]] == t->greater;
}

/* The variance of the difference is the sum over all pairs of units of their weights' product, times how alike they
 * are; a unit's weight is 1 / the size of its group, and of the other group's, less than 0. */
static int find_overlap(InTime *t, size_t n_first) {
        double first = 1 / (double) n_first, other = -1 / (double) (t->n_units - n_first);

        t->n_lags = MIN(t->n_units / 2, (size_t) LAGS_MAX);
        t->overlap = calloc(t->n_lags + 1, sizeof(*t->overlap));
        if (!t->overlap)
                return -ENOMEM;
        for (size_t lag = 0; lag <= t->n_lags; lag++)
                for (size_t i = 0; i + lag < t->n_units; i++)
                        t->overlap[lag] += (lag > 0 ? 2 : 1) *
                                           (t->is_first[t->order[i]] ? first : other) *
                                           (t->is_first[t->order[i + lag]] ? first : other);
        return 0;
}

/* Covariance of the greater group's units that are @lag apart. */
static double covariance(const InTime *t, size_t thing, size_t lag, double mean) {
        double sum = 0;
        size_t n = 0;

        for (size_t i = 0; i + lag < t->n_units; i++) {
                if (!is_greater_at(t, i) || !is_greater_at(t, i + lag))
                        continue;
                sum += (value_at(t, i, thing) - mean) * (value_at(t, i + lag, thing) - mean);
                n++;
        }
        return n > 0 ? sum / (double) n : 0;
}

/* @ret_times: how many units say together what one says alone.  Returned: by how much more than that of dealt groups
 * the difference of these varies (its variance). */
static double find_inflation(double *ret_times, const InTime *t, size_t thing) {
        double mean = 0, variance, sum = t->overlap[0], unsure;
        size_t n_lags = 0;

        *ret_times = 1;
        for (size_t i = 0; i < t->n_units; i++)
                if (is_greater_at(t, i))
                        mean += value_at(t, i, thing);
        mean /= (double) t->n_greater;
        variance = covariance(t, thing, 0, mean);
        if (variance <= 0)
                return 1;
        for (size_t lag = 1; lag + 1 <= t->n_lags; lag += 2) {
                double one = covariance(t, thing, lag, mean) / variance;
                double two = covariance(t, thing, lag + 1, mean) / variance;

                if (one + two <= 0)
                        break;
                sum += one * t->overlap[lag] + two * t->overlap[lag + 1];
                *ret_times += 2 * (one + two);
                n_lags += 2;
        }
        /* A sum of so many estimates is as unsure as that; taken is the upper end. */
        unsure = 1 + sqrt(2 * (2 * (double) n_lags + 1) / (double) t->n_greater);
        return MAX(sum / t->overlap[0] * (n_lags > 0 ? unsure : 1), 1.0);
}

/*
 * What was seen, had the units been independent, but fewer.  In deviations of dealt groups' differences it is
 *
 *      z = t * sqrt((freedom + 1) / (freedom + t^2))
 *
 * as the deviation of all units has the difference within it, which that of each group, by which t is divided, has not.
 */
static float allow_for_few(float seen, double deviation, double n_units, double inflation,
                           double times) {
        double z2 = pow(seen / deviation, 2), freedom = n_units - 2, t2;

        t2 = z2 * freedom / MAX(freedom + 1 - z2, 1e-6) / inflation;
        freedom = n_units / times - 2;
        if (freedom <= 0)
                return 0;
        return copysignf((float) (deviation * sqrt(t2 * (freedom + 1) / (freedom + t2))), seen);
}

/* Makes what was seen smaller. */
static int allow_for_time(float *seen, InTime *t, size_t n_first) {
        double n = (double) t->n_units, first = (double) n_first;
        double deviation = sqrt(first * (n - first) / (n - 1));
        int r = find_overlap(t, n_first);

        for (size_t k = 0; k < t->n_things && r >= 0; k++)
                if (seen[k] != 0) {
                        double times, inflation = find_inflation(&times, t, k);

                        seen[k] = allow_for_few(seen[k], deviation, n, inflation, times);
                }
        free(t->overlap);
        return r;
}

/* --- the test --------------------------------------------------------------------------------- */

int chance_test(double *ret_p, float *values, const bool *is_first, const uint32_t *in_time,
                size_t n_units, size_t n_things) {
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
        if (in_time && n_dealt > 0) {
                InTime t = { .values = values,
                             .is_first = is_first,
                             .order = in_time,
                             .n_units = n_units,
                             .n_things = n_things,
                             .greater = !few,
                             .n_greater = n_units - n_dealt };
                int r = allow_for_time(seen, &t, n_first);

                if (r < 0)
                        return r;
        }
        for (unsigned deal = 0; deal < CHANCE_DEALS; deal++) {
                float most = 0;

                memset(sums, 0, n_things * sizeof(*sums));
                for (size_t i = 0; i < n_dealt; i++) {
                        size_t k = i + chance_random(&state) % (n_units - i);

                        SWAP(deck[i], deck[k]);
                        add_row(sums, values + deck[i] * n_things, n_things);
                }
                for (size_t k = 0; k < n_things; k++)
                        most = MAX(most, fabsf(sums[k]));
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
