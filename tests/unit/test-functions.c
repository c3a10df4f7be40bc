/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "daemon/functions.h"
#include "scratch.h"

static const char listing[] = "vfs_write\nudp_sendmsg\nudp_sendmsg\nudpv6_sendmsg\ntcp_sendmsg\n"
                              "__ftrace_invalid_address___17\nudp_sendmsg.isra.0\n"
                              "nf_conntrack_in [nf_conntrack]\n";

/* A tracefs and a root in one directory. */
static Tracefs fake_tracefs(const Scratch *s) {
        ck_assert_int_eq(
                file_replace(s->fd, "available_filter_functions", listing, strlen(listing), 0600),
                0);
        ck_assert_int_eq(dir_make(s->fd, "proc", 0700), 0);
        return (Tracefs){ .fd = s->fd, .root_fd = s->fd };
}

static void set_modules(const Scratch *s, const char *text) {
        ck_assert_int_eq(file_replace(s->fd, "proc/modules", text, strlen(text), 0600), 0);
}

START_TEST(globs_mean_what_they_mean_to_the_kernel)
        {
                static const struct {
                        const char *pattern, *name;
                        bool matches;
                } cases[] = {
                        { "udp_*", "udp_sendmsg", true },
                        { "udp_*", "xudp_sendmsg", false },
                        { "*msg", "udp_sendmsg", true },
                        { "*msg", "udp_sendmsg.isra.0", false },
                        { "*send*", "udp_sendmsg", true },
                        { "u*s*g", "udp_sendmsg", true },
                        { "u*s*z", "udp_sendmsg", false },
                        { "a*ab", "aab", true },
                        { "a*ab", "aaab", true },
                        { "*", "", true },
                        { "**", "x", true },
                        { "?", "", false },
                        { "?dp_sendms?", "udp_sendmsg", true },
                        { "ud[a-z]_sendmsg", "udp_sendmsg", true },
                        { "ud[a-c]_sendmsg", "udp_sendmsg", false },
                        { "ud[!a-c]_sendmsg", "udp_sendmsg", true },
                        { "ud[^a-c]_sendmsg", "udp_sendmsg", false }, /* '^' is a character */
                        { "ud[^p]_sendmsg", "udp_sendmsg", true },
                        { "ud[]p]_sendmsg", "udp_sendmsg", true },
                        { "ud[p-]_sendmsg", "ud-_sendmsg", true },
                        { "a[b", "a[b", true }, /* never closed: stands for itself */
                        { "a[b", "ab", false },
                        { "a[b-", "a[b-", true },
                        { "*[ab", "xx[ab", true },
                        { "", "", true },
                        { "", "x", false },
                };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                        ck_assert_msg(function_glob_matches(cases[i].pattern, cases[i].name) ==
                                              cases[i].matches,
                                      "\"%s\" and \"%s\"", cases[i].pattern, cases[i].name);
        }
END_TEST

START_TEST(modules_are_dropped_from_names_and_invalid_places_from_the_list)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv found = {};
                Tracefs fs = fake_tracefs(&s);

                ck_assert_int_eq(functions_load(&f, &fs), 0);
                ck_assert_uint_eq(f.n, 6);
                ck_assert(functions_contain(&f, "nf_conntrack_in"));
                ck_assert(!functions_contain(&f, "__ftrace_invalid_address___17"));
                ck_assert_int_eq(functions_expand(&f, "*", &found), 6);
                ck_assert_int_eq(functions_expand(&f, "__ftrace*", &found), 0);
        }
END_TEST

START_TEST(an_exact_name_stands_for_itself_alone)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv found = {};
                Tracefs fs = fake_tracefs(&s);

                ck_assert_int_eq(functions_load(&f, &fs), 0);
                ck_assert_int_eq(functions_expand(&f, "udp_sendmsg", &found), 1);
                ck_assert_int_eq(functions_expand(&f, "udp_send", &found), 0);
                ck_assert_uint_eq(found.n, 1);
        }
END_TEST

START_TEST(the_list_is_read_again_when_modules_come_and_not_when_they_are_used)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                Tracefs fs = fake_tracefs(&s);

                set_modules(&s, "dummy 16384 0 - Live 0x0\n");
                ck_assert_int_eq(functions_load(&f, &fs), 0);
                ck_assert_int_eq(
                        file_replace(s.fd, "available_filter_functions", "kfree\n", 6, 0600), 0);
                set_modules(&s, "dummy 16384 1 veth, Live 0x0\n");
                ck_assert_int_eq(functions_load(&f, &fs), 0);
                ck_assert_uint_eq(f.n, 6);
                set_modules(&s, "veth 4096 0 - Live 0x0\ndummy 16384 1 veth, Live 0x0\n");
                ck_assert_int_eq(functions_load(&f, &fs), 0);
                ck_assert_uint_eq(f.n, 1);
        }
END_TEST

START_TEST(suggestions_are_near_and_few_and_the_nearest_is_first)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv like = {}, none = {}, swapped = {};
                Tracefs fs = fake_tracefs(&s);

                ck_assert_int_eq(functions_load(&f, &fs), 0);
                ck_assert_int_eq(functions_suggest(&f, "udp_sendmesg", &like), 0);
                ck_assert_uint_eq(like.n, 3);
                ck_assert_str_eq(like.items[0], "udp_sendmsg");
                ck_assert_str_eq(like.items[1], "udpv6_sendmsg");
                ck_assert_int_eq(functions_suggest(&f, "completely_different", &none), 0);
                ck_assert_uint_eq(none.n, 0);
                ck_assert_int_eq(functions_suggest(&f, "vsf_write", &swapped), 0);
                ck_assert_uint_eq(swapped.n, 1);
                ck_assert_str_eq(swapped.items[0], "vfs_write");
        }
END_TEST

START_TEST(the_memfd_cannot_be_changed_by_who_gets_it)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_free_ char *text = NULL;
                _cleanup_close_ int fd = -EBADF;
                Tracefs fs = fake_tracefs(&s);

                ck_assert_int_eq(functions_load(&f, &fs), 0);
                fd = functions_to_memfd(&f);
                ck_assert_int_ge(fd, 0);
                ck_assert_int_lt(write(fd, "x", 1), 0);
                ck_assert_int_lt(ftruncate(fd, 0), 0);
                ck_assert_int_eq(fd_read(fd, &text, NULL, 4096), 0);
                ck_assert_ptr_eq(strstr(text, "nf_conntrack_in [nf_conntrack]\ntcp_sendmsg\n"),
                                 text);
        }
END_TEST

UNIT_MAIN("functions", globs_mean_what_they_mean_to_the_kernel,
          modules_are_dropped_from_names_and_invalid_places_from_the_list,
          an_exact_name_stands_for_itself_alone,
          the_list_is_read_again_when_modules_come_and_not_when_they_are_used,
          suggestions_are_near_and_few_and_the_nearest_is_first,
          the_memfd_cannot_be_changed_by_who_gets_it)
