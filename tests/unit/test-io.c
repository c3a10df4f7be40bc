/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Waiting with a deadline, and beside a child; the same as on an old kernel: tests/system/test-old-kernel.sh. */

#include <linux/openat2.h>
#include <signal.h>
#include <sys/inotify.h>

#include "base/io.h"
#include "scratch.h"

static char dir[] = "/tmp/test-io-XXXXXX";

static int enter_dir(void) {
        int fd;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        fd = dir_open(AT_FDCWD, dir);
        ck_assert_int_ge(fd, 0);
        return fd;
}

TEST(files_are_read_whole_and_bounded) {
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

/* Whoever may put a link there could have a watchdog of root's begin to count. */
TEST(what_is_no_regular_file_is_not_even_opened) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_close_ int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd = -EBADF;
        char path[64], said[512];

        ck_assert_int_eq(file_replace(s.fd, "file", "x", 1, 0600), 0);
        ck_assert_int_eq(mkfifoat(s.fd, "fifo", 0600), 0);
        ck_assert_int_eq(symlinkat("fifo", s.fd, "link"), 0);
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d/fifo", s.fd);
        ck_assert_int_ge(inotify_add_watch(events, path, IN_OPEN), 0);
        if (file_open_regular(s.fd, "link", RESOLVE_IN_ROOT) == -ENOSYS)
                return; /* linux before 5.6 has no openat2() */
        ck_assert_int_eq(file_open_regular(s.fd, "link", RESOLVE_IN_ROOT), -EBADMSG);
        ck_assert_int_eq(file_open_regular(s.fd, "fifo", 0), -EBADMSG);
        ck_assert_int_lt(read(events, said, sizeof(said)), 0);
        fd = file_open_regular(s.fd, "file", RESOLVE_IN_ROOT);
        ck_assert_int_eq(read(fd, said, sizeof(said)), 1);
}

TEST(procfs_files_of_size_zero_are_read) {
        _cleanup_free_ char *s = NULL;

        ck_assert_int_eq(file_read(AT_FDCWD, "/proc/self/status", &s, NULL, 1 << 20), 0);
        ck_assert_ptr_nonnull(strstr(s, "Pid:"));
}

TEST(replacement_leaves_no_temporary) {
        _cleanup_close_ int fd = enter_dir();
        _cleanup_free_ char *s = NULL;

        ck_assert_int_eq(file_replace(fd, "f", "old", 3, 0600), 0);
        ck_assert_int_eq(file_replace(fd, "f", "new", 3, 0600), 0);
        ck_assert_int_eq(file_read(fd, "f", &s, NULL, 100), 0);
        ck_assert_str_eq(s, "new");
        ck_assert_int_eq(faccessat(fd, "f.new", F_OK, 0), -1);
        ck_assert_int_eq(tree_remove(AT_FDCWD, dir), 0);
}

TEST(removal_does_not_follow_links) {
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

TEST(a_directory_that_is_a_link_is_not_opened) {
        _cleanup_close_ int fd = enter_dir();

        ck_assert_int_eq(symlinkat("/", fd, "root"), 0);
        ck_assert_int_lt(dir_open(fd, "root"), 0);
        ck_assert_int_eq(tree_remove(AT_FDCWD, dir), 0);
}

#define SOON_NS (50 * NSEC_PER_MSEC)
#define LONG_NS (60 * NSEC_PER_SEC)

static uint64_t in(uint64_t ns) {
        return now_ns(CLOCK_MONOTONIC) + ns;
}

static pid_t start_child(bool stays) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid > 0)
                return pid;
        while (stays)
                (void) pause();
        _exit(7);
}

static void end_child(pid_t pid, int signal) {
        ck_assert_int_eq(kill(pid, signal), 0);
        (void) unit_wait(pid);
}

TEST(a_deadline_passes_and_is_no_sooner) {
        uint64_t end_ns = in(SOON_NS);

        ck_assert_int_eq(poll_until(NULL, 0, end_ns), -ETIMEDOUT);
        ck_assert_uint_ge(now_ns(CLOCK_MONOTONIC), end_ns);
}

TEST(a_child_that_has_ended_can_still_be_waited_for) {
        pid_t pid = start_child(false);
        struct pollfd p;

        ck_assert_int_eq(poll_child(pid, &p, 1, in(LONG_NS)), POLL_CHILD_ENDED);
        ck_assert_int_eq(poll_child(pid, &p, 1, UINT64_MAX), POLL_CHILD_ENDED);
        ck_assert_int_eq(unit_wait(pid), 7);
}

TEST(a_child_that_goes_on_lets_the_deadline_pass) {
        pid_t pid = start_child(true);
        uint64_t end_ns = in(SOON_NS);
        struct pollfd p;

        ck_assert_int_eq(poll_child(pid, &p, 1, end_ns), -ETIMEDOUT);
        ck_assert_uint_ge(now_ns(CLOCK_MONOTONIC), end_ns);
        ck_assert_int_eq(poll_child(pid, &p, 1, 0), -ETIMEDOUT);
        end_child(pid, SIGKILL);
}

TEST(what_comes_while_the_child_goes_on_is_told) {
        pid_t pid = start_child(true);
        struct pollfd p[2];
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        p[1] = (struct pollfd){ .fd = fds[0], .events = POLLIN };
        ck_assert_int_eq(poll_child(pid, p, 2, in(SOON_NS)), -ETIMEDOUT);
        ck_assert_int_eq(write(fds[1], "x", 1), 1);
        ck_assert_int_eq(poll_child(pid, p, 2, UINT64_MAX), 0);
        ck_assert_int_eq(p[0].revents, 0);
        ck_assert_int_eq(p[1].revents, POLLIN);
        end_child(pid, SIGKILL);
        (void) close(fds[0]);
        (void) close(fds[1]);
}

TEST(who_is_no_child_is_not_waited_for) {
        pid_t pid = start_child(true);
        struct pollfd p;

        end_child(pid, SIGKILL);
        ck_assert_int_lt(poll_child(pid, &p, 1, UINT64_MAX), 0);
}
