/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "scratch.h"
#include "store/recover.h"

#define ID "0123456789abcdef"
#define NAME "00000000.seg"
#define N 4096

/* A segment whose writer died: @n_published pages counted, then @n_more bytes of @fill. */
static void leave(const Scratch *s, size_t n_published, size_t n_more, char fill) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        static char data[8 * N];

        ck_assert_int_eq(segment_create(&w, s->fd, 0, 0, N, ID), 0);
        memset(data, 'a', sizeof(data));
        ck_assert_int_eq(write_full(segment_writer_fd(w), data, n_published * N), 0);
        segment_publish(w, n_published * N);
        memset(data, fill, sizeof(data));
        ck_assert_int_eq(write_full(segment_writer_fd(w), data, n_more), 0);
}

static void expect(const Scratch *s, uint64_t n_expected) {
        _cleanup_(segment_freep) Segment *g = NULL;
        uint64_t n_pages = 99;

        ck_assert_int_eq(segment_recover(s->fd, NAME, &n_pages), 0);
        ck_assert_uint_eq(n_pages, n_expected);
        ck_assert_int_eq(segment_open(&g, s->fd, NAME), 0);
        ck_assert(segment_is_closed(g));
        ck_assert_uint_eq(segment_n_pages(g), n_expected);
        ck_assert_uint_eq(segment_torn_bytes(g), 0);
        ck_assert_int_eq(segment_recover(s->fd, NAME, &n_pages), 0);
        ck_assert_uint_eq(n_pages, n_expected);
}

START_TEST(whole_pages_behind_the_count_are_kept)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;

                leave(&s, 2, 3 * N, 'b');
                expect(&s, 5);
        }
END_TEST

START_TEST(a_torn_tail_is_cut)
        {
                for (size_t n = 0; n < N; n += 117) {
                        _cleanup_scratch_ Scratch s = SCRATCH;

                        leave(&s, 1, n, 'b');
                        expect(&s, 1);
                }
        }
END_TEST

START_TEST(pages_that_were_never_read_into_are_cut)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;

                leave(&s, 2, 3 * N + 5, 0);
                expect(&s, 2);
        }
END_TEST

START_TEST(a_segment_without_pages_is_closed)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;

                leave(&s, 0, 0, 0);
                expect(&s, 0);
        }
END_TEST

START_TEST(a_closed_segment_is_left_as_it_is)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_close_ int fd = -EBADF;
                uint64_t n_pages;
                struct stat st;

                leave(&s, 2, 0, 0);
                ck_assert_int_eq(segment_recover(s.fd, NAME, &n_pages), 0);
                fd = openat(s.fd, NAME, O_RDWR | O_CLOEXEC);
                ck_assert_int_eq(pwrite_full(fd, "junk", 4, SEGMENT_HEADER_BYTES + 2 * N), 0);
                ck_assert_int_eq(segment_recover(s.fd, NAME, &n_pages), 0);
                ck_assert_uint_eq(n_pages, 2);
                ck_assert_int_eq(fstat(fd, &st), 0);
                ck_assert_int_eq(st.st_size, SEGMENT_HEADER_BYTES + 2 * N + 4);
        }
END_TEST

START_TEST(what_is_no_segment_is_left_as_it_is)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_free_ char *text = NULL;
                uint64_t n_pages = 42;

                scratch_write(s.fd, "text", "hello", 5);
                scratch_write(s.fd, "empty", "", 0);
                ck_assert_int_eq(mkfifoat(s.fd, "fifo", 0600), 0);
                ck_assert_int_eq(symlinkat("text", s.fd, "link"), 0);
                ck_assert_int_eq(segment_recover(s.fd, "text", &n_pages), SEGMENT_E_DAMAGED);
                ck_assert_int_eq(segment_recover(s.fd, "empty", &n_pages), SEGMENT_E_DAMAGED);
                ck_assert_int_eq(segment_recover(s.fd, "fifo", &n_pages), SEGMENT_E_DAMAGED);
                ck_assert_int_eq(segment_recover(s.fd, "link", &n_pages), -ELOOP);
                ck_assert_int_eq(segment_recover(s.fd, "nothing", &n_pages), -ENOENT);
                ck_assert_uint_eq(n_pages, 42);
                ck_assert_int_eq(file_read(s.fd, "text", &text, NULL, 100), 0);
                ck_assert_str_eq(text, "hello");
        }
END_TEST

START_TEST(a_header_cut_at_any_byte_is_damaged)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_close_ int fd = -EBADF;
                uint64_t n_pages;

                leave(&s, 1, 0, 0);
                fd = openat(s.fd, NAME, O_RDWR | O_CLOEXEC);
                for (off_t n = SEGMENT_HEADER_BYTES - 1; n >= 0; n--) {
                        ck_assert_int_eq(ftruncate(fd, n), 0);
                        ck_assert_int_eq(segment_recover(s.fd, NAME, &n_pages), SEGMENT_E_DAMAGED);
                }
        }
END_TEST

UNIT_MAIN("recover", whole_pages_behind_the_count_are_kept, a_torn_tail_is_cut,
          pages_that_were_never_read_into_are_cut, a_segment_without_pages_is_closed,
          a_closed_segment_is_left_as_it_is, what_is_no_segment_is_left_as_it_is,
          a_header_cut_at_any_byte_is_damaged)
