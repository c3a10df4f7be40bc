/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>

#include "daemon/daemon.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

static void put(const Scratch *s, const char *text) {
        scratch_write(s->fd, "x.conf", text, strlen(text));
}

TEST(a_reload_is_all_or_nothing) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_strv_ Strv problems = {};
        Settings settings = {};
        char path[PATH_MAX + 8];

        (void) snprintf(path, sizeof(path), "%s/x.conf", s.path);
        put(&s, "[Store]\nMaxUse=100M\nNonsense=1\n[Members]\nFunctions=udp_*\n");
        ck_assert_int_eq(settings_load(&settings, NULL, path, s.fd, false, &problems), 0);
        ck_assert_uint_eq(problems.n, 1);
        ck_assert_uint_eq(settings.limits.max_use_bytes, 100 << 20);

        strv_done(&problems);
        put(&s, "[Store]\nMaxUse=200M\nKeepFree=much\n[Members]\nFunctions=tcp_*\n");
        ck_assert_int_eq(settings_load(&settings, NULL, path, s.fd, true, &problems),
                         SETTINGS_E_PROBLEMS);
        ck_assert_uint_eq(problems.n, 1);
        ck_assert_uint_eq(settings.limits.max_use_bytes, 100 << 20);
        ck_assert_str_eq(settings.limits.member_functions->items[0], "udp_*");

        strv_done(&problems);
        ck_assert_int_eq(unlinkat(s.fd, "x.conf", 0), 0);
        ck_assert_int_eq(settings_load(&settings, NULL, path, s.fd, true, &problems), -ENOENT);
        ck_assert_uint_eq(settings.limits.max_use_bytes, 100 << 20);

        put(&s, "[Store]\nMaxUse=300M\n");
        for (int i = 0; i < 2; i++) {
                ck_assert_int_eq(settings_load(&settings, NULL, path, s.fd, true, &problems), 0);
                ck_assert_uint_eq(settings.limits.max_use_bytes, 300 << 20);
                ck_assert_ptr_null(settings.limits.member_functions);
        }
        config_done(&settings.config);
}
