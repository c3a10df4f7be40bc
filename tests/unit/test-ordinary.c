/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What ordinary work calls is left out, but for what is traced. */

#include "base/io.h"
#include "daemon/lean/ordinary.h"
#include "scratch.h"

/* As daemon/lean/ordinary-functions has them: of all sorts of work, of UDP, of TCP, of both, and of nothing. */
static const char kernel_list[] = "ip_output\nkfree\ntcp_sendmsg\nudp_sendmsg\nvirtnet_poll\n";

static void set_up(const Scratch *s, Functions *f) {
        ck_assert_int_eq(dir_make(s->fd, "proc", 0700), 0);
        ck_assert_int_eq(file_replace(s->fd, "proc/modules", "", 0, 0600), 0);
        ck_assert_int_eq(file_replace(s->fd, "available_filter_functions", kernel_list,
                                      sizeof(kernel_list) - 1, 0600),
                         0);
        ck_assert_int_eq(functions_load(f, &(Tracefs){ .fd = s->fd, .root_fd = s->fd }), 0);
}

/* "ANYWHERE, HERE" */
static void check_found(const Functions *f, const char *roots, const char *host,
                        const char *wanted) {
        _cleanup_strv_ Strv words = {}, busy = {}, anywhere = {}, here = {};
        _cleanup_free_ char *text = NULL, *text_here = NULL, *found = NULL;

        ck_assert_int_eq(strv_split(&words, roots, " "), 0);
        ck_assert_int_eq(strv_split(&busy, host, " "), 0);
        ck_assert_int_eq(ordinary_find(f, &words, &busy, &anywhere, &here), 0);
        text = strv_join(&anywhere, " ");
        text_here = strv_join(&here, " ");
        ck_assert_int_ge(asprintf(&found, "%s, %s", text, text_here), 0);
        ck_assert_msg(streq(found, wanted), "%s; %s: %s", roots, host, found);
}

START_TEST(the_kind_of_work_that_is_traced_stays)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                static const struct {
                        const char *roots, *found;
                } cases[] = {
                        { "", "ip_output kfree tcp_sendmsg udp_sendmsg, " },
                        { "kfree", "ip_output kfree tcp_sendmsg udp_sendmsg, " },
                        { "udp_sendmsg", "kfree tcp_sendmsg, " },
                        { "tcp_sendmsg", "kfree udp_sendmsg, " },
                        { "ip_output", "kfree, " },
                        { "udp_sendmsg kfree", "kfree tcp_sendmsg, " },
                        { "tcp_sendmsg udp_sendmsg", "kfree, " },
                        { "virtnet_poll", "kfree, " },
                };

                set_up(&s, &f);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                        check_found(&f, cases[i].roots, "", cases[i].found);
        }
END_TEST

START_TEST(what_a_busy_host_calls_is_left_out_unless_it_is_traced)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                static const struct {
                        const char *roots, *host, *found;
                } cases[] = {
                        /* Busy with the other kind: what both call goes, too. */
                        { "udp_sendmsg", "tcp", "kfree tcp_sendmsg, ip_output" },
                        { "tcp_sendmsg", "udp", "kfree udp_sendmsg, ip_output" },
                        /* Busy with what is traced. */
                        { "udp_sendmsg", "udp", "kfree tcp_sendmsg, " },
                        { "udp_sendmsg", "tcp udp", "kfree tcp_sendmsg, ip_output" },
                        { "tcp_sendmsg udp_sendmsg", "tcp", "kfree, " },
                        /* Roots that nobody knows. */
                        { "virtnet_poll", "tcp", "kfree, ip_output tcp_sendmsg" },
                        { "virtnet_poll", "tcp udp", "kfree, ip_output tcp_sendmsg udp_sendmsg" },
                        /* A session saw others call it. */
                        { "udp_sendmsg", "ip_output", "kfree tcp_sendmsg, ip_output" },
                        { "kfree", "ip_output", "ip_output kfree tcp_sendmsg udp_sendmsg, " },
                        /* In no list: unless it is called by a root that is called often, too. */
                        { "udp_sendmsg", "kfree virtnet_poll", "kfree tcp_sendmsg, virtnet_poll" },
                        { "virtnet_poll", "kfree_skb virtnet_poll", "kfree, " },
                };

                set_up(&s, &f);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                        check_found(&f, cases[i].roots, cases[i].host, cases[i].found);
        }
END_TEST

START_TEST(a_count_of_all_work_tells_kinds_by_what_only_one_calls)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv hot = {}, common = {};

                set_up(&s, &f);
                ck_assert_int_eq(ordinary_find_common(&f, &common), 0);
                ck_assert_uint_eq(common.n, 1);
                ck_assert_str_eq(common.items[0], "kfree");
                ck_assert_int_eq(strv_split(&hot, "ip_output udp_sendmsg virtnet_poll", " "), 0);
                for (int anew = 1; anew >= 0; anew--) {
                        _cleanup_strv_ Strv found = {};
                        _cleanup_free_ char *text = NULL;

                        ck_assert_int_eq(ordinary_learn_host(&f, s.fd, s.fd, "6.12", &hot, anew),
                                         0);
                        ck_assert_int_eq(ordinary_find_host(&f, s.fd, s.fd, &found, NULL), 0);
                        text = strv_join(&found, " ");
                        ck_assert_str_eq(text, anew ? "udp virtnet_poll"
                                                    : "ip_output udp udp_sendmsg virtnet_poll");
                }
        }
END_TEST

UNIT_MAIN("ordinary", the_kind_of_work_that_is_traced_stays,
          what_a_busy_host_calls_is_left_out_unless_it_is_traced,
          a_count_of_all_work_tells_kinds_by_what_only_one_calls)
