/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The difference of two means is in proportion to the sum of one group, once all values add up to 0;
 * of both groups the smaller one is added up.
 */

#include <math.h>

#include "causes/chance.h"

#define LAGS_MAX 512 /* of the autocorrelation */

/* A row is of so many; what is behind its last thing is 0. */
typedef float Wide __attribute__((vector_size(16), may_alias));
#define WIDE (sizeof(Wide) / sizeof(float))

/* NULL without memory. */
static Wide *standardize(const float *values, size_t n_units, size_t n_things, size_t n_wide) {
        Wide *rows = calloc(n_units * n_wide + 1, sizeof(*rows));

        for (size_t k = 0; rows && k < n_things; k++) {
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
                        rows[i * n_wide + k / WIDE][k % WIDE] =
                                (float) (values[i * n_things + k] - mean) * scale;
        }
        return rows;
}

#define ROWS 4 /* are added at once, one after the other */

static void add_rows(Wide *sums, const Wide *const *rows, size_t n_wide) {
        const Wide *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];

        for (size_t k = 0; k < n_wide; k++)
                sums[k] = sums[k] + a[k] + b[k] + c[k] + d[k];
}

static float greatest_of(const Wide *sums, size_t n_wide) {
        float most[WIDE] = {}, all = 0;

        for (size_t k = 0; k < n_wide; k++)
                for (size_t i = 0; i < WIDE; i++)
                        most[i] = MAX(most[i], fabsf(sums[k][i]));
        for (size_t i = 0; i < WIDE; i++)
                all = MAX(all, most[i]);
        return all;
}

/* --- alike in time ---------------------------------------------------------------------------- */

typedef struct InTime {
        const Wide *rows;
        const bool *is_first;
        const uint32_t *order;
        size_t n_units, n_things, n_wide, n_lags;
        double *overlap; /* by lag: what pairs of units so far apart add to the variance of the difference */
        bool greater; /* is_first of the greater group */
        size_t n_greater;
} InTime;

static double value_at(const InTime *t, size_t i, size_t thing) {
        return t->rows[t->order[i] * t->n_wide + thing / WIDE][thing % WIDE];
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

static int compare(const void *a, const void *b) {
        return CMP(*(const float *) a, *(const float *) b);
}

/* --- the test --------------------------------------------------------------------------------- */

int chance_test(double *ret_p, const float *values, const bool *is_first, const uint32_t *in_time,
                size_t n_units, size_t n_things) {
        size_t n_wide = (n_things + WIDE - 1) / WIDE;
        _cleanup_free_ Wide *all = standardize(values, n_units, n_things, n_wide);
        _cleanup_free_ Wide *seen = calloc(n_wide + 1, sizeof(*seen));
        _cleanup_free_ Wide *sums = calloc(n_wide + 1, sizeof(*sums));
        _cleanup_free_ Wide *nothing = calloc(n_wide + 1, sizeof(*nothing));
        _cleanup_free_ uint32_t *deck = calloc(n_units + 1, sizeof(*deck));
        const Wide *rows[ROWS] = { nothing, nothing, nothing, nothing };
        float most[CHANCE_DEALS];
        size_t n_first = 0, n_dealt;
        uint64_t state = 1;
        bool few;

        if (!all || !seen || !sums || !nothing || !deck)
                return -ENOMEM;
        for (size_t i = 0; i < n_units; i++)
                n_first += is_first[i];
        few = n_first <= n_units / 2;
        n_dealt = few ? n_first : n_units - n_first;
        for (size_t i = 0; i < n_units; i++) {
                deck[i] = (uint32_t) i;
                if (is_first[i] != few)
                        continue;
                rows[0] = all + i * n_wide;
                add_rows(seen, rows, n_wide);
        }
        if (in_time && n_dealt > 0) {
                InTime t = { .rows = all,
                             .is_first = is_first,
                             .order = in_time,
                             .n_units = n_units,
                             .n_things = n_things,
                             .n_wide = n_wide,
                             .greater = !few,
                             .n_greater = n_units - n_dealt };
                int r = allow_for_time((float *) seen, &t, n_first);

                if (r < 0)
                        return r;
        }
        for (unsigned deal = 0; deal < CHANCE_DEALS; deal++) {
                memset(sums, 0, n_wide * sizeof(*sums));
                for (size_t i = 0; i < n_dealt; i++) {
                        size_t k = i + chance_random(&state) % (n_units - i);

                        SWAP(deck[i], deck[k]);
                }
                for (size_t i = 0; i < n_dealt; i += ROWS) {
                        for (size_t k = 0; k < ROWS; k++)
                                rows[k] = i + k < n_dealt ? all + deck[i + k] * n_wide : nothing;
                        add_rows(sums, rows, n_wide);
                }
                most[deal] = greatest_of(sums, n_wide);
        }
        SORT(most, CHANCE_DEALS, compare);
        for (size_t k = 0; k < n_things; k++) {
                /* Sums of the same values in another order are the same. */
                float had = seen[k / WIDE][k % WIDE], least = fabsf(had) * (1 - 1e-5F);
                size_t n_less = BISECT(0, CHANCE_DEALS, i, most[i] < least);

                ret_p[k] = n_dealt == 0 || had == 0
                                   ? 1
                                   : (1.0 + CHANCE_DEALS - (double) n_less) / (1.0 + CHANCE_DEALS);
        }
        return 0;
}
