/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "daemon/server/server.h"
#include "tests/unit/unit.h"

static char dir[64], path[96];

static void setup(void) {
        (void) snprintf(dir, sizeof(dir), "/tmp/test-address-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(dir));
        (void) snprintf(path, sizeof(path), "%s/new/socket", dir);
}

static void teardown(void) {
        ck_assert_int_eq(tree_remove(AT_FDCWD, dir), 0);
}

START_TEST(the_socket_is_for_its_owner_alone)
        {
                struct stat st;
                int fd;

                setup();
                fd = address_bind(path);
                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(stat(path, &st), 0);
                ck_assert(S_ISSOCK(st.st_mode));
                ck_assert_uint_eq(st.st_mode & 0777, 0600);
                (void) close(fd);
                teardown();
        }
END_TEST

START_TEST(a_socket_that_nobody_listens_on_is_replaced)
        {
                int fd;

                setup();
                fd = address_bind(path);
                ck_assert_int_ge(fd, 0);
                (void) close(fd);
                fd = address_bind(path);
                ck_assert_int_ge(fd, 0);
                (void) close(fd);
                teardown();
        }
END_TEST

START_TEST(a_socket_that_somebody_listens_on_is_left_alone)
        {
                int fd;

                setup();
                fd = address_bind(path);
                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(address_bind(path), -EADDRINUSE);
                ck_assert_int_eq(access(path, F_OK), 0);
                (void) close(fd);
                teardown();
        }
END_TEST

START_TEST(a_file_that_is_no_socket_is_left_alone)
        {
                setup();
                ck_assert_int_eq(dir_make(AT_FDCWD, dir, 0700), 0);
                (void) snprintf(path, sizeof(path), "%s/file", dir);
                (void) close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
                ck_assert_int_eq(address_bind(path), -EEXIST);
                ck_assert_int_eq(access(path, F_OK), 0);
                teardown();
        }
END_TEST

START_TEST(a_path_that_no_address_can_hold_is_refused)
        {
                char text[256];

                memset(text, 'x', sizeof(text) - 1);
                text[0] = '/';
                text[sizeof(text) - 1] = 0;
                ck_assert_int_eq(address_bind(text), -ENAMETOOLONG);
        }
END_TEST

UNIT_SUITE("listener", the_socket_is_for_its_owner_alone,
           a_socket_that_nobody_listens_on_is_replaced,
           a_socket_that_somebody_listens_on_is_left_alone, a_file_that_is_no_socket_is_left_alone,
           a_path_that_no_address_can_hold_is_refused)
