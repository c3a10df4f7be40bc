/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>

#include "cli/record/record.h"
#include "unit.h"

static int check(const char *function) {
        _cleanup_strv_ Strv functions = {};
        Options o = {};
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

        ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
        close(fd);
        ck_assert_int_eq(strv_add(&functions, function), 0);
        return recording_check(&o, &functions);
}

TEST(names_and_patterns_pass_and_what_is_no_function_is_wrong_usage) {
        static const char *const good[] = { "udp_sendmsg", "udp_*msg", "_raw_spin_lock",
                                            "foo.isra.0",  "[a-c]*",   "x",
                                            "/^udp_/",     "mod:nf-x", "syscall:write" };
        static const char *const bad[] = {
                "",     "*",  "a/b", "a b", "a\nb", "!a", "a:mod:", "\033[0m", "#",
                "\xff", "?*", "[]",  "/",   "//",   "/a", "/(/",    "mod:",    "syscall:*"
        };

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                ck_assert_msg(check(good[i]) == STATUS_OK, "%s", good[i]);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(check(bad[i]) == STATUS_USAGE, "%s", bad[i]);
}

TEST(names_are_checked_too) {
        _cleanup_options_ Options o = { .verb = strdup("start") };
        Strv none = {};

        ck_assert_int_eq(recording_check(&o, &none), STATUS_USAGE);
        o.profile = "udp-send";
        o.name = "../x";
        ck_assert_int_eq(recording_check(&o, &none), STATUS_USAGE);
        o.name = "fine";
        ck_assert_int_eq(recording_check(&o, &none), STATUS_OK);
}
