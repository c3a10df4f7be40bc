/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sched.h>
#include <sys/mount.h>

#include "scratch.h"
#include "segment-map.h"
#include "store/segment.h"

#define ID "0123456789abcdef"
#define NAME "00000007.seg"
#define FIRST "00000000.seg" /* of a writer that died */
#define N 4096

static SegmentWriter *create(const Scratch *s, uint32_t page_bytes) {
        SegmentWriter *w;

        ck_assert_int_eq(segment_create(&w, s->fd, 7, UINT64_MAX, 3, page_bytes, ID), 0);
        return w;
}

static void append(SegmentWriter *w, char fill, size_t n) {
        _cleanup_free_ char *data = malloc(n);

        memset(data, fill, n);
        ck_assert_int_eq(write_full(w->fd, data, n), 0);
        segment_publish(w, n);
}

static off_t size_of(const Scratch *s, const char *name) {
        struct stat st;

        ck_assert_int_eq(fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
        return st.st_size;
}

TEST(pages_come_back_as_they_were_written) {
        static const uint32_t sizes[] = { PAGE_BYTES_MIN, 65536, PAGE_BYTES_MAX };

        for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(segment_freep) Segment *g = NULL;
                SegmentWriter *w = create(&s, sizes[i]);
                size_t n_torn = 99;

                append(w, 'a', sizes[i]);
                append(w, 'b', 2 * sizes[i]);
                ck_assert_uint_eq(segment_writer_n_pages(w), 3);
                ck_assert_uint_eq(w->n_bytes, 3 * sizes[i]);
                ck_assert_int_eq(segment_writer_close(w, &n_torn, NULL), 0);
                ck_assert_uint_eq(n_torn, 0);

                ck_assert_int_eq(segment_open(&g, s.fd, NAME), 0);
                ck_assert_uint_eq(g->header.cpu, 3);
                ck_assert_uint_eq(g->header.sequence, 7);
                ck_assert_uint_eq(g->header.page_bytes, sizes[i]);
                ck_assert(g->header.state == SEGMENT_STATE_CLOSED);
                ck_assert_uint_eq(g->header.n_pages, 3);
                ck_assert_uint_eq(g->n_torn, 0);
                ck_assert_int_eq(*(const char *) segment_page(g, 0), 'a');
                ck_assert_int_eq(*(const char *) segment_page(g, 1), 'b');
                ck_assert_int_eq(((const char *) segment_page(g, 2))[sizes[i] - 1], 'b');
        }
}

SCRATCH_TEST(the_header_is_the_documented_one) {
        _cleanup_free_ char *data = NULL;
        SegmentHeader h;
        size_t n;

        ck_assert_int_eq(segment_writer_close(create(s, N), NULL, NULL), 0);
        ck_assert_int_eq(file_read(s->fd, NAME, &data, &n, 1 << 20), 0);
        ck_assert_uint_eq(n, 4096);
        memcpy(&h, data, sizeof(h));
        ck_assert_int_eq(memcmp(data, "ftracSEG", 8), 0);
        ck_assert_uint_eq(le32toh(h.version), 1);
        ck_assert_uint_eq(le32toh(h.header_bytes), 4096);
        ck_assert_int_eq(memcmp(data + 32, ID, 16), 0);
        ck_assert_uint_eq(le32toh(h.state), SEGMENT_STATE_CLOSED);
        for (size_t i = 64; i < n; i++)
                ck_assert_int_eq(data[i], 0);
}

SCRATCH_TEST(create_refuses_to_overwrite) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = create(s, N), *other = NULL;

        append(w, 'a', N);
        ck_assert_int_eq(segment_create(&other, s->fd, 7, UINT64_MAX, 3, N, ID), -EEXIST);
        ck_assert_ptr_null(other);
        ck_assert_int_eq(size_of(s, NAME), SEGMENT_HEADER_BYTES + N);
        ck_assert_int_eq(segment_create(&other, s->fd, UINT64_C(1) << 32, UINT64_MAX, 3, N, ID),
                         -EOVERFLOW);
        ck_assert_int_eq(symlinkat("elsewhere", s->fd, "00000008.seg"), 0);
        ck_assert_int_eq(segment_create(&other, s->fd, 8, UINT64_MAX, 3, N, ID), -EEXIST);
}

