/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "codec/block.h"
#include "page-builder.h"
#include "segment-map.h"

static BlockCodec *codec_of(uint32_t page_bytes) {
        BlockCodec *c = MADE(BlockCodec, block_codec_new, page_bytes, false);

        return c;
}

static void add_format(BlockCodec *c, const char *session, const char *event) {
        _cleanup_free_ char *text = NULL;
        char path[4096];
        size_t n;

        (void) snprintf(path, sizeof(path),
                        "%s/tests/data/sessions/%s/tracing/events/ftrace/%s/format",
                        getenv("top_srcdir"), session, event);
        ck_assert_int_eq(file_read(AT_FDCWD, path, &text, &n, 1 << 20), 0);
        ck_assert_int_eq(block_codec_add_format(c, text, n), 0);
}

/* One that knows the calls of a session. */
static BlockCodec *codec_of_session(const char *session) {
        BlockCodec *c = codec_of(4096);

        add_format(c, session, "funcgraph_entry");
        add_format(c, session, "funcgraph_exit");
        return c;
}

static Segment *recorded(const char *session, unsigned cpu) {
        char path[4096];
        Segment *s;

        (void) snprintf(path, sizeof(path), "%s/tests/data/sessions/%s/cpu%u/00000000.seg",
                        getenv("top_srcdir"), session, cpu);
        ck_assert_int_eq(segment_take_fd(&s, open(path, O_RDONLY | O_CLOEXEC)), 0);
        return s;
}

/* Encodes, decodes with a codec that knows no formats, compares; the block's size. */
static size_t there_and_back(BlockCodec *c, uint32_t page_bytes, const void *pages,
                             size_t n_pages) {
        _cleanup_(block_codec_freep) BlockCodec *other = codec_of(page_bytes);
        _cleanup_free_ char *again = malloc(n_pages * page_bytes);
        _cleanup_buf_ Buf out = BUF_INIT;

        buf_adds(&out, "before");
        ck_assert_int_eq(block_encode(c, pages, n_pages, &out), 0);
        ck_assert_mem_eq(out.data, "before", 6);
        ck_assert_int_eq(block_decode(other, out.data + 6, out.n_data - 6, again, n_pages), 0);
        ck_assert_mem_eq(again, pages, n_pages * page_bytes);
        return out.n_data - 6;
}

static void fill(uint8_t *p, size_t n, uint32_t seed) {
        for (size_t i = 0; i < n; i++)
                p[i] = (uint8_t) ((seed = seed * 1664525 + 1013904223) >> 24);
}

static const char *const sessions[] = { "udp_sendmsg-6.1", "udp_sendmsg-6.12", "udp_sendmsg-new" };

TEST(pages_of_nothing_need_hardly_a_byte) {
        _cleanup_(block_codec_freep) BlockCodec *c = codec_of(4096);
        _cleanup_free_ void *pages = calloc(256, 4096);

        ck_assert_uint_lt(there_and_back(c, 4096, pages, 256), 512);
}

TEST(noise_comes_back_and_costs_little_more_than_itself) {
        static const uint32_t sizes[] = { 4096, 8192, 65536, 1 << 20 };

        for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
                _cleanup_(block_codec_freep) BlockCodec *c = codec_of(sizes[i]);
                _cleanup_free_ uint8_t *pages = malloc(BLOCK_BYTES_MAX);

                fill(pages, BLOCK_BYTES_MAX, 17 + (uint32_t) i);
                ck_assert_uint_lt(there_and_back(c, sizes[i], pages, BLOCK_BYTES_MAX / sizes[i]),
                                  BLOCK_BYTES_MAX + BLOCK_BYTES_MAX / 100);
                (void) there_and_back(c, sizes[i], pages, 1);
        }
}

TEST(real_pages_come_back_with_and_without_formats) {
        for (size_t i = 0; i < ELEMENTSOF(sessions); i++)
                for (unsigned cpu = 0; cpu < 2; cpu++) {
                        _cleanup_(segment_freep) Segment *s = recorded(sessions[i], cpu);
                        _cleanup_(block_codec_freep)
                                BlockCodec *plain = codec_of(4096),
                                           *knowing = codec_of_session(sessions[i]);

                        (void) there_and_back(plain, 4096, segment_page(s, 0), s->header.n_pages);
                        (void) there_and_back(knowing, 4096, segment_page(s, 0), s->header.n_pages);
                }
}

