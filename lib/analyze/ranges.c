/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "analyze/ranges.h"

size_t ranges_of(Range ret[static RANGES_MAX], const Quantiles *s) {
        uint64_t from = 0, to;
        size_t n = 0;

        if (s->n == 0)
                return 0;
        if (s->min > 0)
                from = UINT64_C(1) << (63 - __builtin_clzll(s->min));
        for (;; from = to) {
                to = from == 0 ? 1 : from > UINT64_MAX / 2 ? UINT64_MAX : from * 2;
                ret[n++] = (Range){ from, to, quantiles_n_between(s, from, to) };
                if (s->max < to || to == UINT64_MAX)
                        return n;
        }
}
