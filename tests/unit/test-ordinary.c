/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What ordinary work calls is left out, but for what is traced. */

#include "base/io.h"
#include "daemon/lean/ordinary.h"
#include "scratch.h"

/* As daemon/lean/ordinary-functions has them: of all sorts of work, of UDP, of TCP, of both, and of nothing. */
static const char kernel_list[] = "ip_output\nkfree\ntcp_sendmsg\nudp_sendmsg\nvirtnet_poll\n";

START_TEST(the_kind_of_work_that_is_traced_stays)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                static const struct {
                        const char *roots, *found;
                } cases[] = {
                        { "", "ip_output kfree tcp_sendmsg udp_sendmsg" },
                        { "kfree", "ip_output kfree tcp_sendmsg udp_sendmsg" },
                        { "udp_sendmsg", "kfree tcp_sendmsg" },
                        { "tcp_sendmsg", "kfree udp_sendmsg" },
                        { "ip_output", "kfree" },
                        { "udp_sendmsg kfree", "kfree tcp_sendmsg" },
                        { "tcp_sendmsg udp_sendmsg", "kfree" },
                        { "virtnet_poll", "kfree" },
                };

                ck_assert_int_eq(dir_make(s.fd, "proc", 0700), 0);
                ck_assert_int_eq(file_replace(s.fd, "proc/modules", "", 0, 0600), 0);
                ck_assert_int_eq(file_replace(s.fd, "available_filter_functions", kernel_list,
                                              sizeof(kernel_list) - 1, 0600),
                                 0);
                ck_assert_int_eq(functions_load(&f, &(Tracefs){ .fd = s.fd, .root_fd = s.fd }), 0);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_strv_ Strv roots = {}, found = {};
                        _cleanup_free_ char *text = NULL;

                        ck_assert_int_eq(strv_split(&roots, cases[i].roots, " "), 0);
                        ck_assert_int_eq(ordinary_find(&f, &roots, &found), 0);
                        text = strv_join(&found, " ");
                        ck_assert_msg(streq(text, cases[i].found), "%s: %s", cases[i].roots, text);
                }
        }
END_TEST

UNIT_MAIN("ordinary", the_kind_of_work_that_is_traced_stays)