SCRATCH_TEST(splice_appends_where_the_descriptor_stands) {
        _cleanup_(segment_freep) Segment *g = NULL;
        SegmentWriter *w = create(s, N);
        static char page[N];
        int pipe_fds[2];
        void *tail;

        ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
        for (int i = 0; i < 3; i++) {
                memset(page, 'a' + i, N);
                ck_assert_int_eq(write_full(pipe_fds[1], page, N), 0);
                ck_assert_int_eq(splice(pipe_fds[0], NULL, w->fd, NULL, N, SPLICE_F_MOVE), N);
                segment_publish(w, N);
                ck_assert_int_eq(segment_tail(w, &tail), 0);
                memset(tail, '0' + i, N);
                segment_tail_commit(w);
        }
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
        ck_assert_int_eq(segment_open(&g, s->fd, NAME), 0);
        ck_assert_uint_eq(g->header.n_pages, 6);
        for (uint64_t i = 0; i < 6; i++)
                ck_assert_int_eq(*(const char *) segment_page(g, i),
                                 (i % 2 ? '0' : 'a') + (int) i / 2);
        safe_close(pipe_fds[0]);
        safe_close(pipe_fds[1]);
}

SCRATCH_TEST(a_partial_page_waits_for_its_rest_and_is_cut_at_close) {
        SegmentWriter *w = create(s, N);
        size_t n_torn = 0;
        void *tail;

        append(w, 'a', 1000);
        ck_assert_uint_eq(segment_writer_n_pages(w), 0);
        ck_assert_int_eq(segment_tail(w, &tail), -EBUSY);
        append(w, 'a', N - 1000);
        ck_assert_uint_eq(segment_writer_n_pages(w), 1);
        append(w, 'b', 17);
        ck_assert_uint_eq(w->n_bytes, N + 17);
        ck_assert_int_eq(segment_writer_close(w, &n_torn, NULL), 0);
        ck_assert_uint_eq(n_torn, 17);
        ck_assert_int_eq(size_of(s, NAME), SEGMENT_HEADER_BYTES + N);
}

SCRATCH_TEST(a_tail_is_zeroes_and_leaves_no_trace_when_aborted) {
        SegmentWriter *w = create(s, 65536);
        char *tail;
        void *p;

        append(w, 'a', 65536);
        ck_assert_int_eq(segment_tail(w, &p), 0);
        tail = p;
        for (size_t i = 0; i < 65536; i++)
                ck_assert_int_eq(tail[i], 0);
        memset(tail, 'x', 65536);
        ck_assert_int_eq(segment_tail(w, &p), -EBUSY);
        segment_tail_abort(w);
        ck_assert_int_eq(size_of(s, NAME), SEGMENT_HEADER_BYTES + 65536);
        ck_assert_uint_eq(segment_writer_n_pages(w), 1);
        append(w, 'b', 65536);
        ck_assert_int_eq(segment_tail(w, &p), 0);
        ck_assert_int_eq(*(char *) p, 0);
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0); /* drops the open tail */
        ck_assert_int_eq(size_of(s, NAME), SEGMENT_HEADER_BYTES + 2 * 65536);
}

SCRATCH_TEST(a_reader_follows_a_writer) {
        _cleanup_(segment_freep) Segment *g = NULL;
        SegmentWriter *w = create(s, N);

        ck_assert_int_eq(segment_open(&g, s->fd, NAME), 0);
        ck_assert_uint_eq(g->header.n_pages, 0);
        ck_assert(g->header.state != SEGMENT_STATE_CLOSED);
        ck_assert_int_eq(segment_refresh(g), 0);
        for (uint64_t i = 0; i < 300; i++) {
                append(w, (char) i, N);
                ck_assert_int_eq(segment_refresh(g), 1);
                ck_assert_uint_eq(g->header.n_pages, i + 1);
                ck_assert_int_eq(*(const char *) segment_page(g, i), (char) i);
        }
        append(w, 'p', 5);
        ck_assert_int_eq(segment_refresh(g), 0);
        ck_assert_uint_eq(g->n_torn, 5);
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
        ck_assert_int_eq(segment_refresh(g), 0);
        ck_assert(g->header.state == SEGMENT_STATE_CLOSED);
        ck_assert_uint_eq(g->n_torn, 0);
}

