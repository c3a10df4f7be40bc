/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>

#include "base/cleanup.h"
#include "base/cpu-list.h"
#include "unit.h"

START_TEST(cpus_are_numbers_and_ascending_ranges)
        {
                static const char *const bad[] = { "",
                                                   "-",
                                                   "1-",
                                                   "-1",
                                                   "3-1",
                                                   "1-2-3",
                                                   "a",
                                                   "1 ",
                                                   "+1",
                                                   "8192",
                                                   "0-8192",
                                                   "0x",
                                                   "99999999999999999999" };
                unsigned first, last;

                for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                        ck_assert_msg(!cpu_range_is_valid(bad[i]), "%s", bad[i]);
                ck_assert(cpu_range_is_valid("0"));
                ck_assert(cpu_range_is_valid("8191"));
                ck_assert(cpu_range_is_valid("3-3"));
                cpu_range_parse("2-17", &first, &last);
                ck_assert_uint_eq(first, 2);
                ck_assert_uint_eq(last, 17);
        }
END_TEST

START_TEST(a_list_is_taken_range_by_range)
        {
                const char *list = "0-3,8\n";
                unsigned first, last;

                ck_assert_int_eq(cpu_list_next(&list, &first, &last), 1);
                ck_assert_uint_eq(first, 0);
                ck_assert_uint_eq(last, 3);
                ck_assert_int_eq(cpu_list_next(&list, &first, &last), 1);
                ck_assert_uint_eq(first, 8);
                ck_assert_uint_eq(last, 8);
                ck_assert_int_eq(cpu_list_next(&list, &first, &last), 0);
        }
END_TEST

START_TEST(what_is_no_range_ends_a_list)
        {
                static const char *const bad[] = { ",", "x", "1,", "0 ", "3-1", "1,,2", "8192" };
                unsigned first, last;

                for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                        const char *list = bad[i];
                        int r;

                        while ((r = cpu_list_next(&list, &first, &last)) > 0)
                                ;
                        ck_assert_msg(r == -EINVAL, "%s", bad[i]);
                }
        }
END_TEST

START_TEST(a_list_has_what_its_ranges_have)
        {
                static const unsigned in[] = { 0, 3, 8 }, out[] = { 4, 7, 9, 8191 };

                for (size_t i = 0; i < ELEMENTSOF(in); i++)
                        ck_assert(cpu_list_has("0-3,8\n", in[i]));
                for (size_t i = 0; i < ELEMENTSOF(out); i++)
                        ck_assert(!cpu_list_has("0-3,8\n", out[i]));
                ck_assert(!cpu_list_has("", 0));
                ck_assert(!cpu_list_has("x,0", 0));
        }
END_TEST

UNIT_SUITE("cpu-list", cpus_are_numbers_and_ascending_ranges, a_list_is_taken_range_by_range,
           what_is_no_range_ends_a_list, a_list_has_what_its_ranges_have)
