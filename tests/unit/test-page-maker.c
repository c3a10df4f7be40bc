/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "codec/page-maker.h"
#include "decode/records.h"
#include "store/page.h"
#include "unit.h"

#define PAGE_BYTES 4096

static PageMaker maker;
static bool is_big; /* of the recording */

static Records read_page(PageInfo *info) {
        const uint8_t *page = page_maker_finish(&maker);
        Records w;

        ck_assert_ptr_nonnull(page);
        ck_assert_int_eq(page_parse(info, page, PAGE_BYTES, is_big != HOST_BIG_ENDIAN), 0);
        records_init(&w, page + PAGE_HEADER_BYTES, info->n_payload, info->timestamp, is_big);
        return w;
}

START_TEST(records_are_read_as_they_were_put_in)
        {
                static const struct {
                        uint64_t at_ns;
                        size_t n;
                } cases[] = {
                        { 1000, 4 },
                        { 1000, 112 },
                        { 1001, 116 },
                        { 200000000, 28 },
                        { 3000000000000, 2000 },
                        { 3000000000000, 0 },
                        { UINT64_C(1) << 58, 8 },
                };
                uint8_t data[2000];
                PageInfo info;
                Record r;
                Records w;

                ck_assert_int_eq(page_maker_init(&maker, PAGE_BYTES, is_big), 0);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        memset(data, (int) i, sizeof(data));
                        ck_assert_int_eq(page_maker_add(&maker, cases[i].at_ns, data, cases[i].n),
                                         0);
                }
                w = read_page(&info);
                ck_assert_uint_eq(info.timestamp, 1000);
                ck_assert(!info.missed);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        ck_assert_int_eq(records_next(&w, &r), 0);
                        ck_assert_uint_eq(r.timestamp_ns, cases[i].at_ns);
                        ck_assert_uint_eq(r.n_data, cases[i].n);
                        for (size_t k = 0; k < r.n_data; k++)
                                ck_assert_uint_eq(r.data[k], i);
                }
                ck_assert_int_eq(records_next(&w, &r), RECORDS_E_END);
                ck_assert_ptr_null(page_maker_finish(&maker));
                page_maker_done(&maker);
        }
END_TEST

START_TEST(a_page_is_filled_to_its_end_and_not_beyond)
        {
                const uint8_t data[20] = {};
                PageInfo info;
                unsigned n = 0;

                ck_assert_int_eq(page_maker_init(&maker, PAGE_BYTES, is_big), 0);
                while (page_maker_add(&maker, n, data, sizeof(data)) == 0)
                        n++;
                ck_assert_uint_eq(n, (PAGE_BYTES - 16) / 24);
                (void) read_page(&info);
                ck_assert_uint_eq(info.n_payload, 24 * n);
                page_maker_done(&maker);
        }
END_TEST

START_TEST(time_that_goes_back_begins_a_page)
        {
                const uint8_t data[8] = {};

                ck_assert_int_eq(page_maker_init(&maker, PAGE_BYTES, is_big), 0);
                ck_assert_int_eq(page_maker_add(&maker, 50, data, 8), 0);
                ck_assert_int_eq(page_maker_add(&maker, 49, data, 8), PAGE_MAKER_E_FULL);
                ck_assert_ptr_nonnull(page_maker_finish(&maker));
                ck_assert_int_eq(page_maker_add(&maker, 49, data, 8), 0);
                page_maker_done(&maker);
        }
END_TEST

START_TEST(a_loss_stands_in_the_head_of_the_page_behind_it)
        {
                uint8_t data[4072] = {};
                PageInfo info;

                ck_assert_int_eq(page_maker_init(&maker, PAGE_BYTES, is_big), 0);
                ck_assert_int_eq(page_maker_add(&maker, 50, data, 8), 0);
                ck_assert_int_eq(page_maker_lose(&maker, 7), PAGE_MAKER_E_FULL);
                ck_assert_ptr_nonnull(page_maker_finish(&maker));
                ck_assert_int_eq(page_maker_lose(&maker, 7), 0);
                ck_assert_int_eq(page_maker_lose(&maker, 2), 0);
                ck_assert_int_eq(page_maker_add(&maker, 60, data, 8), 0);
                /* The number needs room. */
                ck_assert_int_eq(page_maker_add(&maker, 60, data, 4056), PAGE_MAKER_E_FULL);
                (void) read_page(&info);
                ck_assert(info.missed);
                ck_assert_uint_eq(info.n_missed, 9);
                /* That it is one need not. */
                ck_assert_int_eq(page_maker_lose(&maker, 7), 0);
                ck_assert_int_eq(page_maker_add(&maker, 60, data, 4072), 0);
                (void) read_page(&info);
                ck_assert(info.missed);
                ck_assert_uint_eq(info.n_missed, 0);
                /* One that is not known makes the sum so. */
                ck_assert_int_eq(page_maker_lose(&maker, 0), 0);
                ck_assert_int_eq(page_maker_lose(&maker, 7), 0);
                ck_assert_int_eq(page_maker_add(&maker, 60, data, 8), 0);
                (void) read_page(&info);
                ck_assert_uint_eq(info.n_missed, 0);
                page_maker_done(&maker);
        }
END_TEST

START_TEST(of_a_big_endian_machine_they_are_big_endian)
        {
                const uint8_t data[120] = { 0x11, 0x22 };
                PageInfo info;
                Records w;
                Record r;

                is_big = true;
                ck_assert_int_eq(page_maker_init(&maker, PAGE_BYTES, is_big), 0);
                ck_assert_int_eq(page_maker_lose(&maker, 7), 0);
                ck_assert_int_eq(page_maker_add(&maker, 1000, data, 8), 0);
                ck_assert_int_eq(page_maker_add(&maker, UINT64_C(1) << 40, data, sizeof(data)), 0);
                ck_assert_uint_eq(maker.page[PAGE_HEADER_BYTES], 2 << 3);
                w = read_page(&info);
                ck_assert_uint_eq(info.timestamp, 1000);
                ck_assert_uint_eq(info.n_missed, 7);
                ck_assert_int_eq(records_next(&w, &r), 0);
                ck_assert_int_eq(memcmp(r.data, data, 8), 0);
                ck_assert_int_eq(records_next(&w, &r), 0);
                ck_assert_uint_eq(r.timestamp_ns, UINT64_C(1) << 40);
                ck_assert_uint_eq(r.n_data, sizeof(data));
                ck_assert_int_eq(records_next(&w, &r), RECORDS_E_END);
                page_maker_done(&maker);
                is_big = false;
        }
END_TEST

UNIT_SUITE("page-maker", records_are_read_as_they_were_put_in,
           a_page_is_filled_to_its_end_and_not_beyond, time_that_goes_back_begins_a_page,
           a_loss_stands_in_the_head_of_the_page_behind_it,
           of_a_big_endian_machine_they_are_big_endian)