SCRATCH_TEST(what_a_killed_writer_published_is_readable) {
        _cleanup_(segment_freep) Segment *g = NULL;
        pid_t pid = fork();

        if (pid == 0) {
                SegmentWriter *w = create(s, N);
                void *tail;

                append(w, 'a', 2 * N);
                if (segment_tail(w, &tail) == 0)
                        memset(tail, 'b', N);
                (void) kill(getpid(), SIGKILL);
        }
        ck_assert_int_eq(unit_wait(pid), 128 + SIGKILL);
        ck_assert_int_eq(segment_open(&g, s->fd, NAME), 0);
        ck_assert(g->header.state != SEGMENT_STATE_CLOSED);
        ck_assert_uint_eq(g->header.n_pages, 2);
        ck_assert_uint_eq(g->n_torn, N);
}

SCRATCH_TEST(a_segment_cut_anywhere_shows_its_whole_pages) {
        SegmentWriter *w = create(s, N);

        append(w, 'a', 3 * N);
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
        for (off_t n = SEGMENT_HEADER_BYTES + 3 * N; n >= 0; n -= n > 5000 ? 61 : 1) {
                _cleanup_(segment_freep) Segment *g = NULL;
                int r;

                {
                        _cleanup_close_ int fd = openat(s->fd, NAME, O_RDWR | O_CLOEXEC);

                        ck_assert_int_eq(ftruncate(fd, n), 0);
                }
                r = segment_open(&g, s->fd, NAME);
                if (n < SEGMENT_HEADER_BYTES) {
                        ck_assert_int_eq(r, SEGMENT_E_DAMAGED);
                        continue;
                }
                ck_assert_int_eq(r, 0);
                ck_assert_uint_eq(g->header.n_pages, (n - SEGMENT_HEADER_BYTES) / N);
                ck_assert_uint_eq(g->n_torn, (n - SEGMENT_HEADER_BYTES) % N);
        }
}

SCRATCH_TEST(a_file_cut_under_a_reader_is_seen_at_refresh) {
        _cleanup_(segment_freep) Segment *g = NULL;
        _cleanup_close_ int fd = -EBADF;
        SegmentWriter *w = create(s, N);

        append(w, 'a', 3 * N);
        ck_assert_int_eq(segment_open(&g, s->fd, NAME), 0);
        fd = openat(s->fd, NAME, O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(ftruncate(fd, SEGMENT_HEADER_BYTES + N + 1), 0);
        ck_assert_int_eq(segment_refresh(g), 0);
        ck_assert_uint_eq(g->header.n_pages, 1);
        ck_assert_int_eq(*(const char *) segment_page(g, 0), 'a');
        ck_assert_int_eq(ftruncate(fd, 10), 0);
        ck_assert_int_eq(segment_refresh(g), -EBADMSG);
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), -EIO);
}

