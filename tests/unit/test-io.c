/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/cleanup.h"
#include "unit.h"

static char dir[] = "/tmp/test-io-XXXXXX";

static int enter_dir(void) {
        int fd;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        fd = dir_open(AT_FDCWD, dir);
        ck_assert_int_ge(fd, 0);
        return fd;
}

START_TEST(files_are_read_whole_and_bounded)
        {
                _cleanup_close_ int fd = enter_dir();
                _cleanup_free_ char *s = NULL;
                char data[10000];
                size_t n;

                memset(data, 'x', sizeof(data));
                ck_assert_int_eq(file_replace(fd, "f", data, sizeof(data), 0600), 0);
                ck_assert_int_eq(file_read(fd, "f", &s, &n, 9999), -EFBIG);
                ck_assert_ptr_null(s);
                ck_assert_int_eq(file_read(fd, "f", &s, &n, 10000), 0);
                ck_assert_uint_eq(n, 10000);
                ck_assert_int_eq(s[10000], 0);
                ck_assert_int_eq(file_read(fd, "g", &s, &n, 10000), -ENOENT);
                ck_assert_int_eq(tree_remove(AT_FDCWD, dir), 0);
        }
END_TEST

START_TEST(procfs_files_of_size_zero_are_read)
        {
                _cleanup_free_ char *s = NULL;

                ck_assert_int_eq(file_read(AT_FDCWD, "/proc/self/status", &s, NULL, 1 << 20), 0);
                ck_assert_ptr_nonnull(strstr(s, "Pid:"));
        }
END_TEST

START_TEST(replacement_leaves_no_temporary)
        {
                _cleanup_close_ int fd = enter_dir();
                _cleanup_free_ char *s = NULL;

                ck_assert_int_eq(file_replace(fd, "f", "old", 3, 0600), 0);
                ck_assert_int_eq(file_replace(fd, "f", "new", 3, 0600), 0);
                ck_assert_int_eq(file_read(fd, "f", &s, NULL, 100), 0);
                ck_assert_str_eq(s, "new");
                ck_assert_int_eq(faccessat(fd, "f.new", F_OK, 0), -1);
                ck_assert_int_eq(tree_remove(AT_FDCWD, dir), 0);
        }
END_TEST

START_TEST(removal_does_not_follow_links)
        {
                _cleanup_close_ int fd = enter_dir();

                ck_assert_int_eq(dir_make(fd, "kept", 0700), 0);
                ck_assert_int_eq(file_replace(fd, "kept/f", "x", 1, 0600), 0);
                ck_assert_int_eq(dir_make(fd, "gone", 0700), 0);
                ck_assert_int_eq(dir_make(fd, "gone/deep", 0700), 0);
                ck_assert_int_eq(symlinkat("../kept", fd, "gone/link"), 0);
                ck_assert_int_eq(tree_remove(fd, "gone"), 0);
                ck_assert_int_eq(faccessat(fd, "gone", F_OK, 0), -1);
                ck_assert_int_eq(faccessat(fd, "kept/f", F_OK, 0), 0);
                ck_assert_int_eq(tree_remove(fd, "gone"), -ENOENT);
                ck_assert_int_eq(tree_remove(AT_FDCWD, dir), 0);
        }
END_TEST

START_TEST(a_directory_that_is_a_link_is_not_opened)
        {
                _cleanup_close_ int fd = enter_dir();

                ck_assert_int_eq(symlinkat("/", fd, "root"), 0);
                ck_assert_int_lt(dir_open(fd, "root"), 0);
                ck_assert_int_eq(tree_remove(AT_FDCWD, dir), 0);
        }
END_TEST

UNIT_SUITE("io", files_are_read_whole_and_bounded, procfs_files_of_size_zero_are_read,
           replacement_leaves_no_temporary, removal_does_not_follow_links,
           a_directory_that_is_a_link_is_not_opened)
