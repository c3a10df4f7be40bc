/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <inttypes.h>

#include "encode/parquet.h"
#include "unit.h"

static uint32_t add(ParquetTexts *t, const char *text, uint32_t n_rows) {
        uint32_t number;

        ck_assert_int_eq(parquet_texts_add(t, text, strlen(text), n_rows, &number), 0);
        return number;
}

static void look(const ParquetTexts *t, uint32_t number, const char *wanted) {
        const ParquetText *text = &t->items[number];

        ck_assert_uint_eq(text->n, strlen(wanted));
        ck_assert_int_eq(memcmp(text->data, wanted, text->n), 0);
}

TEST(a_text_is_there_for_its_rows_and_one_that_stays_for_all) {
        _cleanup_(parquet_texts_done) ParquetTexts t = {};
        uint32_t kept, twice, later;

        kept = add(&t, "kfree", PARQUET_ALL_ROWS);
        twice = add(&t, "len=1", 1);
        ck_assert_uint_eq(add(&t, "len=1", 1), twice);
        ck_assert_uint_eq(add(&t, "kfree", 1), kept);
        parquet_texts_drop(&t, kept);
        parquet_texts_drop(&t, twice);
        look(&t, twice, "len=1");
        parquet_texts_drop(&t, twice);
        look(&t, kept, "kfree");
        ck_assert_uint_eq(add(&t, "len=2", 3), twice);
        look(&t, twice, "len=2");
        later = add(&t, "len=1", 1);
        ck_assert_uint_ne(later, twice);
        look(&t, later, "len=1");
        ck_assert_uint_eq(add(&t, "len=2", PARQUET_ALL_ROWS), twice);
        for (int i = 0; i < 9; i++)
                parquet_texts_drop(&t, twice);
        look(&t, twice, "len=2");
}

TEST(texts_of_calls_take_no_more_than_those_that_wait) {
        _cleanup_(parquet_texts_done) ParquetTexts t = {};
        enum { WAIT = 1000, CALLS = 1000000 };
        static uint32_t waiting[WAIT];
        char text[32];

        for (uint32_t i = 0; i < CALLS; i++) {
                if (i >= WAIT) {
                        (void) snprintf(text, sizeof(text), "len=%" PRIu32, i - WAIT);
                        look(&t, waiting[i % WAIT], text);
                        parquet_texts_drop(&t, waiting[i % WAIT]);
                }
                (void) snprintf(text, sizeof(text), "len=%" PRIu32, i);
                waiting[i % WAIT] = add(&t, text, 1);
        }
        ck_assert_uint_eq(t.n, WAIT);
        ck_assert_uint_le(t.at.n_slots, 1 << 18);
}