TEST(a_header_that_contradicts_itself_is_damaged) {
        static const struct {
                size_t at;
                uint32_t value;
                int result;
        } cases[] = {
                { 0, 0, SEGMENT_E_DAMAGED },           /* magic */
                { 4, 0, SEGMENT_E_DAMAGED },           /* magic */
                { 8, 0, SEGMENT_E_DAMAGED },           /* version */
                { 8, 2, SEGMENT_E_DAMAGED },           /* version */
                { 12, 64, SEGMENT_E_DAMAGED },         /* header_bytes */
                { 16, 0, SEGMENT_E_DAMAGED },          /* page_bytes */
                { 16, 2048, SEGMENT_E_DAMAGED },       /* page_bytes */
                { 16, 4097, SEGMENT_E_DAMAGED },       /* page_bytes */
                { 16, 12288, SEGMENT_E_DAMAGED },      /* page_bytes */
                { 16, 2097152, SEGMENT_E_DAMAGED },    /* page_bytes */
                { 16, 0x80000000, SEGMENT_E_DAMAGED }, /* page_bytes */
                { 20, 8192, SEGMENT_E_DAMAGED },       /* cpu */
                { 28, 1, SEGMENT_E_DAMAGED },          /* sequence, upper half */
                { 48, 2, SEGMENT_E_DAMAGED },          /* state */
                { 20, 8191, 0 },
                { 56, 0xffffffff, 0 }, /* n_pages: bounded by the file */
                { 60, 0xffffffff, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(segment_freep) Segment *g = NULL;
                _cleanup_close_ int fd = -EBADF;
                SegmentWriter *w = create(&s, N);
                uint32_t value = htole32(cases[i].value);

                append(w, 'a', N);
                ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
                fd = openat(s.fd, NAME, O_RDWR | O_CLOEXEC);
                ck_assert_int_eq(pwrite_full(fd, &value, sizeof(value), cases[i].at), 0);
                ck_assert_msg(segment_open(&g, s.fd, NAME) == cases[i].result, "case %zu", i);
                if (g)
                        ck_assert_uint_eq(g->header.n_pages, 1);
        }
}

SCRATCH_TEST(a_full_disk_is_an_error_and_leaves_whole_pages) {
        _cleanup_close_ int fd = -EBADF;
        _cleanup_(segment_freep) Segment *g = NULL;
        SegmentWriter *w = NULL, *other = NULL;
        uint64_t n_pages = 0;
        void *tail;
        int r;

        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("tmpfs", s->path, "tmpfs", 0, "size=65536") < 0)
                return; /* not root: nowhere to run out of space */
        fd = dir_open(AT_FDCWD, s->path);
        ck_assert_int_eq(segment_create(&w, fd, 7, UINT64_MAX, 3, N, ID), 0);
        while ((r = segment_tail(w, &tail)) == 0) {
                memset(tail, 'a', N);
                segment_tail_commit(w);
                n_pages++;
        }
        ck_assert_int_eq(r, -ENOSPC);
        ck_assert_uint_eq(n_pages, 15);
        ck_assert_int_eq(segment_create(&other, fd, 8, UINT64_MAX, 3, N, ID), -ENOSPC);
        ck_assert_int_ne(faccessat(fd, "00000008.seg", F_OK, 0), 0);
        ck_assert_int_eq(segment_writer_close(w, NULL, NULL), 0);
        ck_assert_int_eq(segment_open(&g, fd, NAME), 0);
        ck_assert_uint_eq(g->header.n_pages, n_pages);
        ck_assert_uint_eq(g->n_torn, 0);
        fd = safe_close(fd);
        g = segment_free(g);
        ck_assert_int_eq(umount2(s->path, MNT_DETACH), 0);
}

/* A segment whose writer died: @n_published pages counted, then @n_more bytes of @fill. */
static void leave(const Scratch *s, size_t n_published, size_t n_more, char fill) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        static char data[8 * N];

        ck_assert_int_eq(segment_create(&w, s->fd, 0, UINT64_MAX, 0, N, ID), 0);
        memset(data, 'a', sizeof(data));
        ck_assert_int_eq(write_full(w->fd, data, n_published * N), 0);
        segment_publish(w, n_published * N);
        memset(data, fill, sizeof(data));
        ck_assert_int_eq(write_full(w->fd, data, n_more), 0);
}

static void expect(const Scratch *s, uint64_t n_expected) {
        _cleanup_(segment_freep) Segment *g = NULL;
        uint64_t n_pages = 99;

        ck_assert_int_eq(segment_recover(s->fd, FIRST, &n_pages), 0);
        ck_assert_uint_eq(n_pages, n_expected);
        ck_assert_int_eq(segment_open(&g, s->fd, FIRST), 0);
        ck_assert(g->header.state == SEGMENT_STATE_CLOSED);
        ck_assert_uint_eq(g->header.n_pages, n_expected);
        ck_assert_uint_eq(g->n_torn, 0);
        ck_assert_int_eq(segment_recover(s->fd, FIRST, &n_pages), 0);
        ck_assert_uint_eq(n_pages, n_expected);
}

SCRATCH_TEST(whole_pages_behind_the_count_are_kept) {
        leave(s, 2, 3 * N, 'b');
        expect(s, 5);
}

