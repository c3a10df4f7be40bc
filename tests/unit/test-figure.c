/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/figure.h"
#include "unit.h"

START_TEST(a_time_has_three_digits_or_four)
        {
                char text[FIGURE_MAX];

                ck_assert_str_eq(figure_round(text, 4027), "4.03 us");
                ck_assert_str_eq(figure_round(text, 9994), "9.99 us");
                ck_assert_str_eq(figure_round(text, 9996), "10.0 us");
                ck_assert_str_eq(figure_round(text, 191140), "191.1 us");
                ck_assert_str_eq(figure_round(text, 7442878), "7.44 ms");
                ck_assert_str_eq(figure_round(text, 1238418670), "1.24 s");
                ck_assert_str_eq(figure_round(text, UINT64_C(7200000000000)), "7200.0 s");
        }
END_TEST

START_TEST(a_time_has_no_digits_below_a_nanosecond)
        {
                char text[FIGURE_MAX];

                ck_assert_str_eq(figure_round(text, 0), "0.000 us");
                ck_assert_str_eq(figure_round(text, 7), "0.007 us");
                ck_assert_str_eq(figure_round(text, 82), "0.082 us");
                ck_assert_str_eq(figure_round(text, 999), "0.999 us");
                ck_assert_str_eq(figure_round(text, 1000), "1.00 us");
        }
END_TEST

START_TEST(a_unit_is_never_printed_a_thousand_times)
        {
                char text[FIGURE_MAX];

                ck_assert_str_eq(figure_round(text, 999940), "999.9 us");
                ck_assert_str_eq(figure_round(text, 999960), "1.00 ms");
                ck_assert_str_eq(figure_round(text, 999949999), "999.9 ms");
                ck_assert_str_eq(figure_round(text, 999999999), "1.00 s");
                ck_assert_str_eq(figure_round(text, UINT64_MAX), "18446744073.7 s");
        }
END_TEST

START_TEST(a_change_has_its_sign_and_the_unit_of_its_size)
        {
                char text[FIGURE_MAX];

                ck_assert_str_eq(figure_change(text, 7442878), "+7.44 ms");
                ck_assert_str_eq(figure_change(text, -7442878), "-7.44 ms");
                ck_assert_str_eq(figure_change(text, -0.7), "-0.001 us");
                ck_assert_str_eq(figure_change(text, 0), "+0.000 us");
                ck_assert_str_eq(figure_mean(text, 1499.5), "1.50 us");
        }
END_TEST

START_TEST(a_date_is_in_local_time)
        {
                char text[FIGURE_MAX];

                ck_assert_int_eq(setenv("TZ", "XYZ-2", true), 0);
                tzset();
                ck_assert_str_eq(figure_date(text, UINT64_C(1000000000999999999)),
                                 "2001-09-09 03:46:40");
                ck_assert_str_eq(figure_date(text, UINT64_MAX), "2554-07-22 01:34:33");
        }
END_TEST

START_TEST(a_range_says_its_unit_once_if_there_is_one)
        {
                char text[FIGURE_MAX];

                ck_assert_str_eq(figure_range(text, 1400, 1450), "1.40 to 1.45 us");
                ck_assert_str_eq(figure_range(text, 1400, 1401), "1.40 us");
                ck_assert_str_eq(figure_range(text, 980, 1020000), "0.980 us to 1.02 ms");
        }
END_TEST

START_TEST(a_moment_has_the_digits_that_are_asked_for_and_is_never_later)
        {
                ck_assert_str_eq(FIGURE_MOMENT(1234567890123, 9), "1234.567890123");
                ck_assert_str_eq(FIGURE_MOMENT(1234999999999, 3), "1234.999");
                ck_assert_str_eq(FIGURE_MOMENT(1234000000001, 9), "1234.000000001");
                ck_assert_str_eq(FIGURE_MOMENT(1999999999, 0), "1");
                ck_assert_str_eq(FIGURE_MOMENT(UINT64_MAX, 9), "18446744073.709551615");
        }
END_TEST

UNIT_SUITE("figure", a_moment_has_the_digits_that_are_asked_for_and_is_never_later,
           a_change_has_its_sign_and_the_unit_of_its_size, a_date_is_in_local_time,
           a_range_says_its_unit_once_if_there_is_one, a_time_has_no_digits_below_a_nanosecond,
           a_time_has_three_digits_or_four, a_unit_is_never_printed_a_thousand_times)