TEST(an_event_of_a_short_recording_takes_at_most_five_bytes) {
        static const size_t raw[] = { 34, 42, 36 }; /* bytes an event in these pages */

        if (HOST_BIG_ENDIAN)
                return; /* these pages are of the other order, for which there is zstd alone */
        for (size_t i = 0; i < ELEMENTSOF(sessions); i++) {
                _cleanup_(segment_freep) Segment *s = recorded(sessions[i], 0);
                _cleanup_(block_codec_freep) BlockCodec *c = codec_of_session(sessions[i]);
                size_t n = s->header.n_pages;

                /* Less the last page, which is hardly filled. */
                ck_assert_uint_le(there_and_back(c, 4096, segment_page(s, 0), n - 1),
                                  5 * (n - 1) * 4096 / raw[i]);
        }
}

TEST(real_pages_come_back_when_they_are_damaged) {
        _cleanup_(segment_freep) Segment *s = recorded("udp_sendmsg-new", 0);
        _cleanup_(block_codec_freep) BlockCodec *c = codec_of_session("udp_sendmsg-new");
        _cleanup_free_ uint8_t *pages = malloc(8 * 4096);

        srandom(unit_seed());
        for (int round = 0; round < 200; round++) {
                memcpy(pages, segment_page(s, 0), 8 * 4096);
                for (int i = 0; i < round; i++)
                        pages[random() % (8 * 4096)] ^= (uint8_t) (1 << random() % 8);
                (void) there_and_back(c, 4096, pages, 8);
        }
}

static BlockCodec *codec_for(const Layout *layout) {
        BlockCodec *c = codec_of(BUILT_PAGE_BYTES);

        ck_assert_int_eq(block_codec_add_format(c, layout->entry, strlen(layout->entry)), 0);
        ck_assert_int_eq(block_codec_add_format(c, layout->exit, strlen(layout->exit)), 0);
        return c;
}

TEST(what_is_behind_a_pages_events_comes_back) {
        _cleanup_(block_codec_freep) BlockCodec *c = codec_for(&layouts[LAYOUT_6_12]);
        Page p = {};

        page_begin(&p, &layouts[LAYOUT_6_12], 1000);
        page_enter(&p, 1100, 7, F_ROOT, 0);
        page_leave(&p, 1200, 7, F_ROOT, 0, 100);
        page_set_missed(&p, 5);
        (void) there_and_back(c, BUILT_PAGE_BYTES, p.bytes, 1);
        fill(p.bytes + 2000, BUILT_PAGE_BYTES - 2000, 3);
        (void) there_and_back(c, BUILT_PAGE_BYTES, p.bytes, 1);
}

TEST(records_of_all_sorts_come_back) {
        for (size_t i = 0; i < N_LAYOUTS; i++) {
                _cleanup_(block_codec_freep) BlockCodec *c = codec_for(&layouts[i]);
                uint32_t other[40] = { 77 };
                Page p = {};

                page_begin(&p, &layouts[i], UINT64_MAX - 50);
                page_enter(&p, UINT64_MAX - 50, 7, F_ROOT, 0);
                page_record(&p, UINT64_MAX - 40, other, 12);
                page_record(&p, UINT64_MAX - 30, other, sizeof(other));
                page_leave(&p, 1000, 8, F_MODULE, 1000, UINT64_MAX);
                page_enter(&p, UINT64_C(1) << 40, -1, 5, -3);
                page_word(&p, page_head(&p, 31, 99)); /* an absolute time */
                page_word(&p, 0xffffffff);
                page_leave(&p, UINT64_C(2) << 40, -1, 5, 200, 3);
                page_word(&p, page_head(&p, 29, 5)); /* a discarded record */
                page_word(&p, 8);
                page_word(&p, 0x12345678);
                page_enter(&p, UINT64_C(2) << 40, 0, 5, 200);
                page_word(&p, page_head(&p, 29, 0)); /* up to the end */
                page_word(&p, 0x12345678);
                (void) there_and_back(c, BUILT_PAGE_BYTES, p.bytes, 1);
        }
}

