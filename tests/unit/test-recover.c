/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "scratch.h"
#include "segment-map.h"
#include "store/segment.h"

#define ID "0123456789abcdef"
#define NAME "00000000.seg"
#define N 4096

/* A segment whose writer died: @n_published pages counted, then @n_more bytes of @fill. */
static void leave(const Scratch *s, size_t n_published, size_t n_more, char fill) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        static char data[8 * N];

        ck_assert_int_eq(segment_create(&w, s->fd, 0, UINT64_MAX, 0, N, ID), 0);
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
        ck_assert(g->header.state == SEGMENT_STATE_CLOSED);
        ck_assert_uint_eq(g->header.n_pages, n_expected);
        ck_assert_uint_eq(g->n_torn, 0);
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

/* Reading what is behind them would take hours. */
START_TEST(pages_that_are_not_even_on_disk_are_cut_at_once)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_close_ int fd = -EBADF;

                leave(&s, 2, N, 'b');
                fd = openat(s.fd, NAME, O_RDWR | O_CLOEXEC);
                ck_assert_int_eq(ftruncate(fd, (off_t) 900 << 30), 0);
                expect(&s, 3);
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

/* Goes on with what leave() left: *@ret_torn, and the bytes that are in the file then. */
static uint64_t go_on(const Scratch *s, SegmentRest rest, size_t *ret_torn) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        struct stat st;

        ck_assert_int_eq(segment_append(&w, s->fd, 0, 0, N, ID, &rest, ret_torn), 0);
        ck_assert_int_eq(fstat(segment_writer_fd(w), &st), 0);
        ck_assert_int_eq(lseek(segment_writer_fd(w), 0, SEEK_CUR),
                         SEGMENT_HEADER_BYTES + (off_t) segment_writer_n_bytes(w));
        if (rest.n_tail == 0)
                ck_assert_int_eq(st.st_size,
                                 SEGMENT_HEADER_BYTES + (off_t) segment_writer_n_bytes(w));
        return segment_writer_n_bytes(w);
}

START_TEST(a_writer_goes_on_behind_the_last_whole_page)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                size_t n_torn = 99;

                leave(&s, 2, 3 * N, 'b');
                ck_assert_uint_eq(go_on(&s, (SegmentRest){}, &n_torn), 5 * N);
                ck_assert_uint_eq(n_torn, 0);
                expect(&s, 5);
        }
END_TEST

START_TEST(half_a_page_is_kept_only_if_its_rest_is_in_the_pipe)
        {
                for (size_t n = 1; n < N; n += 117) {
                        _cleanup_scratch_ Scratch a = SCRATCH, b = SCRATCH;
                        size_t n_torn = 99;

                        leave(&a, 1, n, 'b');
                        ck_assert_uint_eq(go_on(&a, (SegmentRest){ .n_piped = 7 * N - n }, &n_torn),
                                          N + n);
                        ck_assert_uint_eq(n_torn, 0);

                        leave(&b, 1, n, 'b');
                        ck_assert_uint_eq(go_on(&b, (SegmentRest){}, &n_torn), N);
                        ck_assert_uint_eq(n_torn, n);
                        expect(&b, 1);
                }
        }
END_TEST

START_TEST(a_tail_that_was_never_read_into_is_cut_and_a_begun_one_is_not)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                SegmentWriter *w;
                size_t n_torn = 99;
                void *tail;

                leave(&s, 2, N, 0);
                ck_assert_uint_eq(go_on(&s, (SegmentRest){}, &n_torn), 2 * N);
                ck_assert_int_eq(segment_append(&w, s.fd, 0, 0, N, ID, &(SegmentRest){}, &n_torn),
                                 0);
                ck_assert_int_eq(segment_tail(w, &tail), 0);
                memset(tail, 't', 1000);
                w = segment_writer_free(w); /* killed in the middle of the copy */

                ck_assert_int_eq(segment_append(&w, s.fd, 0, 0, N, ID,
                                                &(SegmentRest){ .n_tail = 1000 }, &n_torn),
                                 0);
                ck_assert_uint_eq(segment_writer_n_bytes(w), 2 * N);
                ck_assert_int_eq(segment_tail(w, &tail), 0);
                ck_assert_int_eq(((char *) tail)[999], 't');
                ck_assert_int_eq(((char *) tail)[1000], 0);
                segment_tail_commit(w);
                ck_assert_uint_eq(segment_writer_n_pages(w), 3);
                w = segment_writer_free(w);
                expect(&s, 3);
        }
END_TEST

START_TEST(only_the_segment_that_was_meant_and_is_open_is_appended_to)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                SegmentWriter *w;
                uint64_t n_pages;
                size_t n_torn;

                leave(&s, 1, 0, 'b');
                ck_assert_int_eq(segment_append(&w, s.fd, 0, 1, N, ID, &(SegmentRest){}, &n_torn),
                                 SEGMENT_E_DAMAGED);
                ck_assert_int_eq(
                        segment_append(&w, s.fd, 0, 0, 2 * N, ID, &(SegmentRest){}, &n_torn),
                        SEGMENT_E_DAMAGED);
                ck_assert_int_eq(segment_append(&w, s.fd, 0, 0, N, "fedcba9876543210",
                                                &(SegmentRest){}, &n_torn),
                                 SEGMENT_E_DAMAGED);
                ck_assert_int_eq(segment_append(&w, s.fd, 1, 0, N, ID, &(SegmentRest){}, &n_torn),
                                 -ENOENT);
                scratch_write(s.fd, "00000001.seg", ID, 10); /* killed before it had a header */
                ck_assert_int_eq(segment_append(&w, s.fd, 1, 0, N, ID, &(SegmentRest){}, &n_torn),
                                 -ENODATA);
                ck_assert_int_eq(segment_recover(s.fd, NAME, &n_pages), 0);
                ck_assert_int_eq(segment_append(&w, s.fd, 0, 0, N, ID, &(SegmentRest){}, &n_torn),
                                 SEGMENT_E_CLOSED);
        }
END_TEST

UNIT_SUITE("recover", whole_pages_behind_the_count_are_kept, a_torn_tail_is_cut,
           pages_that_were_never_read_into_are_cut, pages_that_are_not_even_on_disk_are_cut_at_once,
           a_segment_without_pages_is_closed, a_closed_segment_is_left_as_it_is,
           what_is_no_segment_is_left_as_it_is, a_header_cut_at_any_byte_is_damaged,
           a_writer_goes_on_behind_the_last_whole_page,
           half_a_page_is_kept_only_if_its_rest_is_in_the_pipe,
           a_tail_that_was_never_read_into_is_cut_and_a_begun_one_is_not,
           only_the_segment_that_was_meant_and_is_open_is_appended_to)
