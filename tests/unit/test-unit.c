/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/unit.h"
#include "unit.h"

START_TEST(bytes_take_binary_suffixes)
        {
                uint64_t n;

                ck_assert_int_eq(parse_bytes("4096", &n), 0);
                ck_assert_uint_eq(n, 4096);
                ck_assert_int_eq(parse_bytes("8M", &n), 0);
                ck_assert_uint_eq(n, 8 << 20);
                ck_assert_int_eq(parse_bytes("1.5GiB", &n), 0);
                ck_assert_uint_eq(n, 3ULL << 29);
                ck_assert_int_eq(parse_bytes("64kB", &n), 0);
                ck_assert_uint_eq(n, 65536);
                ck_assert_int_eq(parse_bytes("12B", &n), 0);
                ck_assert_uint_eq(n, 12);
        }
END_TEST

START_TEST(bytes_refuse_nonsense)
        {
                static const char *const bad[] = { "",    "M",   "-1",  "1.5",  "1X",
                                                   "1MM", "1iB", "1Mi", "0x10", " 1" };
                uint64_t n;

                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                        ck_assert_msg(parse_bytes(bad[i], &n) == -EINVAL, "%s", bad[i]);
                ck_assert_int_eq(parse_bytes("99999999T", &n), -ERANGE);
                ck_assert_int_eq(parse_bytes("99999999999999999999", &n), -ERANGE);
        }
END_TEST

START_TEST(counts_take_decimal_suffixes)
        {
                static const char *const bad[] = { "", "K", "1.5", "5 M", "1T", "1KK", "-1" };
                uint64_t n;

                ck_assert_int_eq(parse_count("4096", &n), 0);
                ck_assert_uint_eq(n, 4096);
                ck_assert_int_eq(parse_count("1.5M", &n), 0);
                ck_assert_uint_eq(n, 1500000);
                ck_assert_int_eq(parse_count("3k", &n), 0);
                ck_assert_uint_eq(n, 3000);
                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                        ck_assert_msg(parse_count(bad[i], &n) == -EINVAL, "%s", bad[i]);
                ck_assert_int_eq(parse_count("99999999999G", &n), -ERANGE);
        }
END_TEST

START_TEST(percents_are_millionths)
        {
                uint64_t n;

                ck_assert_int_eq(parse_percent("0.5%", &n), 0);
                ck_assert_uint_eq(n, 5000);
                ck_assert_int_eq(parse_percent("250", &n), 0);
                ck_assert_uint_eq(n, 2500000);
                ck_assert_int_eq(parse_percent("%", &n), -EINVAL);
                ck_assert_int_eq(parse_percent("5%%", &n), -EINVAL);
                ck_assert_int_eq(parse_percent(".5", &n), -EINVAL);
        }
END_TEST

START_TEST(durations_add_up)
        {
                uint64_t n;

                ck_assert_int_eq(parse_duration("10", &n), 0);
                ck_assert_uint_eq(n, 10 * NSEC_PER_SEC);
                ck_assert_int_eq(parse_duration("1.5us", &n), 0);
                ck_assert_uint_eq(n, 1500);
                ck_assert_int_eq(parse_duration("1min 30s", &n), 0);
                ck_assert_uint_eq(n, 90 * NSEC_PER_SEC);
                ck_assert_int_eq(parse_duration("2h30m", &n), 0);
                ck_assert_uint_eq(n, 9000 * NSEC_PER_SEC);
                ck_assert_int_eq(parse_duration("5x", &n), -EINVAL);
                ck_assert_int_eq(parse_duration("", &n), -EINVAL);
                ck_assert_int_eq(parse_duration("1s 5", &n), -EINVAL);
                ck_assert_int_eq(parse_duration("9999999999999d", &n), -ERANGE);
        }
END_TEST

START_TEST(quantities_print_short)
        {
                char t[UNIT_TEXT_MAX];

                ck_assert_str_eq(format_bytes(t, 512), "512B");
                ck_assert_str_eq(format_bytes(t, 21 * 1024), "21K");
                ck_assert_str_eq(format_bytes(t, 1288490188), "1.2G");
                ck_assert_str_eq(format_duration(t, 8500), "8.5 us");
                ck_assert_str_eq(format_duration(t, 412 * NSEC_PER_MSEC), "412 ms");
                ck_assert_str_eq(format_duration(t, 72 * NSEC_PER_SEC), "1min 12s");
                ck_assert_str_eq(format_duration(t, 600 * NSEC_PER_SEC), "10min");
                ck_assert_str_eq(format_duration(t, 999499), "999 us");
                ck_assert_str_eq(format_duration(t, 999500), "1 ms");
                ck_assert_str_eq(format_duration(t, 999499999), "999 ms");
                ck_assert_str_eq(format_duration(t, 999500000), "1 s");
                ck_assert_str_eq(format_duration(t, 59499 * NSEC_PER_MSEC), "59 s");
                ck_assert_str_eq(format_duration(t, 59500 * NSEC_PER_MSEC), "1min");
                ck_assert_str_eq(format_bytes(t, (UINT64_C(1) << 30) - 8192), "1G");
                ck_assert_str_eq(format_bytes(t, 1023 * 1024), "1023K");
                ck_assert_str_eq(format_bytes(t, UINT64_MAX), "16E");
                ck_assert_str_eq(format_duration(t, 3600 * NSEC_PER_SEC), "1h");
                ck_assert_str_eq(format_duration(t, 2 * 86400 * NSEC_PER_SEC), "2d");
                ck_assert_str_eq(format_count(t, 29812004), "29,812,004");
                ck_assert_str_eq(format_count(t, 7), "7");
        }
END_TEST

START_TEST(seconds_leave_what_follows)
        {
                const char *const bad[] = {
                        "", ".5", "x", "-1", "9223372037", "99999999999999999999", "9223372036.9"
                };
                const char *s = "123.000456 789";
                uint64_t ns;

                ck_assert_int_eq(parse_seconds(&s, &ns), 0);
                ck_assert_uint_eq(ns, 123 * NSEC_PER_SEC + 456000);
                ck_assert_str_eq(s, " 789");
                s = "9223372036.8547758079";
                ck_assert_int_eq(parse_seconds(&s, &ns), 0);
                ck_assert_uint_eq(ns, INT64_MAX);
                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                        s = bad[i];
                        ck_assert_msg(parse_seconds(&s, &ns) == -EINVAL, "%s", bad[i]);
                        ck_assert_ptr_eq(s, bad[i]);
                }
        }
END_TEST

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

UNIT_SUITE("unit", bytes_take_binary_suffixes, bytes_refuse_nonsense, counts_take_decimal_suffixes,
           percents_are_millionths, durations_add_up, seconds_leave_what_follows,
           quantities_print_short, a_moment_has_the_digits_that_are_asked_for_and_is_never_later,
           a_change_has_its_sign_and_the_unit_of_its_size, a_date_is_in_local_time,
           a_range_says_its_unit_once_if_there_is_one, a_time_has_no_digits_below_a_nanosecond,
           a_time_has_three_digits_or_four, a_unit_is_never_printed_a_thousand_times)
