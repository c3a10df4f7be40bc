/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "unit.h"

START_TEST(session_names_are_file_names)
        {
                static const char *const good[] = { "a", "slow-dns", "udp_sendmsg-4f1c", "0.x",
                                                    "A1._-" };
                static const char *const bad[] = { "",     ".",   "..",  ".a",  "-a",   "a/b",
                                                   "a..b", "a b", "a\n", "a:b", "\x7f", "é" };

                for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
                        ck_assert_msg(session_name_is_valid(good[i]), "%s", good[i]);
                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                        ck_assert_msg(!session_name_is_valid(bad[i]), "%s", bad[i]);
        }
END_TEST

START_TEST(session_names_end_at_63_bytes)
        {
                char s[128];

                memset(s, 'a', sizeof(s));
                s[63] = 0;
                ck_assert(session_name_is_valid(s));
                s[63] = 'a';
                s[64] = 0;
                ck_assert(!session_name_is_valid(s));
        }
END_TEST

START_TEST(patterns_cannot_carry_ftrace_commands)
        {
                static const char *const good[] = { "udp_sendmsg", "udp_*msg", "aa_sk_perm.isra.4",
                                                    "[a-c]x", "__x64_sys_?ead" };
                static const char *const bad[] = {
                        "",    "*",    "***", "a:traceoff", "!a",  "a b",
                        "a\n", "../x", "a/b", "#",          "a;b", "?[]"
                };

                for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
                        ck_assert_msg(function_pattern_is_valid(good[i]), "%s", good[i]);
                for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                        ck_assert_msg(!function_pattern_is_valid(bad[i]), "%s", bad[i]);
        }
END_TEST

START_TEST(ten_thousand_bytes_are_no_name)
        {
                char *s = malloc(10001);

                memset(s, 'a', 10000);
                s[10000] = 0;
                ck_assert(!function_pattern_is_valid(s));
                ck_assert(!session_name_is_valid(s));
                free(s);
        }
END_TEST

START_TEST(quoting_escapes_and_cuts)
        {
                char text[NAME_QUOTE_MAX], long_name[500];

                ck_assert_str_eq(name_quote(text, "a\nb\x1b"), "a\\x0ab\\x1b");
                memset(long_name, '\n', sizeof(long_name));
                long_name[499] = 0;
                ck_assert_uint_lt(strlen(name_quote(text, long_name)), NAME_QUOTE_MAX);
                ck_assert_str_eq(text + strlen(text) - 3, "...");
        }
END_TEST

START_TEST(a_task_has_at_most_15_characters_and_no_quotes)
        {
                ck_assert(comm_is_valid("kworker/0:1-ev"));
                ck_assert(comm_is_valid("Web Content"));
                ck_assert(comm_is_valid("a.b:c*d'e"));
                ck_assert(comm_is_valid("123456789012345"));
                ck_assert(!comm_is_valid("1234567890123456"));
                ck_assert(!comm_is_valid(""));
                ck_assert(!comm_is_valid("a\"||pid>0"));
                ck_assert(!comm_is_valid("a\\b"));
                ck_assert(!comm_is_valid("a\nb"));
                ck_assert(!comm_is_valid("a\x7f"));
        }
END_TEST

START_TEST(the_path_of_a_control_group_does_not_lead_out)
        {
                char path[CGROUP_PATH_MAX + 2];

                ck_assert(cgroup_path_is_valid("/system.slice/ssh.service"));
                ck_assert(cgroup_path_is_valid("a//b/..c/d../.e"));
                ck_assert(cgroup_path_is_valid("/"));
                ck_assert(!cgroup_path_is_valid(""));
                ck_assert(!cgroup_path_is_valid(".."));
                ck_assert(!cgroup_path_is_valid("/a/../../etc"));
                ck_assert(!cgroup_path_is_valid("a/.."));
                ck_assert(!cgroup_path_is_valid("a\nb"));
                memset(path, 'a', sizeof(path));
                path[CGROUP_PATH_MAX + 1] = 0;
                ck_assert(!cgroup_path_is_valid(path));
                path[CGROUP_PATH_MAX] = 0;
                ck_assert(cgroup_path_is_valid(path));
        }
END_TEST

START_TEST(a_clock_is_a_plain_word)
        {
                ck_assert(clock_name_is_valid("x86-tsc"));
                ck_assert(clock_name_is_valid("mono_raw"));
                ck_assert(!clock_name_is_valid(""));
                ck_assert(!clock_name_is_valid("mono\n"));
                ck_assert(!clock_name_is_valid("[mono]"));
                ck_assert(!clock_name_is_valid("abcdefghijklmnopqrstuvwxyzabcdefg"));
        }
END_TEST

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

START_TEST(numbers_are_compared_as_numbers)
        {
                ck_assert_int_eq(release_compare("6.1.0-56-amd64", 6, 11), RELEASE_BEFORE);
                ck_assert_int_eq(release_compare("6.9", 6, 19), RELEASE_BEFORE);
                ck_assert_int_eq(release_compare("5.19.0", 6, 1), RELEASE_BEFORE);
                ck_assert_int_eq(release_compare("6.11.0-rc1", 6, 11), RELEASE_SINCE);
                ck_assert_int_eq(release_compare("6.12.117+deb12-amd64", 6, 11), RELEASE_SINCE);
                ck_assert_int_eq(release_compare("7.2.13+deb14-amd64", 6, 19), RELEASE_SINCE);
        }
END_TEST

START_TEST(what_is_no_release_is_neither_before_nor_since)
        {
                static const char *const none[] = { NULL, "", "6", "linux 6.1", ".1" };

                for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
                        ck_assert_int_eq(release_compare(none[i], 6, 1), RELEASE_UNKNOWN);
        }
END_TEST

UNIT_SUITE("name", session_names_are_file_names, session_names_end_at_63_bytes,
           patterns_cannot_carry_ftrace_commands, ten_thousand_bytes_are_no_name,
           quoting_escapes_and_cuts, a_task_has_at_most_15_characters_and_no_quotes,
           the_path_of_a_control_group_does_not_lead_out, a_clock_is_a_plain_word,
           cpus_are_numbers_and_ascending_ranges, a_list_is_taken_range_by_range,
           what_is_no_range_ends_a_list, a_list_has_what_its_ranges_have,
           numbers_are_compared_as_numbers, what_is_no_release_is_neither_before_nor_since)
