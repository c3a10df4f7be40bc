/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <time.h>

#include "base/cleanup.h"
#include "base/unit.h"
#include "unit.h"

TEST(quantities_are_read_with_their_units_and_nonsense_is_refused) {
        static const struct {
                int (*parse)(const char *s, uint64_t *ret);
                const char *text;
                int r;
                uint64_t n;
        } cases[] = {
                { parse_bytes, "4096", 0, 4096 },
                { parse_bytes, "8M", 0, 8 << 20 },
                { parse_bytes, "1.5GiB", 0, 3ULL << 29 },
                { parse_bytes, "64kB", 0, 65536 },
                { parse_bytes, "12B", 0, 12 },
                { parse_bytes, "", -EINVAL, 0 },
                { parse_bytes, "M", -EINVAL, 0 },
                { parse_bytes, "-1", -EINVAL, 0 },
                { parse_bytes, "1.5", -EINVAL, 0 },
                { parse_bytes, "1X", -EINVAL, 0 },
                { parse_bytes, "1MM", -EINVAL, 0 },
                { parse_bytes, "1iB", -EINVAL, 0 },
                { parse_bytes, "1Mi", -EINVAL, 0 },
                { parse_bytes, "0x10", -EINVAL, 0 },
                { parse_bytes, " 1", -EINVAL, 0 },
                { parse_bytes, "99999999T", -ERANGE, 0 },
                { parse_bytes, "99999999999999999999", -ERANGE, 0 },
                { parse_count, "4096", 0, 4096 },
                { parse_count, "1.5M", 0, 1500000 },
                { parse_count, "3k", 0, 3000 },
                { parse_count, "", -EINVAL, 0 },
                { parse_count, "K", -EINVAL, 0 },
                { parse_count, "1.5", -EINVAL, 0 },
                { parse_count, "5 M", -EINVAL, 0 },
                { parse_count, "1T", -EINVAL, 0 },
                { parse_count, "1KK", -EINVAL, 0 },
                { parse_count, "99999999999G", -ERANGE, 0 },
                { parse_percent, "0.5%", 0, 5000 },
                { parse_percent, "250", 0, 2500000 },
                { parse_percent, "%", -EINVAL, 0 },
                { parse_percent, "5%%", -EINVAL, 0 },
                { parse_percent, ".5", -EINVAL, 0 },
                { parse_duration, "10", 0, 10 * NSEC_PER_SEC },
                { parse_duration, "1.5us", 0, 1500 },
                { parse_duration, "1min 30s", 0, 90 * NSEC_PER_SEC },
                { parse_duration, "2h30m", 0, 9000 * NSEC_PER_SEC },
                { parse_duration, "5x", -EINVAL, 0 },
                { parse_duration, "", -EINVAL, 0 },
                { parse_duration, "1s 5", -EINVAL, 0 },
                { parse_duration, "9999999999999d", -ERANGE, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                uint64_t n = 0;

                ck_assert_msg(cases[i].parse(cases[i].text, &n) == cases[i].r && n == cases[i].n,
                              "%s", cases[i].text);
        }
}

TEST(quantities_print_short) {
        static const struct {
                char *(*format)(char text[static UNIT_TEXT_MAX], uint64_t n);
                uint64_t n;
                const char *text;
        } cases[] = {
                { format_bytes, 512, "512B" },
                { format_bytes, 21 * 1024, "21K" },
                { format_bytes, 1288490188, "1.2G" },
                { format_bytes, (UINT64_C(1) << 30) - 8192, "1G" },
                { format_bytes, 1023 * 1024, "1023K" },
                { format_bytes, UINT64_MAX, "16E" },
                { format_duration, 8500, "8.5 us" },
                { format_duration, 999499, "999 us" },
                { format_duration, 999500, "1 ms" },
                { format_duration, 412 * NSEC_PER_MSEC, "412 ms" },
                { format_duration, 999499999, "999 ms" },
                { format_duration, 999500000, "1 s" },
                { format_duration, 59499 * NSEC_PER_MSEC, "59 s" },
                { format_duration, 59500 * NSEC_PER_MSEC, "1min" },
                { format_duration, 72 * NSEC_PER_SEC, "1min 12s" },
                { format_duration, 600 * NSEC_PER_SEC, "10min" },
                { format_duration, 3600 * NSEC_PER_SEC, "1h" },
                { format_duration, 2 * 86400 * NSEC_PER_SEC, "2d" },
                { format_count, 29812004, "29,812,004" },
                { format_count, 7, "7" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char text[UNIT_TEXT_MAX];

                ck_assert_str_eq(cases[i].format(text, cases[i].n), cases[i].text);
        }
}

TEST(seconds_leave_what_follows) {
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
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                s = bad[i];
                ck_assert_msg(parse_seconds(&s, &ns) == -EINVAL, "%s", bad[i]);
                ck_assert_ptr_eq(s, bad[i]);
        }
}

/* Three digits or four, none below a nanosecond, and no unit a thousand times. */
TEST(a_time_is_in_the_unit_of_its_size) {
        static const struct {
                uint64_t ns;
                const char *text;
        } cases[] = {
                { 0, "0.000 us" },
                { 7, "0.007 us" },
                { 82, "0.082 us" },
                { 999, "0.999 us" },
                { 1000, "1.00 us" },
                { 4027, "4.03 us" },
                { 9994, "9.99 us" },
                { 9996, "10.0 us" },
                { 191140, "191.1 us" },
                { 999940, "999.9 us" },
                { 999960, "1.00 ms" },
                { 7442878, "7.44 ms" },
                { 999949999, "999.9 ms" },
                { 999999999, "1.00 s" },
                { 1238418670, "1.24 s" },
                { UINT64_C(7200000000000), "7200.0 s" },
                { UINT64_MAX, "18446744073.7 s" },
        };
        char text[FIGURE_MAX];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_str_eq(figure_round(text, cases[i].ns), cases[i].text);
        ck_assert_str_eq(figure_mean(text, 1499.5), "1.50 us");
        ck_assert_str_eq(figure_change(text, 7442878), "+7.44 ms");
        ck_assert_str_eq(figure_change(text, -7442878), "-7.44 ms");
        ck_assert_str_eq(figure_change(text, -0.7), "-0.001 us");
        ck_assert_str_eq(figure_change(text, 0), "+0.000 us");
        ck_assert_str_eq(figure_range(text, 1400, 1450), "1.40 to 1.45 us");
        ck_assert_str_eq(figure_range(text, 1400, 1401), "1.40 us");
        ck_assert_str_eq(figure_range(text, 980, 1020000), "0.980 us to 1.02 ms");
}

TEST(a_date_is_in_local_time) {
        char text[FIGURE_MAX];

        ck_assert_int_eq(setenv("TZ", "XYZ-2", true), 0);
        tzset();
        ck_assert_str_eq(figure_date(text, UINT64_C(1000000000999999999)), "2001-09-09 03:46:40");
        ck_assert_str_eq(figure_date(text, UINT64_MAX), "2554-07-22 01:34:33");
}

TEST(a_moment_has_the_digits_that_are_asked_for_and_is_never_later) {
        ck_assert_str_eq(FIGURE_MOMENT(1234567890123, 9), "1234.567890123");
        ck_assert_str_eq(FIGURE_MOMENT(1234999999999, 3), "1234.999");
        ck_assert_str_eq(FIGURE_MOMENT(1234000000001, 9), "1234.000000001");
        ck_assert_str_eq(FIGURE_MOMENT(1999999999, 0), "1");
        ck_assert_str_eq(FIGURE_MOMENT(UINT64_MAX, 9), "18446744073.709551615");
}
