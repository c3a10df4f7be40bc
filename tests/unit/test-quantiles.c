/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/quantiles.h"
#include "unit.h"

TEST(quantiles_of_few_are_exact) {
        static const uint64_t wanted[][2] = {
                { 500, 5007 }, { 900, 9007 }, { 990, 10007 }, { 0, 1007 }
        };
        _cleanup_(quantiles_done) Quantiles s = {};

        ck_assert_uint_eq(quantiles_at(&s, 500), 0);
        for (uint64_t i = 10; i >= 1; i--)
                ck_assert_int_eq(quantiles_add(&s, i * 1000 + 7), 0);
        ck_assert_uint_eq(s.min, 1007);
        ck_assert_uint_eq(s.max, 10007);
        for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                ck_assert_uint_eq(quantiles_at(&s, (unsigned) wanted[i][0]), wanted[i][1]);
}

TEST(quantiles_of_many_are_near) {
        static const unsigned permilles[] = { 10, 500, 900, 990, 999 };
        _cleanup_(quantiles_done) Quantiles s = {};

        /* All of 1 to 100,003 in another order. */
        for (uint64_t i = 0, v = 1; i < 100003; i++, v = (v + 7919) % 100003)
                ck_assert_int_eq(quantiles_add(&s, v + 1), 0);
        for (size_t i = 0; i < ELEMENTSOF(permilles); i++)
                ck_assert_double_eq_tol((double) quantiles_at(&s, permilles[i]),
                                        permilles[i] * 100.003, permilles[i] * 3.0);
        ck_assert_uint_eq(s.n, 100003);
}

TEST(any_spread_has_quantiles) {
        static const uint64_t values[] = { 0, 1, 63, UINT64_C(1) << 40, INT64_MAX, UINT64_MAX };

        ck_assert_uint_eq(quantiles_at(&(Quantiles){}, 500), 0);
        for (size_t i = 0; i < ELEMENTSOF(values) * ELEMENTSOF(values) * 2; i++) {
                uint64_t a = values[i / 2 % ELEMENTSOF(values)];
                uint64_t b = values[i / 2 / ELEMENTSOF(values)];
                _cleanup_(quantiles_done) Quantiles s = {};

                for (int j = 0; j < (i % 2 ? 100 : 1); j++) {
                        ck_assert_int_eq(quantiles_add(&s, a), 0);
                        ck_assert_int_eq(quantiles_add(&s, b), 0);
                }
                ck_assert_uint_eq(s.max, MAX(a, b));
                ck_assert_uint_ge(quantiles_at(&s, 990), s.max / 100 * 97);
                ck_assert_uint_le(quantiles_at(&s, 500) / 103, MIN(a, b) / 100);
        }
}
