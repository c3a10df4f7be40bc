/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Every byte of a small sealed segment is flipped, and the file is cut at every byte.  Whatever is
 * hit is named, and nothing else is lost.
 */

#include <sys/mman.h>

#include "page-builder.h"
#include "pages/page-source.h"
#include "sealing.h"

#define N_PAGES 10
#define PAGES_PER_BLOCK 2
#define N_BLOCKS (N_PAGES / PAGES_PER_BLOCK)

typedef struct Sample {
        Page pages[N_PAGES];
        Recording recording;
        int fd; /* of a copy that may be damaged */
        uint8_t *whole;
        uint64_t n_whole;
        uint64_t begins[N_BLOCKS + 1]; /* of the blocks, and of the index */
        Damages found;                 /* in the source that was opened last */
} Sample;

static void sample_init(Sample *s) {
        _cleanup_(page_source_freep) PageSource *source = NULL;
        _cleanup_close_ int fd = -EBADF;
        const SealedReader *reader;

        recording_init(&s->recording, &layouts[LAYOUT_6_12]);
        for (unsigned i = 0; i < N_PAGES; i++) {
                page_begin(&s->pages[i], &layouts[LAYOUT_6_12], 1000 * i);
                for (unsigned k = 0; k < 4 + i; k++)
                        page_enter(&s->pages[i], 1000 * i + k, 17, F_ROOT + 16 * k, (int32_t) k);
        }
        recording_add(&s->recording, 0, 0, s->pages, N_PAGES);
        s->n_whole = seal(s->recording.dir, 0, 0, PAGES_PER_BLOCK * 4096).n_bytes;
        fd = session_dir_open_segment_file(s->recording.dir, 0, 0);
        s->whole = malloc(s->n_whole);
        ck_assert_int_eq(pread_up_to(fd, s->whole, s->n_whole, 0), (ssize_t) s->n_whole);
        s->fd = memfd_create("sealed", MFD_CLOEXEC);
        ck_assert_int_eq(pwrite_full(s->fd, s->whole, s->n_whole, 0), 0);

        ck_assert_int_eq(page_source_open(&source, s->recording.dir, 0, 0, NULL), 0);
        reader = source->sealed;
        ck_assert_uint_eq(reader->n_found, N_BLOCKS);
        for (size_t i = 0; i < N_BLOCKS; i++) {
                const SealedEntry *e = &reader->found[i].entry;

                s->begins[i] = e->offset;
                s->begins[i + 1] = e->offset + SEALED_BLOCK_HEADER_BYTES + e->n_body;
        }
        ck_assert_uint_eq(s->begins[N_BLOCKS] + N_BLOCKS * sizeof(SealedEntry) +
                                  sizeof(SealedFooter),
                          s->n_whole);
}

static void sample_done(Sample *s) {
        recording_done(&s->recording);
        safe_close(s->fd);
        free(s->whole);
}

#define SAMPLE(s)                                                                                  \
        _cleanup_(sample_done) Sample s = {};                                                      \
        sample_init(&s)
#define SAMPLE_TEST(name) TEST_WITH(name, (Sample * s), SAMPLE(s), &s)

static PageSource *open_sample(Sample *s) {
        PageSource *source = NULL;

        s->found = (Damages){};
        return page_source_take_fd(&source, dup(s->fd), &s->found) == 0 ? source : NULL;
}

/* Reads all pages: those of the blocks in the set @lost, a bit each, are lost and no others. */
static void expect_lost(const Sample *s, PageSource *source, unsigned lost, uint64_t at) {
        uint64_t n;

        for (uint64_t i = 0; i < source->n_pages; i += n) {
                bool is_lost = lost & (1U << i / PAGES_PER_BLOCK);
                const void *p;
                int r = page_source_read(source, i, &p, &n);

                ck_assert_msg(r == (is_lost ? SEGMENT_E_LOST : 0),
                              "damage at %llu: page %llu gives %i", (unsigned long long) at,
                              (unsigned long long) i, r);
                if (r == 0)
                        ck_assert_mem_eq(p, s->pages[i].bytes, BUILT_PAGE_BYTES);
                n = r == 0 ? 1 : n;
        }
}

/* Whether a damage of @part is named, and of a block that @block is among those meant. */
static bool is_named(const Sample *s, DamagePart part, uint32_t block) {
        const Damage *d = s->found.items;

        for (size_t i = 0; i < s->found.n; i++) {
                if (d[i].part != part)
                        continue;
                if (part != DAMAGE_BLOCK ||
                    (d[i].block <= block &&
                     (d[i].n_blocks == 0 || block < d[i].block + d[i].n_blocks)))
                        return true;
        }
        return false;
}

