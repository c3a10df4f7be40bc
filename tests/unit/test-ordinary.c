/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What ordinary work calls is left out, but for what is traced. */

#include "base/io.h"
#include "daemon/lean/ordinary.h"
#include "scratch.h"

/* As daemon/lean/ordinary-functions has them: of TCP and UDP, of all sorts of work, of TCP, of new connections, of UDP,
 * and of nothing. */
static const char kernel_list[] =
        "ip_output\nkfree\ntcp_sendmsg\ntcp_v4_connect\nudp_sendmsg\nvirtnet_poll\n";

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
                        { "", "ip_output kfree tcp_sendmsg tcp_v4_connect udp_sendmsg, " },
                        { "kfree", "ip_output kfree tcp_sendmsg tcp_v4_connect udp_sendmsg, " },
                        /* What TCP calls, too, would cost it. */
                        { "udp_sendmsg", "ip_output kfree tcp_sendmsg tcp_v4_connect, " },
                        { "tcp_sendmsg", "ip_output kfree tcp_v4_connect udp_sendmsg, " },
                        { "udp_sendmsg kfree", "ip_output kfree tcp_sendmsg tcp_v4_connect, " },
                        { "tcp_v4_connect", "ip_output kfree tcp_sendmsg udp_sendmsg, " },
                        { "tcp_sendmsg udp_sendmsg", "kfree tcp_v4_connect, " },
                        { "ip_output", "kfree tcp_sendmsg tcp_v4_connect udp_sendmsg, " },
                        /* A root that is in no list. */
                        { "virtnet_poll",
                          "ip_output kfree tcp_sendmsg tcp_v4_connect udp_sendmsg, " },
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
                        /* A session saw others call it. */
                        { "tcp_sendmsg udp_sendmsg", "ip_output",
                          "kfree tcp_v4_connect, ip_output" },
                        { "kfree", "ip_output",
                          "ip_output kfree tcp_sendmsg tcp_v4_connect udp_sendmsg, " },
                        /* In no list: unless it is called by a root that is called often, too. */
                        { "udp_sendmsg", "kfree virtnet_poll",
                          "ip_output kfree tcp_sendmsg tcp_v4_connect, virtnet_poll" },
                        { "virtnet_poll", "kfree_skb virtnet_poll",
                          "ip_output kfree tcp_sendmsg tcp_v4_connect udp_sendmsg, " },
                };

                set_up(&s, &f);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                        check_found(&f, cases[i].roots, cases[i].host, cases[i].found);
        }
END_TEST

UNIT_SUITE("ordinary", the_kind_of_work_that_is_traced_stays,
           what_a_busy_host_calls_is_left_out_unless_it_is_traced)
