/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <sys/mman.h>

#include "page-builder.h"
#include "pages/page-source.h"
#include "sealing.h"

static const Layout *const layout = &layouts[LAYOUT_6_12];

static Page page_at(uint64_t at_ns, unsigned n_calls) {
        Page p = {};

        page_begin(&p, layout, at_ns);
        for (unsigned i = 0; i < n_calls; i++)
                page_enter(&p, at_ns + i, 17, F_ROOT + i, (int32_t) i);
        return p;
}

/* A session with a segment of @n pages on CPU 1. */
static void fill(Recording *r, Page *pages, size_t n) {
        for (size_t i = 0; i < n; i++)
                pages[i] = page_at(1000 * (i + 1), (unsigned) (i * 7 % 50));
        recording_add(r, 1, 0, pages, n);
}

static Damages found; /* in the source that was opened last */

static PageSource *source_of(const Recording *r) {
        PageSource *s = NULL;

        found = (Damages){};
        ck_assert_int_eq(page_source_open(&s, r->dir, 1, 0, &found), 0);
        return s;
}

/* The segment's file, to be changed. */
static int file_of(const Recording *r) {
        return openat(session_dir_fd(r->dir), "cpu1/00000000.seg", O_RDWR | O_CLOEXEC);
}

static void expect_pages(PageSource *s, const Page *pages, size_t n) {
        uint64_t n_run;

        ck_assert_uint_eq(s->n_pages, n);
        for (uint64_t i = 0; i < n; i += n_run) {
                const char *run = NULL;
                const void *p;

                ck_assert_int_eq(page_source_read(s, i, &p, &n_run), 0);
                run = p;
                for (uint64_t k = 0; k < n_run; k++)
                        ck_assert_mem_eq(run + k * BUILT_PAGE_BYTES, pages[i + k].bytes,
                                         BUILT_PAGE_BYTES);
        }
        ck_assert_uint_eq(found.n_all, 0);
}

TEST(a_sealed_segment_gives_the_same_pages_as_before) {
        static const uint32_t block_bytes[] = { 1, 4096, 3 * 4096, 0 };

        for (size_t i = 0; i < ELEMENTSOF(block_bytes); i++) {
                _cleanup_(page_source_freep) PageSource *s = NULL;
                RECORDING(r, layout);
                static Page pages[300];
                SealedSize size;

                fill(&r, pages, ELEMENTSOF(pages));
                s = source_of(&r);
                ck_assert(!s->sealed);
                expect_pages(s, pages, ELEMENTSOF(pages));
                size = seal(r.dir, 1, 0, block_bytes[i]);
                ck_assert_uint_eq(size.n_pages, ELEMENTSOF(pages));
                /* Who had it open goes on with what it had. */
                ck_assert_int_eq(page_source_refresh(s), 0);
                expect_pages(s, pages, ELEMENTSOF(pages));
                s = page_source_free(s);
                s = source_of(&r);
                ck_assert(s->sealed);
                ck_assert(s->is_closed);
                ck_assert_uint_eq(s->cpu, 1);
                ck_assert_uint_eq(s->sequence, 0);
                expect_pages(s, pages, ELEMENTSOF(pages));
        }
}

RECORDING_TEST(a_block_is_decoded_once_for_pages_in_order, layout) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        const void *first, *again;
        Page pages[8];
        uint64_t n;

        fill(r, pages, ELEMENTSOF(pages));
        (void) seal(r->dir, 1, 0, 4 * 4096);
        s = source_of(r);
        ck_assert_int_eq(page_source_read(s, 0, &first, &n), 0);
        ck_assert_uint_eq(n, 4);
        ((char *) first)[0] ^= 1; /* a second decoding would undo it */
        ck_assert_int_eq(page_source_read(s, 3, &again, &n), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_ptr_eq(again, (const char *) first + 3 * 4096);
        ck_assert_int_eq(page_source_read(s, 0, &again, &n), 0);
        ck_assert_int_ne(memcmp(again, pages[0].bytes, 1), 0);
}

RECORDING_TEST(the_index_says_when_and_what_was_lost, layout) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        const SealedReader *reader;
        Page pages[5];

        for (size_t i = 0; i < ELEMENTSOF(pages); i++)
                pages[i] = page_at(1000 * (i + 1), 3);
        page_set_missed(&pages[2], 30);
        page_set_missed(&pages[3], 12);
        memset(pages[4].bytes, 0xff, sizeof(pages[4].bytes)); /* no header to read */
        recording_add(r, 1, 0, pages, ELEMENTSOF(pages));
        (void) seal(r->dir, 1, 0, 2 * 4096);
        s = source_of(r);
        reader = s->sealed;
        ck_assert_uint_eq(reader->n_found, 3);
        ck_assert_uint_eq(reader->found[0].entry.first_ns, 1000);
        ck_assert_uint_eq(reader->found[0].entry.last_ns, 2000);
        ck_assert_uint_eq(reader->found[0].entry.n_missed, 0);
        ck_assert_uint_eq(reader->found[0].entry.flags & SEALED_FLAG_MISSED, 0);
        ck_assert_uint_eq(reader->found[1].entry.first_page, 2);
        ck_assert_uint_eq(reader->found[1].entry.n_missed, 42);
        ck_assert_uint_ne(reader->found[1].entry.flags & SEALED_FLAG_MISSED, 0);
        ck_assert_uint_eq(reader->found[2].entry.n_pages, 1);
        ck_assert_uint_eq(reader->found[2].entry.first_ns, 0);
        expect_pages(s, pages, ELEMENTSOF(pages));
}

