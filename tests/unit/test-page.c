/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <byteswap.h>
#include <string.h>

#include "store/page.h"
#include "unit.h"

#define N 4096
#define ROOM (N - PAGE_HEADER_BYTES)
#define MISSED (UINT64_C(1) << 31)
#define STORED (UINT64_C(1) << 30)

static uint8_t page[N];

static void put(size_t at, uint64_t word) {
        memcpy(page + at, &word, sizeof(word));
}

static void make(uint64_t timestamp, uint64_t commit) {
        memset(page, 0, sizeof(page));
        put(0, timestamp);
        put(8, commit);
}

START_TEST(an_ordinary_page_is_read)
        {
                PageInfo info;

                make(0x123456789abcdef, 1000);
                ck_assert_int_eq(page_parse(&info, page, N, false), 0);
                ck_assert_uint_eq(info.timestamp, 0x123456789abcdef);
                ck_assert_uint_eq(info.n_payload, 1000);
                ck_assert(!info.missed);
                ck_assert_uint_eq(info.n_missed, 0);
        }
END_TEST

START_TEST(the_other_byte_order_is_read)
        {
                PageInfo info;

                make(bswap_64(77), bswap_64(64 | MISSED | STORED));
                put(PAGE_HEADER_BYTES + 64, bswap_64(5));
                ck_assert_int_eq(page_parse(&info, page, N, true), 0);
                ck_assert_uint_eq(info.timestamp, 77);
                ck_assert_uint_eq(info.n_payload, 64);
                ck_assert(info.missed);
                ck_assert_uint_eq(info.n_missed, 5);
        }
END_TEST

START_TEST(a_full_page_has_no_room_for_the_count)
        {
                PageInfo info;

                make(1, ROOM | MISSED | STORED);
                ck_assert_int_eq(page_parse(&info, page, N, false), 0);
                ck_assert(info.missed);
                ck_assert_uint_eq(info.n_missed, 0);
                make(1, (ROOM - 7) | MISSED | STORED);
                ck_assert_int_eq(page_parse(&info, page, N, false), 0);
                ck_assert_uint_eq(info.n_missed, 0);
                make(1, (ROOM - 8) | MISSED | STORED);
                put(N - 8, 9);
                ck_assert_int_eq(page_parse(&info, page, N, false), 0);
                ck_assert_uint_eq(info.n_missed, 9);
        }
END_TEST

START_TEST(a_count_that_is_not_announced_is_not_read)
        {
                PageInfo info;

                make(1, 64 | MISSED);
                put(PAGE_HEADER_BYTES + 64, 5);
                ck_assert_int_eq(page_parse(&info, page, N, false), 0);
                ck_assert(info.missed);
                ck_assert_uint_eq(info.n_missed, 0);
                make(1, 64 | STORED);
                put(PAGE_HEADER_BYTES + 64, 5);
                ck_assert_int_eq(page_parse(&info, page, N, false), 0);
                ck_assert(!info.missed);
                ck_assert_uint_eq(info.n_missed, 0);
        }
END_TEST

START_TEST(every_length_that_does_not_fit_is_torn)
        {
                for (uint64_t n = 0; n < 3 * N; n++) {
                        PageInfo info = { .timestamp = 42 };
                        int r;

                        make(1, n);
                        r = page_parse(&info, page, N, false);
                        ck_assert_int_eq(r, n > ROOM ? PAGE_E_TORN : 0);
                        ck_assert_uint_eq(info.timestamp, r == 0 ? 1 : 42);
                }
        }
END_TEST

START_TEST(only_a_page_of_zeroes_is_empty)
        {
                PageInfo info;

                make(0, 0);
                ck_assert_int_eq(page_parse(&info, page, N, false), PAGE_E_EMPTY);
                page[N - 1] = 1;
                ck_assert_int_eq(page_parse(&info, page, N, false), PAGE_E_TORN);
                make(7, 0);
                ck_assert_int_eq(page_parse(&info, page, N, false), 0);
                ck_assert_uint_eq(info.n_payload, 0);
        }
END_TEST

START_TEST(a_page_of_a_header_alone_is_read)
        {
                PageInfo info;

                make(0, 0);
                ck_assert_int_eq(page_parse(&info, page, PAGE_HEADER_BYTES, false), PAGE_E_EMPTY);
                make(3, MISSED | STORED);
                ck_assert_int_eq(page_parse(&info, page, PAGE_HEADER_BYTES, false), 0);
                ck_assert(info.missed);
                make(3, 1);
                ck_assert_int_eq(page_parse(&info, page, PAGE_HEADER_BYTES, false), PAGE_E_TORN);
        }
END_TEST

UNIT_SUITE("page", an_ordinary_page_is_read, the_other_byte_order_is_read,
           a_full_page_has_no_room_for_the_count, a_count_that_is_not_announced_is_not_read,
           every_length_that_does_not_fit_is_torn, only_a_page_of_zeroes_is_empty,
           a_page_of_a_header_alone_is_read)