static void check_flip(Sample *s, uint64_t at, bool has_index) {
        _cleanup_(page_source_freep) PageSource *source = open_sample(s);
        unsigned lost = 0;

        ck_assert_msg(source, "flipped at %llu: not opened", (unsigned long long) at);
        ck_assert_uint_eq(source->n_pages, N_PAGES);
        for (unsigned i = 0; i < N_BLOCKS; i++)
                if (at >= s->begins[i] && at < s->begins[i + 1])
                        lost = 1U << i;
        expect_lost(s, source, lost, at);
        ck_assert_int_eq(is_named(s, DAMAGE_HEADER, 0), at < s->begins[0]);
        ck_assert_int_eq(is_named(s, DAMAGE_INDEX, 0), !has_index || at >= s->begins[N_BLOCKS]);
        for (unsigned i = 0; i < N_BLOCKS; i++)
                ck_assert_msg(is_named(s, DAMAGE_BLOCK, i) == (lost == 1U << i),
                              "flipped at %llu: is block %u named?", (unsigned long long) at, i);
}

static void flip_each_byte(bool has_index, uint8_t mask) {
        SAMPLE(s);

        if (!has_index)
                ck_assert_int_eq(ftruncate(s.fd, (off_t) s.begins[N_BLOCKS]), 0);
        for (uint64_t at = 0; at < (has_index ? s.n_whole : s.begins[N_BLOCKS]);
             at += UNIT_EVERY) {
                uint8_t byte = s.whole[at] ^ mask;

                ck_assert_int_eq(pwrite_full(s.fd, &byte, 1, at), 0);
                check_flip(&s, at, has_index);
                ck_assert_int_eq(pwrite_full(s.fd, &s.whole[at], 1, at), 0);
        }
}

TEST(a_flipped_byte_costs_its_block_alone) {
        flip_each_byte(true, 0x01);
        flip_each_byte(true, 0xff);
}

TEST(a_flipped_byte_costs_its_block_alone_without_an_index) {
        flip_each_byte(false, 0x80);
}

SAMPLE_TEST(a_cut_costs_the_blocks_behind_it_alone) {
        for (uint64_t at = s->n_whole - 1; at > 0 && at < s->n_whole; at -= UNIT_EVERY) {
                _cleanup_(page_source_freep) PageSource *source = NULL;
                unsigned lost = 0;

                ck_assert_int_eq(ftruncate(s->fd, (off_t) at), 0);
                source = open_sample(s);
                if (at < SEALED_HEADER_BYTES) {
                        ck_assert_ptr_null(source);
                        continue;
                }
                ck_assert_ptr_nonnull(source);
                ck_assert_uint_eq(source->n_pages, N_PAGES);
                for (unsigned i = 0; i < N_BLOCKS; i++)
                        if (at < s->begins[i + 1])
                                lost |= 1U << i;
                expect_lost(s, source, lost, at);
                ck_assert(is_named(s, DAMAGE_INDEX, 0));
                for (unsigned i = 0; i < N_BLOCKS; i++)
                        ck_assert_int_eq(is_named(s, DAMAGE_BLOCK, i), !!(lost & (1U << i)));
        }
}

SAMPLE_TEST(blocks_are_found_behind_a_hole) {
        _cleanup_(page_source_freep) PageSource *source = NULL;
        _cleanup_free_ uint8_t *zeroes = NULL;
        size_t n;

        /* The header, the index, and all of blocks 1 and 2 but their last byte. */
        n = s->begins[3] - s->begins[1] - 1;
        zeroes = calloc(1, s->n_whole);
        ck_assert_int_eq(pwrite_full(s->fd, zeroes, SEALED_HEADER_BYTES, 0), 0);
        ck_assert_int_eq(pwrite_full(s->fd, zeroes, n, s->begins[1]), 0);
        n = s->n_whole - s->begins[N_BLOCKS];
        ck_assert_int_eq(pwrite_full(s->fd, zeroes, n, s->begins[N_BLOCKS]), 0);
        source = open_sample(s);
        ck_assert_ptr_nonnull(source);
        ck_assert_uint_eq(source->n_pages, N_PAGES);
        expect_lost(s, source, 1 << 1 | 1 << 2, s->begins[1]);
        ck_assert(is_named(s, DAMAGE_HEADER, 0));
        ck_assert(is_named(s, DAMAGE_INDEX, 0));
        ck_assert(is_named(s, DAMAGE_BLOCK, 1));
        ck_assert(is_named(s, DAMAGE_BLOCK, 2));
}

