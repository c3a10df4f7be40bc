/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/server/server.h"
#include "scratch.h"

SCRATCH_TEST(the_socket_is_for_its_owner_alone_and_replaced_when_nobody_listens) {
        char path[PATH_MAX + 16];
        struct stat st;

        (void) snprintf(path, sizeof(path), "%.80s/new/socket", s->path);
        for (int i = 0; i < 2; i++) {
                _cleanup_close_ int fd = address_bind(path);

                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(stat(path, &st), 0);
                ck_assert(S_ISSOCK(st.st_mode));
                ck_assert_uint_eq(st.st_mode & 0777, 0600);
                ck_assert_int_eq(address_bind(path), -EADDRINUSE); /* this one's */
                ck_assert_int_eq(access(path, F_OK), 0);
        }
}

SCRATCH_TEST(what_is_no_socket_is_left_alone) {
        char path[PATH_MAX + 16], text[256];

        (void) snprintf(path, sizeof(path), "%.80s/file", s->path);
        scratch_write(s->fd, "file", "x", 1);
        ck_assert_int_eq(address_bind(path), -EEXIST);
        ck_assert_int_eq(access(path, F_OK), 0);
        memset(text, 'x', sizeof(text) - 1);
        text[0] = '/';
        text[sizeof(text) - 1] = 0;
        ck_assert_int_eq(address_bind(text), -ENAMETOOLONG);
}