TEST(a_torn_tail_is_cut) {
        for (size_t n = 0; n < N; n += 117) {
                _cleanup_scratch_ Scratch s = SCRATCH;

                leave(&s, 1, n, 'b');
                expect(&s, 1);
        }
}

SCRATCH_TEST(pages_that_were_never_read_into_are_cut) {
        leave(s, 2, 3 * N + 5, 0);
        expect(s, 2);
}

/* Reading what is behind them would take hours. */
SCRATCH_TEST(pages_that_are_not_even_on_disk_are_cut_at_once) {
        _cleanup_close_ int fd = -EBADF;

        leave(s, 2, N, 'b');
        fd = openat(s->fd, FIRST, O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(ftruncate(fd, (off_t) 900 << 30), 0);
        expect(s, 3);
}

SCRATCH_TEST(a_segment_without_pages_is_closed) {
        leave(s, 0, 0, 0);
        expect(s, 0);
}

SCRATCH_TEST(a_closed_segment_is_left_as_it_is) {
        _cleanup_close_ int fd = -EBADF;
        uint64_t n_pages;
        struct stat st;

        leave(s, 2, 0, 0);
        ck_assert_int_eq(segment_recover(s->fd, FIRST, &n_pages), 0);
        fd = openat(s->fd, FIRST, O_RDWR | O_CLOEXEC);
        ck_assert_int_eq(pwrite_full(fd, "junk", 4, SEGMENT_HEADER_BYTES + 2 * N), 0);
        ck_assert_int_eq(segment_recover(s->fd, FIRST, &n_pages), 0);
        ck_assert_uint_eq(n_pages, 2);
        ck_assert_int_eq(fstat(fd, &st), 0);
        ck_assert_int_eq(st.st_size, SEGMENT_HEADER_BYTES + 2 * N + 4);
}

SCRATCH_TEST(what_is_no_segment_is_left_as_it_is) {
        _cleanup_free_ char *text = NULL;
        uint64_t n_pages = 42;

        scratch_write(s->fd, "text", "hello", 5);
        scratch_write(s->fd, "empty", "", 0);
        ck_assert_int_eq(mkfifoat(s->fd, "fifo", 0600), 0);
        ck_assert_int_eq(symlinkat("text", s->fd, "link"), 0);
        ck_assert_int_eq(segment_recover(s->fd, "text", &n_pages), SEGMENT_E_DAMAGED);
        ck_assert_int_eq(segment_recover(s->fd, "empty", &n_pages), SEGMENT_E_DAMAGED);
        ck_assert_int_eq(segment_recover(s->fd, "fifo", &n_pages), SEGMENT_E_DAMAGED);
        ck_assert_int_eq(segment_recover(s->fd, "link", &n_pages), -ELOOP);
        ck_assert_int_eq(segment_recover(s->fd, "nothing", &n_pages), -ENOENT);
        ck_assert_uint_eq(n_pages, 42);
        ck_assert_int_eq(file_read(s->fd, "text", &text, NULL, 100), 0);
        ck_assert_str_eq(text, "hello");
}

SCRATCH_TEST(a_header_cut_at_any_byte_is_damaged) {
        _cleanup_close_ int fd = -EBADF;
        uint64_t n_pages;

        leave(s, 1, 0, 0);
        fd = openat(s->fd, FIRST, O_RDWR | O_CLOEXEC);
        for (off_t n = SEGMENT_HEADER_BYTES - 1; n >= 0; n--) {
                ck_assert_int_eq(ftruncate(fd, n), 0);
                ck_assert_int_eq(segment_recover(s->fd, FIRST, &n_pages), SEGMENT_E_DAMAGED);
        }
}

/* Goes on with what leave() left: *@ret_torn, and the bytes that are in the file then. */
static uint64_t go_on(const Scratch *s, SegmentRest rest, size_t *ret_torn) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        struct stat st;

        ck_assert_int_eq(segment_append(&w, s->fd, 0, 0, N, ID, &rest, ret_torn), 0);
        ck_assert_int_eq(fstat(w->fd, &st), 0);
        ck_assert_int_eq(lseek(w->fd, 0, SEEK_CUR), SEGMENT_HEADER_BYTES + (off_t) w->n_bytes);
        if (rest.n_tail == 0)
                ck_assert_int_eq(st.st_size, SEGMENT_HEADER_BYTES + (off_t) w->n_bytes);
        return w->n_bytes;
}

