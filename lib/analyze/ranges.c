/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The length of a linear range is 1, 2, or 5 times a power of ten. */

#include "analyze/ranges.h"

#define N_LINEAR 20

static uint64_t round_length(uint64_t at_least) {
        static const uint64_t steps[] = { 1, 2, 5 };
        uint64_t power = 1;

        for (;; power *= 10)
                for (size_t i = 0; i < ELEMENTSOF(steps); i++)
                        if (steps[i] * power >= at_least || power > UINT64_MAX / 100)
                                return steps[i] * power;
}

static size_t linear(Range *ret, const Quantiles *s) {
        uint64_t p99 = MIN(quantiles_at(s, 990), (uint64_t) INT64_MAX), length, from;
        size_t n = 0;

        length = round_length((p99 - MIN(p99, s->min)) / N_LINEAR + 1);
        for (from = MIN(p99, s->min) / length * length; from <= p99; from += length, n++)
                ret[n] =
                        (Range){ from, from + length, quantiles_n_between(s, from, from + length) };
        if (s->max >= from)
                ret[n++] = (Range){ from, UINT64_MAX, quantiles_n_between(s, from, UINT64_MAX) };
        return n;
}

size_t ranges_of(Range ret[static RANGES_MAX], const Quantiles *s, bool is_linear) {
        uint64_t from = 0, to;
        size_t n = 0;

        if (s->n == 0)
                return 0;
        if (is_linear)
                return linear(ret, s);
        if (s->min > 0)
                from = UINT64_C(1) << (63 - __builtin_clzll(s->min));
        for (;; from = to) {
                to = from == 0 ? 1 : from > UINT64_MAX / 2 ? UINT64_MAX : from * 2;
                ret[n++] = (Range){ from, to, quantiles_n_between(s, from, to) };
                if (s->max < to || to == UINT64_MAX)
                        return n;
        }
}