/* A page of 1 MiB full of entries of @n_tasks tasks and @n_functions functions. */
static void *fill_page(size_t n_tasks, size_t n_functions) {
        uint8_t *page = calloc(1, 1 << 20), *p = page + 16;
        uint64_t commit;

        for (uint32_t i = 0; p + 24 <= page + (1 << 20); i++, p += 24) {
                uint32_t record[6] = { 5 | (i % 1000) << 5,
                                       11,
                                       (uint32_t) (i % n_tasks),
                                       (uint32_t) (i * 7919 % n_functions),
                                       0xffffffff,
                                       0 };

                memcpy(p, record, sizeof(record));
        }
        commit = (uint64_t) (p - page - 16);
        memcpy(page + 8, &commit, sizeof(commit));
        return page;
}

TEST(more_tasks_and_functions_come_back_than_are_remembered) {
        static const size_t numbers[][2] = { { 1, 1 },        { 127, 10 },  { 128, 10 },
                                             { 129, 10 },     { 1000, 10 }, { 5, 16000 },
                                             { 5, 16383 },    { 5, 16384 }, { 5, 40000 },
                                             { 40000, 40000 } };
        const Layout *layout = &layouts[LAYOUT_6_1];

        for (size_t i = 0; i < ELEMENTSOF(numbers); i++) {
                _cleanup_free_ void *page = fill_page(numbers[i][0], numbers[i][1]);
                _cleanup_(block_codec_freep) BlockCodec *c = codec_of(1 << 20);

                ck_assert_int_eq(block_codec_add_format(c, layout->entry, strlen(layout->entry)),
                                 0);
                (void) there_and_back(c, 1 << 20, page, 1);
        }
}

TEST(pages_of_the_other_byte_order_come_back) {
        _cleanup_(segment_freep) Segment *s = recorded("udp_sendmsg-new", 0);
        _cleanup_(block_codec_freep) BlockCodec *c = MADE(BlockCodec, block_codec_new, 4096, true);

        add_format(c, "udp_sendmsg-new", "funcgraph_entry");
        (void) there_and_back(c, 4096, segment_page(s, 0), s->header.n_pages);
}

TEST(formats_that_contradict_each_other_do_no_harm) {
        _cleanup_(segment_freep) Segment *s = recorded("udp_sendmsg-new", 0);
        _cleanup_(block_codec_freep) BlockCodec *c = codec_of(4096);

        for (size_t i = 0; i < N_LAYOUTS; i++) {
                _cleanup_free_ char *same_id = strdup(layouts[i].exit);

                memcpy(strstr(same_id, "ID: 1"), "ID: 11", 6);
                ck_assert_int_eq(
                        block_codec_add_format(c, layouts[i].exit, strlen(layouts[i].exit)), 0);
                (void) there_and_back(c, 4096, segment_page(s, 0), 8);
                ck_assert_int_eq(block_codec_add_format(c, same_id, strlen(same_id)), 0);
                (void) there_and_back(c, 4096, segment_page(s, 0), 8);
                add_format(c, "udp_sendmsg-new", "funcgraph_entry");
                (void) there_and_back(c, 4096, segment_page(s, 0), 8);
        }
}