SCRATCH_TEST(a_writer_goes_on_behind_the_last_whole_page) {
        size_t n_torn = 99;

        leave(s, 2, 3 * N, 'b');
        ck_assert_uint_eq(go_on(s, (SegmentRest){}, &n_torn), 5 * N);
        ck_assert_uint_eq(n_torn, 0);
        expect(s, 5);
}

TEST(half_a_page_is_kept_only_if_its_rest_is_in_the_pipe) {
        for (size_t n = 1; n < N; n += 117) {
                _cleanup_scratch_ Scratch a = SCRATCH, b = SCRATCH;
                size_t n_torn = 99;

                leave(&a, 1, n, 'b');
                ck_assert_uint_eq(go_on(&a, (SegmentRest){ .n_piped = 7 * N - n }, &n_torn), N + n);
                ck_assert_uint_eq(n_torn, 0);

                leave(&b, 1, n, 'b');
                ck_assert_uint_eq(go_on(&b, (SegmentRest){}, &n_torn), N);
                ck_assert_uint_eq(n_torn, n);
                expect(&b, 1);
        }
}

SCRATCH_TEST(a_tail_that_was_never_read_into_is_cut_and_a_begun_one_is_not) {
        SegmentWriter *w;
        size_t n_torn = 99;
        void *tail;

        leave(s, 2, N, 0);
        ck_assert_uint_eq(go_on(s, (SegmentRest){}, &n_torn), 2 * N);
        ck_assert_int_eq(segment_append(&w, s->fd, 0, 0, N, ID, &(SegmentRest){}, &n_torn), 0);
        ck_assert_int_eq(segment_tail(w, &tail), 0);
        memset(tail, 't', 1000);
        w = segment_writer_free(w); /* killed in the middle of the copy */

        ck_assert_int_eq(
                segment_append(&w, s->fd, 0, 0, N, ID, &(SegmentRest){ .n_tail = 1000 }, &n_torn),
                0);
        ck_assert_uint_eq(w->n_bytes, 2 * N);
        ck_assert_int_eq(segment_tail(w, &tail), 0);
        ck_assert_int_eq(((char *) tail)[999], 't');
        ck_assert_int_eq(((char *) tail)[1000], 0);
        segment_tail_commit(w);
        ck_assert_uint_eq(segment_writer_n_pages(w), 3);
        w = segment_writer_free(w);
        expect(s, 3);
}

SCRATCH_TEST(only_the_segment_that_was_meant_and_is_open_is_appended_to) {
        SegmentWriter *w;
        uint64_t n_pages;
        size_t n_torn;

        leave(s, 1, 0, 'b');
        ck_assert_int_eq(segment_append(&w, s->fd, 0, 1, N, ID, &(SegmentRest){}, &n_torn),
                         SEGMENT_E_DAMAGED);
        ck_assert_int_eq(segment_append(&w, s->fd, 0, 0, 2 * N, ID, &(SegmentRest){}, &n_torn),
                         SEGMENT_E_DAMAGED);
        ck_assert_int_eq(
                segment_append(&w, s->fd, 0, 0, N, "fedcba9876543210", &(SegmentRest){}, &n_torn),
                SEGMENT_E_DAMAGED);
        ck_assert_int_eq(segment_append(&w, s->fd, 1, 0, N, ID, &(SegmentRest){}, &n_torn),
                         -ENOENT);
        scratch_write(s->fd, "00000001.seg", ID, 10); /* killed before it had a header */
        ck_assert_int_eq(segment_append(&w, s->fd, 1, 0, N, ID, &(SegmentRest){}, &n_torn),
                         -ENODATA);
        ck_assert_int_eq(segment_recover(s->fd, FIRST, &n_pages), 0);
        ck_assert_int_eq(segment_append(&w, s->fd, 0, 0, N, ID, &(SegmentRest){}, &n_torn),
                         SEGMENT_E_CLOSED);
}
