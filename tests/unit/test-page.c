/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <byteswap.h>

#include "base/cleanup.h"
#include "store/page.h"
#include "unit.h"

#define N 4096
#define HEAD PAGE_HEADER_BYTES
#define ROOM (N - HEAD)
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

TEST(a_page_says_what_its_two_words_say_and_nothing_that_does_not_fit) {
        static const struct {
                uint64_t timestamp, commit;
                uint64_t at, word; /* a word that stands there besides */
                size_t n_page;
                int r;
                PageInfo info;
        } cases[] = {
                { 0x123456789abcdef, 1000, .n_page = N,
                  .info = { 0x123456789abcdef, 1000, false, 0 } },
                /* A full page has no room for the count. */
                { 1, ROOM | MISSED | STORED, .n_page = N, .info = { 1, ROOM, true, 0 } },
                { 1, (ROOM - 7) | MISSED | STORED, .n_page = N, .info = { 1, ROOM - 7, true, 0 } },
                { 1, (ROOM - 8) | MISSED | STORED, N - 8, 9, N, 0, { 1, ROOM - 8, true, 9 } },
                /* A count that is not announced is not read. */
                { 1, 64 | MISSED, HEAD + 64, 5, N, 0, { 1, 64, true, 0 } },
                { 1, 64 | STORED, HEAD + 64, 5, N, 0, { 1, 64, false, 0 } },
                /* Only a page of zeroes is empty. */
                { 0, 0, .n_page = N, .r = PAGE_E_EMPTY },
                { 0, 0, N - 8, 1, N, PAGE_E_TORN },
                { 7, 0, .n_page = N, .info = { 7, 0, false, 0 } },
                /* Of a header alone. */
                { 0, 0, .n_page = HEAD, .r = PAGE_E_EMPTY },
                { 3, MISSED | STORED, .n_page = HEAD, .info = { 3, 0, true, 0 } },
                { 3, 1, .n_page = HEAD, .r = PAGE_E_TORN },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                PageInfo info = {};

                make(cases[i].timestamp, cases[i].commit);
                if (cases[i].at > 0)
                        put(cases[i].at, cases[i].word);
                ck_assert_int_eq(page_parse(&info, page, cases[i].n_page, false), cases[i].r);
                ck_assert_uint_eq(info.timestamp, cases[i].info.timestamp);
                ck_assert_uint_eq(info.n_payload, cases[i].info.n_payload);
                ck_assert_uint_eq(info.missed, cases[i].info.missed);
                ck_assert_uint_eq(info.n_missed, cases[i].info.n_missed);
        }
}

TEST(the_other_byte_order_is_read) {
        PageInfo info;

        make(bswap_64(77), bswap_64(64 | MISSED | STORED));
        put(HEAD + 64, bswap_64(5));
        ck_assert_int_eq(page_parse(&info, page, N, true), 0);
        ck_assert_uint_eq(info.timestamp, 77);
        ck_assert_uint_eq(info.n_payload, 64);
        ck_assert(info.missed);
        ck_assert_uint_eq(info.n_missed, 5);
}

TEST(every_length_that_does_not_fit_is_torn) {
        for (uint64_t n = 0; n < 3 * N; n++) {
                PageInfo info = { .timestamp = 42 };
                int r;

                make(1, n);
                r = page_parse(&info, page, N, false);
                ck_assert_int_eq(r, n > ROOM ? PAGE_E_TORN : 0);
                ck_assert_uint_eq(info.timestamp, r == 0 ? 1 : 42);
        }
}
