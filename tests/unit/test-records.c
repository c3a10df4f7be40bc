/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "decode/records.h"
#include "page-builder.h"
#include "store/page.h"

static const uint8_t eight[8] = "abcdefg";

static Records walk(const Page *p, uint64_t timestamp_ns) {
        Records w;

        records_init(&w, p->bytes + PAGE_HEADER_BYTES, p->n_payload, timestamp_ns, p->big_endian);
        return w;
}

static void expect(Records *w, uint64_t timestamp_ns, size_t n) {
        Record r;

        ck_assert_int_eq(records_next(w, &r), 0);
        ck_assert_uint_eq(r.timestamp_ns, timestamp_ns);
        ck_assert_uint_eq(r.n_data, n);
}

static void expect_end(Records *w, int end) {
        Record r;

        ck_assert_int_eq(records_next(w, &r), end);
        ck_assert_int_eq(records_next(w, &r), end);
        ck_assert_int_eq(w->problem != NULL, end == RECORDS_E_DAMAGED);
}

TEST(records_come_in_order_with_their_times) {
        for (int big = 0; big < 2; big++) {
                Page p = { .big_endian = big };
                uint8_t large[200] = { 1, 2, 3 };
                Records w;

                page_begin(&p, &layouts[LAYOUT_6_1], 1000);
                page_record(&p, 1005, eight, 8);
                page_record(&p, 1005 + (5ULL << 40), eight, 4);
                page_record(&p, 1006 + (5ULL << 40), large, sizeof(large));
                w = walk(&p, 1000);
                expect(&w, 1005, 8);
                expect(&w, 1005 + (5ULL << 40), 4);
                expect(&w, 1006 + (5ULL << 40), 200);
                expect_end(&w, RECORDS_E_END);
        }
}

TEST(an_absolute_time_keeps_the_upper_bits) {
        const uint64_t before = (3ULL << 59) + 100, stamp = 5000;
        Page p = {};
        Records w;

        page_begin(&p, &layouts[LAYOUT_6_1], before);
        page_word(&p, page_head(&p, 31, stamp & ((1U << 27) - 1)));
        page_word(&p, (uint32_t) (stamp >> 27));
        page_word(&p, page_head(&p, 2, 7));
        page_word(&p, 0);
        page_word(&p, 0);
        w = walk(&p, before);
        expect(&w, (3ULL << 59) + 5007, 8);
        /* Less than the time before: the 59 bits have come round. */
        w = walk(&p, (3ULL << 59) + 6000);
        expect(&w, (4ULL << 59) + 5007, 8);
}

TEST(padding_is_stepped_over) {
        Page p = {};
        Records w;

        page_begin(&p, &layouts[LAYOUT_6_1], 0);
        page_word(&p, page_head(&p, 29, 3)); /* discarded: 8 bytes behind the head */
        page_word(&p, 8);
        page_word(&p, 0xffffffff);
        page_record(&p, 4, eight, 8);
        page_word(&p, page_head(&p, 29, 1)); /* a delta of 1 stands for 0 */
        page_word(&p, 4);
        page_record(&p, 6, eight, 8);
        page_word(&p, page_head(&p, 29, 0));
        page_word(&p, 0xffffffff);
        w = walk(&p, 0);
        expect(&w, 3 + 4, 8);
        expect(&w, 3 + 6, 8);
        expect_end(&w, RECORDS_E_END);
}

TEST(an_impossible_length_ends_the_page) {
        static const struct {
                uint32_t type, word;
        } bad[] = {
                { 0, 0 },  { 0, 3 },          { 0, 13 },         { 0, 6 },
                { 0, 64 }, { 0, 0xffffffff }, { 0, 0xfffffffc }, { 29, 0xfffffff8 },
                { 29, 0 }, { 29, 6 },         { 28, 0 },         { 4, 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                Page p = {};
                Records w;

                page_begin(&p, &layouts[LAYOUT_6_1], 0);
                page_record(&p, 1, eight, 8);
                page_word(&p, page_head(&p, bad[i].type, 5));
                page_word(&p, bad[i].word);
                page_word(&p, 0);
                page_word(&p, 0);
                w = walk(&p, 0);
                expect(&w, 1, 8);
                expect_end(&w, RECORDS_E_DAMAGED);
        }
}

TEST(a_payload_may_end_anywhere) {
        Page p = {};

        page_begin(&p, &layouts[LAYOUT_6_1], 0);
        page_record(&p, 1ULL << 30, eight, 8);
        page_record(&p, (1ULL << 30) + 1, eight, 8);
        for (size_t n = 0; n <= p.n_payload; n++) {
                _cleanup_free_ uint8_t *copy = malloc(n ?: 1);
                Records w;
                Record r;
                int k;

                memcpy(copy, p.bytes + PAGE_HEADER_BYTES, n);
                records_init(&w, copy, n, 0, false);
                while ((k = records_next(&w, &r)) == 0)
                        ck_assert_uint_le((size_t) (r.data - copy) + r.n_data, n);
                ck_assert(k == RECORDS_E_DAMAGED || n % 4 == 0);
        }
}
