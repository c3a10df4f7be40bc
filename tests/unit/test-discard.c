/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "store/discard.h"
#include "store/entry.h"
#include "store/segment.h"
#include "store/session-dir.h"
#include "tests/unit/scratch.h"
#include "tests/unit/unit.h"

#define PAGE 4096U
#define SEGMENT "cpu2/00000005.seg"

static Scratch scratch;
static bool dies_at_unlink;

/* The libc's, as long as nobody is to die. */
int unlinkat(int dir_fd, const char *path, int flags) {
        if (dies_at_unlink)
                _exit(0);
        return (int) syscall(SYS_unlinkat, dir_fd, path, flags);
}

/* A segment of a session that is made for it, as who only reads has it open. */
static int add_segment(const char *session) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_close_ int fd = -EBADF;
        static const char page[PAGE] = { 1 };
        SegmentWriter *w;

        ck_assert_int_eq(session_dir_create(&dir, scratch.fd, session), 0);
        fd = session_dir_make_cpu(dir, 2);
        ck_assert_int_eq(segment_create(&w, fd, 5, UINT64_MAX, 2, PAGE, "0123456789abcdef"), 0);
        ck_assert_int_eq(write_full(segment_writer_fd(w), page, PAGE), 0);
        segment_publish(w, PAGE);
        ck_assert_int_eq(segment_writer_close(w, NULL), 0);
        return session_dir_open_segment_file(dir, 2, 5);
}

static void link_segment(const char *from, const char *to) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        _cleanup_close_ int fd = -EBADF;
        char from_path[64], to_path[64];

        ck_assert_int_eq(session_dir_create(&dir, scratch.fd, to), 0);
        fd = session_dir_make_cpu(dir, 2);
        (void) snprintf(from_path, sizeof(from_path), "%s/" SEGMENT, from);
        (void) snprintf(to_path, sizeof(to_path), "%s/" SEGMENT, to);
        ck_assert_int_eq(linkat(scratch.fd, from_path, scratch.fd, to_path, 0), 0);
}

static void expect_size(int fd, off_t size) {
        struct stat st;

        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(st.st_size, size);
        if (size == 0)
                ck_assert_int_eq(st.st_blocks, 0);
}

START_TEST(what_somebody_has_open_takes_nothing_when_it_is_removed)
        {
                _cleanup_close_ int fd = -EBADF;
                uint64_t freed_bytes = 1;

                scratch = scratch_new();
                fd = add_segment("a");
                ck_assert_int_eq(discard_file(scratch.fd, "a/" SEGMENT, scratch.fd, &freed_bytes),
                                 0);
                expect_size(fd, 0);
                ck_assert_uint_gt(freed_bytes, PAGE);
                ck_assert_int_eq(discard_file(scratch.fd, "a/" SEGMENT, scratch.fd, NULL), -ENOENT);
                ck_assert_int_eq(discard_file(scratch.fd, "a/cpu2", scratch.fd, NULL), -EISDIR);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_link_goes_and_what_it_leads_to_stays)
        {
                _cleanup_free_ char *text = NULL;

                scratch = scratch_new();
                ck_assert_int_eq(file_replace(scratch.fd, "f", "mine", 4, 0600), 0);
                ck_assert_int_eq(symlinkat("f", scratch.fd, "link"), 0);
                ck_assert_int_eq(discard_file(scratch.fd, "link", -EBADF, NULL), 0);
                ck_assert_int_eq(file_read(scratch.fd, "f", &text, NULL, 64), 0);
                ck_assert_str_eq(text, "mine");
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_segment_that_another_session_has_goes_with_the_last_of_them)
        {
                _cleanup_close_ int fd = -EBADF;

                scratch = scratch_new();
                fd = add_segment("a");
                link_segment("a", "a-snap-1");
                ck_assert_int_eq(discard_file(scratch.fd, "a/" SEGMENT, scratch.fd, NULL), 0);
                expect_size(fd, SEGMENT_HEADER_BYTES + PAGE);
                ck_assert_int_eq(discard_file(scratch.fd, "a-snap-1/" SEGMENT, scratch.fd, NULL),
                                 0);
                expect_size(fd, 0);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(a_link_that_is_in_no_session_keeps_nothing_where_anybody_can_make_one)
        {
                _cleanup_free_ char *is_protected = NULL;
                _cleanup_close_ int fd = -EBADF;

                scratch = scratch_new();
                fd = add_segment("a");
                link_segment("a", "a-snap-1");
                ck_assert_int_eq(linkat(scratch.fd, "a/" SEGMENT, scratch.fd, "mine", 0), 0);
                ck_assert_int_eq(discard_file(scratch.fd, "a/" SEGMENT, scratch.fd, NULL), 0);
                expect_size(fd, SEGMENT_HEADER_BYTES + PAGE);
                ck_assert_int_eq(discard_file(scratch.fd, "a-snap-1/" SEGMENT, scratch.fd, NULL),
                                 0);
                ck_assert_int_eq(file_read(AT_FDCWD, "/proc/sys/fs/protected_hardlinks",
                                           &is_protected, NULL, 64),
                                 0);
                /* Tests cannot set it; guests begin with 0. */
                expect_size(fd, is_protected[0] == '1' ? SEGMENT_HEADER_BYTES + PAGE : 0);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(who_dies_between_a_name_and_its_content_leaves_the_name)
        {
                _cleanup_close_ int fd = -EBADF, cpu_fd = -EBADF;
                pid_t pid;

                scratch = scratch_new();
                fd = add_segment("a");
                cpu_fd = dir_open(scratch.fd, "a/cpu2");
                pid = fork();
                if (pid == 0) {
                        dies_at_unlink = true;
                        (void) discard_hidden_file(cpu_fd, "00000005.seg", scratch.fd, NULL);
                        _exit(1);
                }
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
                expect_size(fd, 0);
                ck_assert_int_eq(faccessat(cpu_fd, ".00000005.seg", F_OK, 0), 0);
                ck_assert_int_eq(discard_hidden_file(cpu_fd, ".00000005.seg", scratch.fd, NULL), 0);
                ck_assert_int_eq(discard_hidden_file(scratch.fd, "a", scratch.fd, NULL), -EISDIR);
                scratch_done(&scratch);
        }
END_TEST

START_TEST(what_is_replaced_leaves_nothing_to_who_has_it_open)
        {
                _cleanup_free_ char *text = NULL;
                _cleanup_close_ int fd = -EBADF;
                size_t n;

                scratch = scratch_new();
                ck_assert_int_eq(entry_replace(scratch.fd, "d/f", "old", 3), 0);
                fd = entry_open_file(scratch.fd, "d/f", O_RDONLY);
                ck_assert_int_ge(fd, 0);
                ck_assert_int_eq(entry_replace(scratch.fd, "d/f", "newer", 5), 0);
                expect_size(fd, 0);
                ck_assert_int_eq(entry_read(scratch.fd, "d/f", &text, &n, 64), 0);
                ck_assert_str_eq(text, "newer");
                scratch_done(&scratch);
        }
END_TEST

UNIT_SUITE("discard", what_somebody_has_open_takes_nothing_when_it_is_removed,
           a_link_goes_and_what_it_leads_to_stays,
           a_segment_that_another_session_has_goes_with_the_last_of_them,
           a_link_that_is_in_no_session_keeps_nothing_where_anybody_can_make_one,
           who_dies_between_a_name_and_its_content_leaves_the_name,
           what_is_replaced_leaves_nothing_to_who_has_it_open)