static void expect_span(const Recording *r, uint64_t first_ns, uint64_t last_ns) {
        _cleanup_(page_source_freep) PageSource *s = source_of(r);
        uint64_t first = 0, last = 0;

        ck_assert_int_eq(page_source_span(s, HOST_BIG_ENDIAN, &first, &last), 0);
        ck_assert_uint_eq(first, first_ns);
        ck_assert_uint_eq(last, last_ns);
        ck_assert_uint_eq(found.n_all, 0);
}

/* So that decoding the first block fails. */
static void damage_body(const Recording *r) {
        _cleanup_close_ int fd = file_of(r);
        const off_t at = SEALED_HEADER_BYTES + SEALED_BLOCK_HEADER_BYTES + 3;
        char c;

        ck_assert_int_eq(pread(fd, &c, 1, at), 1);
        c ^= 1;
        ck_assert_int_eq(pwrite(fd, &c, 1, at), 1);
}

RECORDING_TEST(its_span_is_known_without_decoding_and_does_not_change_by_sealing, layout) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        const void *page;
        Page pages[8];
        uint64_t n;

        fill(r, pages, ELEMENTSOF(pages));
        expect_span(r, 1000, 8000);
        (void) seal(r->dir, 1, 0, 2 * 4096);
        expect_span(r, 1000, 8000);
        damage_body(r);
        expect_span(r, 1000, 8000);
        s = source_of(r);
        ck_assert_int_eq(page_source_read(s, 0, &page, &n), SEGMENT_E_LOST);
}

RECORDING_TEST(a_segment_without_pages_is_sealed, layout) {
        _cleanup_(page_source_freep) PageSource *s = NULL;

        fill(r, NULL, 0);
        (void) seal(r->dir, 1, 0, 0);
        s = source_of(r);
        expect_pages(s, NULL, 0);
}

static int try_to_seal(const Recording *r) {
        _cleanup_close_ int in = session_dir_open_segment_file(r->dir, 1, 0);
        _cleanup_close_ int out = memfd_create("out", MFD_CLOEXEC);
        SealedSize size;

        return sealed_write(out, &(SealedSource){ .fd = in }, &size);
}

RECORDING_TEST(only_a_whole_closed_segment_is_sealed, layout) {
        _cleanup_close_ int fd = -EBADF;
        uint32_t writing = 0, closed = htole32(SEGMENT_STATE_CLOSED);
        Page pages[2];

        fill(r, pages, 2);
        ck_assert_int_eq(try_to_seal(r), 0);
        fd = file_of(r);
        ck_assert_int_eq(pwrite_full(fd, &writing, 4, 48), 0);
        ck_assert_int_eq(try_to_seal(r), SEALED_WRITE_E_UNFIT);
        ck_assert_int_eq(pwrite_full(fd, &closed, 4, 48), 0);
        ck_assert_int_eq(ftruncate(fd, 4096 + 2 * 4096 - 1), 0);
        ck_assert_int_eq(try_to_seal(r), SEALED_WRITE_E_UNFIT);
        ck_assert_int_eq(ftruncate(fd, 4096 + 2 * 4096 + 1), 0);
        ck_assert_int_eq(try_to_seal(r), SEALED_WRITE_E_UNFIT);
        ck_assert_int_eq(ftruncate(fd, 4096 + 2 * 4096), 0);
        (void) seal(r->dir, 1, 0, 0);
        ck_assert_int_eq(try_to_seal(r), SEALED_WRITE_E_UNFIT);
}

#define HUGE_PAGES (((uint64_t) 900 << 30) / BUILT_PAGE_BYTES)

/* A closed segment of HUGE_PAGES, of which the first @n and the last are on disk. */
static void claim(Recording *r, Page *pages, size_t n) {
        uint64_t n_pages = htole64(HUGE_PAGES);
        _cleanup_close_ int fd = -EBADF;

        fill(r, pages, n);
        fd = file_of(r);
        ck_assert_int_eq(pwrite_full(fd, &n_pages, 8, offsetof(SegmentHeader, n_pages)), 0);
        ck_assert_int_eq(pwrite_full(fd, pages[0].bytes, BUILT_PAGE_BYTES,
                                     SEGMENT_HEADER_BYTES + (HUGE_PAGES - 1) * BUILT_PAGE_BYTES),
                         0);
}

