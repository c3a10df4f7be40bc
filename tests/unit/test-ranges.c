/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/ranges.h"
#include "unit.h"

START_TEST(doubling_ranges_hold_exactly_what_they_say)
        {
                Range ranges[RANGES_MAX];
                Quantiles s = {};
                size_t n;

                for (uint64_t v = 100; v < 1124; v++)
                        ck_assert_int_eq(quantiles_add(&s, v), 0);
                n = ranges_of(ranges, &s);
                ck_assert_uint_eq(n, 5);
                ck_assert_uint_eq(ranges[0].from_ns, 64);
                ck_assert_uint_eq(ranges[0].n, 28);
                ck_assert_uint_eq(ranges[1].n, 128);
                ck_assert_uint_eq(ranges[2].n, 256);
                ck_assert_uint_eq(ranges[3].n, 512);
                ck_assert_uint_eq(ranges[4].n, 100);
                quantiles_done(&s);
        }
END_TEST

START_TEST(any_quantiles_fits)
        {
                static const uint64_t values[] = { 0,         1,         63, UINT64_C(1) << 40,
                                                   INT64_MAX, UINT64_MAX };

                for (size_t i = 0; i < ELEMENTSOF(values); i++)
                        for (size_t k = i; k < ELEMENTSOF(values); k++)
                                for (int many = 0; many < 2; many++) {
                                        Range ranges[RANGES_MAX];
                                        Quantiles s = {};
                                        size_t n;

                                        for (int j = 0; j < (many ? 100 : 1); j++) {
                                                ck_assert_int_eq(quantiles_add(&s, values[i]), 0);
                                                ck_assert_int_eq(quantiles_add(&s, values[k]), 0);
                                        }
                                        n = ranges_of(ranges, &s);
                                        ck_assert_uint_gt(n, 0);
                                        ck_assert_uint_le(n, RANGES_MAX);
                                        quantiles_done(&s);
                                }
        }
END_TEST

START_TEST(nothing_has_no_ranges)
        {
                Range ranges[RANGES_MAX];

                ck_assert_uint_eq(ranges_of(ranges, &(Quantiles){}), 0);
        }
END_TEST

UNIT_SUITE("ranges", doubling_ranges_hold_exactly_what_they_say, any_quantiles_fits,
           nothing_has_no_ranges)
