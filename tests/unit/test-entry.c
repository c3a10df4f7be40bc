/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "scratch.h"
#include "store/entry.h"

static int try_open(int dir_fd, const char *path) {
        int fd = entry_open_file(dir_fd, path, O_RDONLY);

        return fd < 0 ? fd : (safe_close(fd), 0);
}

TEST(paths_that_could_leave_are_invalid) {
        static const char *const bad[] = { "",   "/",    "/a",   "a/",  "a//b",  ".",
                                           "..", "a/..", "../a", "./a", "a/./b", "a/../b" };
        static const char *const good[] = { "a", "a/b", "...", "..a", ".a/b", "a/b.c/d" };
        _cleanup_scratch_ Scratch s = SCRATCH;
        char longest[PATH_MAX + 1];

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(try_open(s.fd, bad[i]) == -EINVAL, "%s", bad[i]);
        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                ck_assert_msg(try_open(s.fd, good[i]) == -ENOENT, "%s", good[i]);
        memset(longest, 'a', PATH_MAX);
        longest[PATH_MAX] = 0;
        ck_assert_int_eq(try_open(s.fd, longest), -EINVAL);
        longest[PATH_MAX - 1] = 0;
        ck_assert_int_eq(try_open(s.fd, longest), -ENAMETOOLONG);
}

SCRATCH_TEST(only_regular_files_inside_are_opened) {
        ck_assert_int_eq(entry_replace(s->fd, "a/b/c", "x", 1, false), 0);
        ck_assert_int_eq(symlinkat("c", s->fd, "a/b/link"), 0);
        ck_assert_int_eq(symlinkat("b", s->fd, "a/dirlink"), 0);
        ck_assert_int_eq(symlinkat("/etc/passwd", s->fd, "out"), 0);
        ck_assert_int_eq(mkfifoat(s->fd, "fifo", 0600), 0);

        ck_assert_int_eq(try_open(s->fd, "a/b/c"), 0);
        ck_assert_int_eq(try_open(s->fd, "a/b/link"), -ELOOP);
        ck_assert_int_eq(try_open(s->fd, "out"), -ELOOP);
        ck_assert_int_lt(try_open(s->fd, "a/dirlink/c"), 0);
        ck_assert_int_eq(try_open(s->fd, "fifo"), -EBADFD);
        ck_assert_int_eq(try_open(s->fd, "a/b"), -EISDIR);
        ck_assert_int_eq(try_open(s->fd, "a/x"), -ENOENT);
        ck_assert_int_eq(try_open(s->fd, "x/c"), -ENOENT);
        ck_assert_int_eq(try_open(s->fd, "a/b/c/d"), -ENOTDIR);
        ck_assert_int_eq(try_open(s->fd, "a/../a/b/c"), -EINVAL);
        ck_assert_int_eq(try_open(s->fd, "/etc/passwd"), -EINVAL);
}

SCRATCH_TEST(reading_is_bounded) {
        _cleanup_free_ char *text = NULL;
        size_t n;

        ck_assert_int_eq(entry_replace(s->fd, "f", "hello", 5, false), 0);
        ck_assert_int_eq(entry_read(s->fd, "f", &text, &n, 4), -EFBIG);
        ck_assert_int_eq(entry_read(s->fd, "f", &text, &n, 5), 0);
        ck_assert_uint_eq(n, 5);
        ck_assert_str_eq(text, "hello");
}

SCRATCH_TEST(nothing_is_written_through_a_linked_directory) {
        ck_assert_int_eq(mkdirat(s->fd, "real", 0700), 0);
        ck_assert_int_eq(symlinkat("real", s->fd, "link"), 0);
        ck_assert_int_lt(entry_replace(s->fd, "link/f", "x", 1, false), 0);
        ck_assert_int_ne(faccessat(s->fd, "real/f", F_OK, 0), 0);
        ck_assert_int_eq(entry_replace(s->fd, "../f", "x", 1, false), -EINVAL);
}
