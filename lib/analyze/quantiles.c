/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A bucket's number is the value's binary exponent and the SUB_BITS bits behind
 * its leading one; the array covers what has occurred, from the lowest to the
 * highest.
 */

#include "analyze/quantiles.h"
#include "base/array.h"

#define SUB_BITS 5
#define N_SUB (1U << SUB_BITS)

static uint32_t bucket_of(uint64_t v) {
        unsigned shift;

        if (v < N_SUB)
                return (uint32_t) v;
        shift = 63 - SUB_BITS - (unsigned) __builtin_clzll(v);
        return (shift + 1) * N_SUB + (uint32_t) (v >> shift & (N_SUB - 1));
}

/* The middle of what falls into it. */
static uint64_t bucket_value(uint32_t i) {
        unsigned shift;

        if (i < N_SUB)
                return i;
        shift = i / N_SUB - 1;
        return ((uint64_t) (N_SUB + i % N_SUB) << shift) +
               (shift > 0 ? UINT64_C(1) << (shift - 1) : 0);
}

static int count(Quantiles *s, uint64_t value) {
        uint32_t i = bucket_of(value);

        if (s->n_counts == 0 || i < s->i_first || i >= s->i_first + s->n_counts) {
                uint32_t first = s->n_counts ? MIN(i, s->i_first) : i;
                uint32_t end = s->n_counts ? MAX(i + 1, s->i_first + s->n_counts) : i + 1;
                uint32_t *p = calloc(end - first, sizeof(*p));

                if (!p)
                        return -ENOMEM;
                if (s->counts)
                        memcpy(p + (s->i_first - first), s->counts, s->n_counts * sizeof(*p));
                free(s->counts);
                s->counts = p;
                s->i_first = first;
                s->n_counts = end - first;
        }
        if (s->counts[i - s->i_first] < UINT32_MAX)
                s->counts[i - s->i_first]++;
        return 0;
}

static int add(Quantiles *s, uint64_t value) {
        int r = 0;

        if (s->n < QUANTILES_EXACT_MAX) {
                if (!ARRAY_GROW(s->exact, s->n))
                        return -ENOMEM;
                s->exact[s->n] = value;
                return 0;
        }
        for (uint64_t i = 0; s->exact && i < s->n && r >= 0; i++)
                r = count(s, s->exact[i]);
        free(TAKE_PTR(s->exact));
        return r < 0 ? r : count(s, value);
}

static inline int note(Quantiles *s, uint64_t value) {
        s->min = s->n == 0 ? value : MIN(s->min, value);
        s->max = MAX(s->max, value);
        s->sum = add_capped(s->sum, value);
        s->n++;
        return 0;
}

static _cold_ int add_new(Quantiles *s, uint64_t value) {
        int r = add(s, value);

        return r < 0 ? r : note(s, value);
}

int quantiles_add(Quantiles *s, uint64_t value) {
        uint32_t i = bucket_of(value) - s->i_first;

        /* Usually its bucket is there. */
        if (_unlikely_(i >= s->n_counts || s->exact || s->counts[i] == UINT32_MAX))
                return add_new(s, value);
        s->counts[i]++;
        return note(s, value);
}

static int compare(const void *a, const void *b) {
        return CMP(*(const uint64_t *) a, *(const uint64_t *) b);
}

uint64_t quantiles_at(const Quantiles *s, unsigned permille) {
        uint64_t rank = s->n / 1000 * permille + (s->n % 1000 * permille + 999) / 1000, value;
        uint64_t sorted[QUANTILES_EXACT_MAX];

        if (s->n == 0)
                return 0;
        rank = MAX(rank, UINT64_C(1));
        if (s->exact) {
                memcpy(sorted, s->exact, s->n * sizeof(*sorted));
                qsort(sorted, s->n, sizeof(*sorted), compare);
                return sorted[rank - 1];
        }
        for (uint32_t i = 0; i < s->n_counts; i++) {
                if (rank <= s->counts[i]) {
                        value = MIN(s->max, bucket_value(s->i_first + i));
                        return MAX(s->min, value);
                }
                rank -= s->counts[i];
        }
        return s->max;
}

void quantiles_done(Quantiles *s) {
        free(s->exact);
        free(s->counts);
        *s = (Quantiles){};
}