RECORDING_TEST(a_hole_is_lost_at_once_and_what_is_behind_it_is_read, layout) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        uint64_t n = 0, first_ns, last_ns;
        Page pages[4];
        const void *p;

        claim(r, pages, ELEMENTSOF(pages));
        s = source_of(r);
        ck_assert_uint_eq(s->n_pages, HUGE_PAGES);
        for (uint64_t i = 0; i < 4; i += n) {
                ck_assert_int_eq(page_source_read(s, i, &p, &n), 0);
                ck_assert_uint_ge(n, 1);
                ck_assert_uint_le(n, 4 - i);
        }
        for (unsigned i = 0; i < 2; i++) {
                ck_assert_int_eq(page_source_read(s, 4, &p, &n), SEGMENT_E_LOST);
                ck_assert_uint_eq(n, HUGE_PAGES - 5);
        }
        ck_assert_int_eq(page_source_read(s, HUGE_PAGES - 1, &p, &n), 0);
        ck_assert_uint_eq(n, 1);
        ck_assert_mem_eq(p, pages[0].bytes, BUILT_PAGE_BYTES);
        ck_assert_uint_eq(found.n_all, 1);
        ck_assert_int_eq(found.items[0].part, DAMAGE_HOLE);
        ck_assert_uint_eq(found.items[0].n_pages, HUGE_PAGES - 5);
        ck_assert_int_eq(page_source_span(s, false, &first_ns, &last_ns), 0);
        ck_assert_int_eq(try_to_seal(r), SEALED_WRITE_E_UNFIT);
}

TEST(no_more_is_looked_through_than_the_header_says) {
        for (unsigned has_header = 0; has_header < 2; has_header++) {
                _cleanup_(page_source_freep) PageSource *s = NULL;
                RECORDING(r, layout);
                _cleanup_close_ int fd = -EBADF;
                static const char zeros[SEALED_HEADER_BYTES];
                Page pages[8];
                const void *p;
                uint64_t n;

                fill(&r, pages, ELEMENTSOF(pages));
                (void) seal(r.dir, 1, 0, 4 * 4096);
                fd = file_of(&r);
                ck_assert_int_eq(ftruncate(fd, (off_t) 900 << 30), 0);
                if (!has_header)
                        ck_assert_int_eq(pwrite_full(fd, zeros, sizeof(zeros), 0), 0);
                s = source_of(&r);
                ck_assert_uint_eq(s->n_pages, ELEMENTSOF(pages));
                ck_assert_int_eq(page_source_read(s, 5, &p, &n), 0);
                ck_assert_mem_eq(p, pages[5].bytes, BUILT_PAGE_BYTES);
        }
}

RECORDING_TEST(what_does_not_decode_to_what_was_read_is_noticed, layout) {
        _cleanup_close_ int in = -EBADF, out = memfd_create("out", MFD_CLOEXEC);
        SealedSize size;
        Page pages[4];
        uint8_t byte;

        fill(r, pages, ELEMENTSOF(pages));
        in = session_dir_open_segment_file(r->dir, 1, 0);
        ck_assert_int_eq(sealed_write(out, &(SealedSource){ .fd = in, .block_bytes = 4096 }, &size),
                         0);
        ck_assert_int_eq(sealed_write_check(dup(out), &size), 0);
        for (uint64_t at = 0; at < size.n_bytes; at += UNIT_EVERY) {
                ck_assert_int_eq(pread_up_to(out, &byte, 1, at), 1);
                byte ^= 0x10;
                ck_assert_int_eq(pwrite_full(out, &byte, 1, at), 0);
                ck_assert_int_eq(sealed_write_check(dup(out), &size), SEALED_WRITE_E_DIFFERS);
                byte ^= 0x10;
                ck_assert_int_eq(pwrite_full(out, &byte, 1, at), 0);
        }
}

RECORDING_TEST(a_segment_elsewhere_than_it_says_is_damaged, layout) {
        _cleanup_(page_source_freep) PageSource *s = NULL;
        int fd;
        Page pages[2];

        fill(r, pages, 2);
        (void) seal(r->dir, 1, 0, 0);
        fd = session_dir_fd(r->dir);
        ck_assert_int_eq(renameat(fd, "cpu1/00000000.seg", fd, "cpu1/00000001.seg"), 0);
        ck_assert_int_eq(page_source_open(&s, r->dir, 1, 1, NULL), SEGMENT_E_DAMAGED);
        ck_assert_int_eq(page_source_open(&s, r->dir, 1, 0, NULL), -ENOENT);
}
