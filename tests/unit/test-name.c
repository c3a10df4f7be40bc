/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/name.h"
#include "unit.h"

#define X10 "xxxxxxxxxx"
#define X60 X10 X10 X10 X10 X10 X10

TEST(names_are_what_cannot_lead_out_of_their_place) {
        static const struct {
                bool (*is_valid)(const char *s);
                const char *good[8], *bad[14];
        } cases[] = {
                { session_name_is_valid,
                  { "a", "slow-dns", "udp_sendmsg-4f1c", "0.x", "A1._-", X60 "xxx" },
                  { "", ".", "..", ".a", "-a", "a/b", "a..b", "a b", "a\n", "a:b", "\x7f", "é",
                    X60 "xxxx" } },
                { function_pattern_is_valid,
                  { "udp_sendmsg", "udp_*msg", "aa_sk_perm.isra.4", "[a-c]x", "__x64_sys_?ead" },
                  { "", "*", "***", "a:traceoff", "!a", "a b", "a\n", "../x", "a/b", "#", "a;b",
                    "?[]", X60 X60 X60 X60 X60 } },
                { comm_is_valid,
                  { "kworker/0:1-ev", "Web Content", "a.b:c*d'e", "123456789012345" },
                  { "", "1234567890123456", "a\"||pid>0", "a\\b", "a\nb", "a\x7f" } },
                { cgroup_path_is_valid,
                  { "/system.slice/ssh.service", "a//b/..c/d../.e", "/" },
                  { "", "..", "/a/../../etc", "a/..", "a\nb" } },
                { clock_name_is_valid,
                  { "x86-tsc", "mono_raw" },
                  { "", "mono\n", "[mono]", "abcdefghijklmnopqrstuvwxyzabcdefg" } },
                { cpu_range_is_valid,
                  { "0", "8191", "3-3" },
                  { "", "-", "1-", "-1", "3-1", "1-2-3", "a", "1 ", "+1", "8192", "0-8192", "0x",
                    "99999999999999999999" } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                for (size_t k = 0; cases[i].good[k]; k++)
                        ck_assert_msg(cases[i].is_valid(cases[i].good[k]), "%s", cases[i].good[k]);
                for (size_t k = 0; k < ELEMENTSOF(cases[i].bad) && cases[i].bad[k]; k++)
                        ck_assert_msg(!cases[i].is_valid(cases[i].bad[k]), "%zu: %s", i,
                                      cases[i].bad[k]);
        }
}

TEST(the_path_of_a_control_group_ends_somewhere) {
        char path[CGROUP_PATH_MAX + 2];

        memset(path, 'a', sizeof(path));
        path[CGROUP_PATH_MAX + 1] = 0;
        ck_assert(!cgroup_path_is_valid(path));
        path[CGROUP_PATH_MAX] = 0;
        ck_assert(cgroup_path_is_valid(path));
}

TEST(quoting_escapes_and_cuts) {
        char text[NAME_QUOTE_MAX], long_name[500];

        ck_assert_str_eq(name_quote(text, "a\nb\x1b"), "a\\x0ab\\x1b");
        memset(long_name, '\n', sizeof(long_name));
        long_name[499] = 0;
        ck_assert_uint_lt(strlen(name_quote(text, long_name)), NAME_QUOTE_MAX);
        ck_assert_str_eq(text + strlen(text) - 3, "...");
}

TEST(a_list_of_cpus_is_taken_range_by_range) {
        static const char *const bad[] = { ",", "x", "1,", "0 ", "3-1", "1,,2", "8192" };
        static const unsigned in[] = { 0, 3, 8 }, out[] = { 4, 7, 9, 8191 };
        const char *list = "0-3,8\n";
        unsigned first, last;

        ck_assert_int_eq(cpu_list_next(&list, &first, &last), 1);
        ck_assert_uint_eq(first, 0);
        ck_assert_uint_eq(last, 3);
        ck_assert_int_eq(cpu_list_next(&list, &first, &last), 1);
        ck_assert_uint_eq(first, 8);
        ck_assert_uint_eq(last, 8);
        ck_assert_int_eq(cpu_list_next(&list, &first, &last), 0);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                int r = 1;

                for (list = bad[i]; r > 0;)
                        r = cpu_list_next(&list, &first, &last);
                ck_assert_msg(r == -EINVAL, "%s", bad[i]);
        }
        for (size_t i = 0; i < ELEMENTSOF(in); i++)
                ck_assert(cpu_list_has("0-3,8\n", in[i]));
        for (size_t i = 0; i < ELEMENTSOF(out); i++)
                ck_assert(!cpu_list_has("0-3,8\n", out[i]));
        ck_assert(!cpu_list_has("", 0));
        ck_assert(!cpu_list_has("x,0", 0));
}

TEST(releases_are_compared_as_numbers) {
        static const struct {
                const char *release;
                unsigned major, minor;
                Release is;
        } cases[] = {
                { "6.1.0-56-amd64", 6, 11, RELEASE_BEFORE },
                { "6.9", 6, 19, RELEASE_BEFORE },
                { "5.19.0", 6, 1, RELEASE_BEFORE },
                { "6.11.0-rc1", 6, 11, RELEASE_SINCE },
                { "6.12.117+deb12-amd64", 6, 11, RELEASE_SINCE },
                { "7.2.13+deb14-amd64", 6, 19, RELEASE_SINCE },
                { NULL, 6, 1, RELEASE_UNKNOWN },
                { "", 6, 1, RELEASE_UNKNOWN },
                { "6", 6, 1, RELEASE_UNKNOWN },
                { "linux 6.1", 6, 1, RELEASE_UNKNOWN },
                { ".1", 6, 1, RELEASE_UNKNOWN },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_int_eq(release_compare(cases[i].release, cases[i].major, cases[i].minor),
                                 cases[i].is);
}

TEST(a_typing_error_counts_once) {
        ck_assert_uint_eq(typo_distance("Functions", "Functions", 3), 0);
        ck_assert_uint_eq(typo_distance("Fnuctions", "Functions", 3), 1);
        ck_assert_uint_eq(typo_distance("Function", "Functions", 3), 1);
        ck_assert_uint_eq(typo_distance("xyz", "Functions", 3), 4);
}

TEST(users_are_told_by_name_and_who_has_none_by_number) {
        ck_assert_str_eq(FORMAT_USER(0), "root");
        ck_assert_str_eq(FORMAT_USER(3999999999), "uid 3999999999");
}
