/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/contact/contact.h"
#include "unit.h"

/* How ssh is told of @host, and the shell's line, for what the command line says. */
static char *command_of(int argc, char **argv, const char *host, bool is_line) {
        _cleanup_strv_ Strv command = {};
        _cleanup_options_ Options o = {};

        ck_assert_int_eq(options_parse(&o, argc, argv), STATUS_OK);
        ck_assert_int_eq(remote_command(&command, &o, host, false), 0);
        ck_assert_str_eq(command.items[command.n - 3], "--");
        return strdup(command.items[command.n - (is_line ? 1 : 2)]);
}

TEST(a_host_may_have_a_user_and_a_port) {
        static const struct {
                const char *text, *destination;
        } cases[] = {
                { "web-3", "web-3" },
                { "root@web-3.example.org:2222", "ssh://root@web-3.example.org:2222" },
                { "::1", "::1" },
                { "root@fe80::1%eth0", "root@fe80::1%eth0" },
                { "[::1]:22", "::1" }, /* and -p22 */
                { "root@[::1]", "root@::1" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char *argv[] = { (char[]){ "ftracectl" }, NULL };
                _cleanup_free_ char *destination = command_of(1, argv, cases[i].text, false);

                ck_assert(remote_host_is_valid(cases[i].text));
                ck_assert_str_eq(destination, cases[i].destination);
        }
}

/* ssh takes ssh://[::1]:22 for nothing. */
TEST(the_port_of_an_address_in_brackets_is_an_option) {
        _cleanup_strv_ Strv command = {};
        char verb[] = "list";

        ck_assert_int_eq(remote_command(&command, &(Options){ .verb = verb }, "[::1]:22", false),
                         0);
        ck_assert_str_eq(command.items[command.n - 4], "-p22");
}

TEST(what_ssh_could_take_for_an_option_is_no_host) {
        static const char *const texts[] = { "",
                                             "-oProxyCommand=x",
                                             "root@-x",
                                             "a b",
                                             "a;b",
                                             "root@",
                                             "a\nb",
                                             "a/b",
                                             "$(x)",
                                             "[::1",
                                             "root@[::1]x",
                                             "[::1]:",
                                             "a[::1]" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                ck_assert_msg(!remote_host_is_valid(texts[i]), "%s", texts[i]);
}

#define LINE(...)                                                                                  \
        ({                                                                                         \
                char *_argv[] = { (char[]){ "ftracectl" }, __VA_ARGS__, NULL };                    \
                command_of(ELEMENTSOF(_argv) - 1, _argv, "h:22", true);                            \
        })
#define W(s) ((char[]){ s })

TEST(the_line_has_the_options_but_not_the_host) {
        _cleanup_free_ char *start =
                LINE(W("-H"), W("h"), W("start"), W("-n"), W("it's"), W("udp*"), W("--depth=3"));
        _cleanup_free_ char *fetch = LINE(W("fetch"), W("--host=h"), W("-o"), W("x.dat"), W("one"));
        _cleanup_free_ char *run = LINE(W("run"), W("-q"), W("f"), W("--"), W("ls"), W("--all"));

        ck_assert_str_eq(start, "ftracectl 'start' '--name=it'\\''s' '--depth=3' -- 'udp*'");
        ck_assert_str_eq(fetch, "ftracectl 'fetch' '--output=-' -- 'one'");
        ck_assert_str_eq(run, "ftracectl 'run' '--quiet' 'f' -- 'ls' '--all'");
}

TEST(a_list_of_hosts_has_comments) {
        _cleanup_strv_ Strv hosts = {};

        ck_assert_int_eq(fleet_read(&hosts, "# all\na b\n\n c # d\r\ne,f\n"), 0);
        ck_assert_uint_eq(hosts.n, 5);
        ck_assert_str_eq(hosts.items[2], "c");
        ck_assert_str_eq(hosts.items[4], "f");
}
