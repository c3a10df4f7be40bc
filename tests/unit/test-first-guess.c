/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What shipped profiles hook at their first start. */

#include "base/io.h"
#include "daemon/lean/first-guess.h"
#include "scratch.h"

/* Of the last two one is ordinary, and one nobody's. */
static const char kernel_list[] = "tcp_sendmsg\ntcp_recvmsg\nudp_sendmsg\nudpv6_sendmsg\nvfs_read\n"
                                  "ip_make_skb\nip6_make_skb\n__rcu_read_lock\nnobody_calls_this\n";

static void set_up(Scratch *s, Functions *f) {
        Tracefs fs = { .fd = s->fd, .root_fd = s->fd };

        ck_assert_int_eq(dir_make(s->fd, "proc", 0700), 0);
        ck_assert_int_eq(file_replace(s->fd, "proc/modules", "", 0, 0600), 0);
        ck_assert_int_eq(file_replace(s->fd, "available_filter_functions", kernel_list,
                                      sizeof(kernel_list) - 1, 0600),
                         0);
        ck_assert_int_eq(functions_load(f, &fs), 0);
}

/* Whether what is found for these roots is these names, all one word after the other. */
static void expect(const Functions *f, const char *roots, const char *names) {
        _cleanup_strv_ Strv words = {}, left_out = {}, found = {};
        _cleanup_free_ char *text = NULL;

        ck_assert_int_ge(strv_split(&words, roots, " "), 0);
        ck_assert_int_ge(strv_add(&left_out, "__rcu_read_lock"), 0);
        ck_assert_int_eq(first_guess_find(f, &words, &left_out, &found), 0);
        text = strv_join(&found, " ");
        ck_assert_str_eq(text, names);
}

START_TEST(a_root_of_a_shipped_profile_has_names_of_this_kernel)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Functions f = {};

                set_up(&s, &f);
                expect(&f, "udp_sendmsg", "ip_make_skb udp_sendmsg");
                functions_done(&f);
        }
END_TEST

START_TEST(several_roots_have_what_each_of_them_calls)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Functions f = {};

                set_up(&s, &f);
                expect(&f, "udp_sendmsg udpv6_sendmsg",
                       "ip6_make_skb ip_make_skb udp_sendmsg udpv6_sendmsg");
                functions_done(&f);
        }
END_TEST

START_TEST(roots_of_which_one_is_not_known_have_nothing)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                Functions f = {};

                set_up(&s, &f);
                expect(&f, "tcp_recvmsg", "");
                expect(&f, "tcp_recvmsg udp_sendmsg", "");
                expect(&f, "udp_send", "");
                expect(&f, "", "");
                functions_done(&f);
        }
END_TEST

START_TEST(every_shipped_root_is_known_and_nothing_ordinary)
        {
                static const char *const roots[] = { "tcp_sendmsg", "udp_sendmsg", "udpv6_sendmsg",
                                                     "vfs_read" };
                _cleanup_scratch_ Scratch s = SCRATCH;
                Functions f = {};

                set_up(&s, &f);
                for (size_t i = 0; i < ELEMENTSOF(roots); i++) {
                        _cleanup_strv_ Strv one = {}, found = {};

                        ck_assert_int_ge(strv_add(&one, roots[i]), 0);
                        ck_assert_int_eq(first_guess_find(&f, &one, &(Strv){}, &found), 0);
                        ck_assert(strv_finds(&found, roots[i]));
                        ck_assert(!strv_contains(&found, "__rcu_read_lock"));
                        ck_assert(!strv_contains(&found, "nobody_calls_this"));
                }
                functions_done(&f);
        }
END_TEST

UNIT_SUITE("first-guess", a_root_of_a_shipped_profile_has_names_of_this_kernel,
           several_roots_have_what_each_of_them_calls, roots_of_which_one_is_not_known_have_nothing,
           every_shipped_root_is_known_and_nothing_ordinary)