SAMPLE_TEST(a_block_of_another_segment_is_not_taken_for_one_of_ours) {
        _cleanup_(page_source_freep) PageSource *source = NULL;
        SealedBlock b;

        ck_assert_int_eq(sealed_block_parse(&b, s->whole + s->begins[2], s->n_whole - s->begins[2]),
                         0);
        b.session_id[3] ^= 1;
        sealed_block_format(&b);
        ck_assert_int_eq(pwrite_full(s->fd, &b, sizeof(b), s->begins[2]), 0);
        for (int has_index = 1; has_index >= 0; has_index--) {
                if (!has_index)
                        ck_assert_int_eq(ftruncate(s->fd, (off_t) s->n_whole - 1), 0);
                source = page_source_free(source);
                source = open_sample(s);
                expect_lost(s, source, 1 << 2, s->begins[2]);
                ck_assert(is_named(s, DAMAGE_BLOCK, 2));
        }
}

SAMPLE_TEST(a_newer_version_is_refused_by_its_number) {
        _cleanup_(page_source_freep) PageSource *source = NULL;
        SealedHeader h;
        uint64_t n_pages;
        Damages found = {};
        int dir_fd;

        memcpy(&h, s->whole, sizeof(h));
        h.version = htole32(3);
        h.page_bytes = 0; /* it may mean anything there */
        h.checksum = htole64(sealed_checksum(&h, SEALED_HEADER_BYTES - 8));
        ck_assert_int_eq(pwrite_full(s->fd, &h, sizeof(h), 0), 0);
        ck_assert_int_eq(page_source_take_fd(&source, dup(s->fd), &found), SEGMENT_E_NEWER);
        ck_assert_uint_eq(found.n, 1);
        ck_assert_uint_eq(found.items[0].block, 3);

        dir_fd = session_dir_fd(s->recording.dir);
        scratch_write(dir_fd, "newer", &h, sizeof(h));
        ck_assert_int_eq(segment_recover(dir_fd, "newer", &n_pages), SEGMENT_E_NEWER);
        /* Only its checksum makes it a newer one. */
        h.checksum ^= 1;
        scratch_write(dir_fd, "newer", &h, sizeof(h));
        ck_assert_int_eq(segment_recover(dir_fd, "newer", &n_pages), SEGMENT_E_DAMAGED);
}

SAMPLE_TEST(recovery_leaves_a_sealed_segment_as_it_is) {
        uint64_t n_pages;

        ck_assert_int_eq(
                segment_recover(session_dir_fd(s->recording.dir), "cpu0/00000000.seg", &n_pages),
                0);
        ck_assert_uint_eq(n_pages, N_PAGES);
}

TEST(a_torn_live_segment_loses_less_than_a_page) {
        _cleanup_recording_ Recording r;
        _cleanup_close_ int fd = -EBADF;
        const uint32_t writing = 0;
        const uint64_t n_published = 0;
        Page pages[3] = {};

        recording_init(&r, &layouts[LAYOUT_6_12]);
        for (unsigned i = 0; i < 3; i++) {
                page_begin(&pages[i], &layouts[LAYOUT_6_12], 1000 * i);
                page_enter(&pages[i], 1000 * i + 1, 17, F_ROOT, 0);
                /* The last byte of a page that is there counts, too. */
                pages[i].bytes[BUILT_PAGE_BYTES - 1] = 1;
        }
        recording_add(&r, 0, 0, pages, 3);
        fd = openat(session_dir_fd(r.dir), "cpu0/00000000.seg", O_RDWR | O_CLOEXEC);
        for (off_t at = 4096 + 3 * 4096; at >= 4096; at--) {
                _cleanup_(page_source_freep) PageSource *source = NULL;
                uint64_t n, n_expected = (uint64_t) (at - 4096) / 4096;

                /* The writer died before it could count any of them. */
                ck_assert_int_eq(pwrite_full(fd, &writing, 4, 48), 0);
                ck_assert_int_eq(pwrite_full(fd, &n_published, 8, 56), 0);
                ck_assert_int_eq(ftruncate(fd, at), 0);
                ck_assert_int_eq(segment_recover(session_dir_fd(r.dir), "cpu0/00000000.seg", &n),
                                 0);
                ck_assert_uint_eq(n, n_expected);
                ck_assert_int_eq(page_source_open(&source, r.dir, 0, 0, NULL), 0);
                ck_assert_uint_eq(source->n_pages, n_expected);
                for (uint64_t i = 0; i < n_expected; i++) {
                        const void *p;

                        ck_assert_int_eq(page_source_read(source, i, &p, &n), 0);
                        ck_assert_mem_eq(p, pages[i].bytes, BUILT_PAGE_BYTES);
                }
        }
}