TEST(blocks_that_were_written_before_are_read) {
        static const struct {
                const char *file, *session;
                unsigned cpu, first, n_pages;
        } blocks[] = {
                { "linux-6.1", "udp_sendmsg-6.1", 0, 2, 2 },
                { "linux-6.12", "udp_sendmsg-6.12", 0, 2, 2 },
                { "linux-7.2", "udp_sendmsg-new", 0, 2, 2 },
                { "linux-6.1-last-pages", "udp_sendmsg-6.1", 1, 7, 3 },
                { "linux-6.12-last-pages", "udp_sendmsg-6.12", 1, 7, 3 },
                { "linux-7.2-last-pages", "udp_sendmsg-new", 1, 7, 3 },
        };
        _cleanup_(block_codec_freep) BlockCodec *c = codec_of(4096);

        for (size_t i = 0; i < ELEMENTSOF(blocks); i++) {
                _cleanup_(segment_freep) Segment *s = recorded(blocks[i].session, blocks[i].cpu);
                _cleanup_free_ char *block = NULL, *pages = malloc(3 * 4096);
                char path[4096];
                size_t n;

                (void) snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/block/%s",
                                getenv("top_srcdir"), blocks[i].file);
                ck_assert_int_eq(file_read(AT_FDCWD, path, &block, &n, 1 << 20), 0);
                ck_assert_int_eq(block[0], BLOCK_COLUMNS);
                ck_assert_int_eq(block_decode(c, block, n, pages, blocks[i].n_pages), 0);
                ck_assert_mem_eq(pages, segment_page(s, blocks[i].first), blocks[i].n_pages * 4096);
        }
}

TEST(no_damage_goes_unnoticed) {
        _cleanup_(segment_freep) Segment *s = recorded("udp_sendmsg-6.12", 0);
        _cleanup_(block_codec_freep) BlockCodec *c = codec_of_session("udp_sendmsg-6.12");
        _cleanup_free_ char *again = malloc(4 * 4096), *copy = NULL;
        _cleanup_buf_ Buf out = BUF_INIT;

        ck_assert_int_eq(block_encode(c, segment_page(s, 1), 4, &out), 0);
        for (size_t i = 0; i < out.n_data; i++) {
                int r;

                out.data[i] ^= (char) (1 << i % 8);
                r = block_decode(c, out.data, out.n_data, again, 4);
                out.data[i] ^= (char) (1 << i % 8);
                if (r == 0) /* a bit that means nothing */
                        ck_assert_mem_eq(again, segment_page(s, 1), 4 * 4096);
                else
                        ck_assert_int_eq(r, BLOCK_E_DAMAGED);
        }
        for (size_t n = 0; n < out.n_data; n++) {
                /* Of the exact size, so that a sanitizer sees one byte too many. */
                copy = realloc(copy, n ?: 1);
                memcpy(copy, out.data, n);
                ck_assert_int_eq(block_decode(c, copy, n, again, 4), BLOCK_E_DAMAGED);
        }
}

TEST(other_pages_than_the_blocks_are_refused) {
        _cleanup_(block_codec_freep) BlockCodec *c = codec_of(4096);
        _cleanup_(block_codec_freep) BlockCodec *large = codec_of(8192);
        _cleanup_free_ char *pages = calloc(4, 4096);
        _cleanup_buf_ Buf out = BUF_INIT;

        ck_assert_int_eq(block_encode(c, pages, 2, &out), 0);
        ck_assert_int_eq(block_decode(c, out.data, out.n_data, pages, 1), BLOCK_E_DAMAGED);
        ck_assert_int_eq(block_decode(c, out.data, out.n_data, pages, 3), BLOCK_E_DAMAGED);
        ck_assert_int_eq(block_decode(large, out.data, out.n_data, pages, 1), BLOCK_E_DAMAGED);
        buf_add(&out, "", 1);
        ck_assert_int_eq(block_decode(c, out.data, out.n_data, pages, 2), BLOCK_E_DAMAGED);
}

TEST(what_is_no_block_of_pages_is_refused) {
        static const uint32_t sizes[] = { 0, 2048, 4095, 12288, 2 << 20 };
        _cleanup_(block_codec_freep) BlockCodec *c = codec_of(4096);
        _cleanup_free_ char *pages = calloc(257, 4096);
        _cleanup_buf_ Buf out = BUF_INIT;
        BlockCodec *none = NULL;

        for (size_t i = 0; i < ELEMENTSOF(sizes); i++)
                ck_assert_int_eq(block_codec_new(&none, sizes[i], false), -EINVAL);
        ck_assert_ptr_null(none);
        ck_assert_int_eq(block_encode(c, pages, 0, &out), -EINVAL);
        ck_assert_int_eq(block_encode(c, pages, 257, &out), -EINVAL);
        ck_assert_uint_eq(out.n_data, 0);
}
