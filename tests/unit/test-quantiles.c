/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/quantiles.h"
#include "unit.h"

START_TEST(quantiles_of_few_are_exact)
        {
                Quantiles s = {};

                ck_assert_uint_eq(quantiles_at(&s, 500), 0);
                for (uint64_t i = 10; i >= 1; i--)
                        ck_assert_int_eq(quantiles_add(&s, i * 1000 + 7), 0);
                ck_assert_uint_eq(s.min, 1007);
                ck_assert_uint_eq(s.max, 10007);
                ck_assert_uint_eq(quantiles_at(&s, 500), 5007);
                ck_assert_uint_eq(quantiles_at(&s, 900), 9007);
                ck_assert_uint_eq(quantiles_at(&s, 990), 10007);
                ck_assert_uint_eq(quantiles_at(&s, 0), 1007);
                quantiles_done(&s);
        }
END_TEST

START_TEST(quantiles_of_many_are_near)
        {
                static const unsigned permilles[] = { 10, 500, 900, 990, 999 };
                Quantiles s = {};

                /* All of 1 to 100,003 in another order. */
                for (uint64_t i = 0, v = 1; i < 100003; i++, v = (v + 7919) % 100003)
                        ck_assert_int_eq(quantiles_add(&s, v + 1), 0);
                for (size_t i = 0; i < ELEMENTSOF(permilles); i++) {
                        double exact = permilles[i] * 100.003;
                        double found = (double) quantiles_at(&s, permilles[i]);

                        ck_assert_double_ge(found, exact * 0.97);
                        ck_assert_double_le(found, exact * 1.03);
                }
                ck_assert_uint_eq(s.n, 100003);
                quantiles_done(&s);
        }
END_TEST

START_TEST(the_smallest_and_the_largest_have_their_place)
        {
                Quantiles s = {};

                for (int i = 0; i < 100; i++)
                        ck_assert_int_eq(quantiles_add(&s, i % 2 ? UINT64_MAX : 0), 0);
                ck_assert_uint_eq(quantiles_at(&s, 500), 0);
                ck_assert_uint_eq(s.max, UINT64_MAX);
                ck_assert_uint_ge(quantiles_at(&s, 990), UINT64_MAX / 100 * 97);
                quantiles_done(&s);
        }
END_TEST

UNIT_SUITE("quantiles", quantiles_of_few_are_exact, quantiles_of_many_are_near,
           the_smallest_and_the_largest_have_their_place)
