/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What was dropped leaves its slot in the hash, where whoever follows it compares the text that is there now; of too
 * many such slots the hash is made anew.
 */

#include "base/array.h"
#include "encode/parquet.h"

#define DROPPED_MAX 65536

static uint64_t key_of(const char *text, size_t n) {
        return hash_bytes(HASH_BYTES_FIRST, text, n);
}

/* NULL: it is not there. */
static ParquetText *find_text(const ParquetTexts *t, const char *text, size_t n) {
        const HashSlot *slot;

        hash_each (slot, &t->at, key_of(text, n)) {
                ParquetText *item = &t->items[slot->value - 1];

                if (item->data && item->n == n && memcmp(item->data, text, n) == 0)
                        return item;
        }
        return NULL;
}

/* Without those that were dropped, if they are many. */
static int make_room(ParquetTexts *t) {
        if (t->at.n > 2 * t->n_used + DROPPED_MAX) {
                hash_clear(&t->at);
                for (size_t i = 0; i < t->n; i++)
                        if (t->items[i].data)
                                (void) hash_add(&t->at, key_of(t->items[i].data, t->items[i].n),
                                                i + 1);
        }
        if (t->first_free == 0 && !ARRAY_GROW(t->items, t->n))
                return -ENOMEM;
        return hash_reserve(&t->at, t->at.n + 1);
}

int parquet_texts_add(ParquetTexts *t, const char *text, size_t n, uint32_t n_rows, uint32_t *ret) {
        ParquetText *item = find_text(t, text, n);
        char *data;

        if (_likely_(item != NULL)) {
                item->n_rows = n_rows < PARQUET_ALL_ROWS - item->n_rows ? item->n_rows + n_rows
                                                                        : PARQUET_ALL_ROWS;
                *ret = (uint32_t) (item - t->items);
                return 0;
        }
        data = malloc(n + 1);
        if (!data || make_room(t) < 0) {
                free(data);
                return -ENOMEM;
        }
        if (t->first_free > 0) {
                item = &t->items[t->first_free - 1];
                t->first_free = item->next_free;
        } else
                item = &t->items[t->n++];
        memcpy(data, text, n);
        *item = (ParquetText){ .data = data, .n = n, .n_rows = n_rows };
        t->n_used++;
        *ret = (uint32_t) (item - t->items);
        (void) hash_add(&t->at, key_of(text, n), *ret + 1);
        return 0;
}

void parquet_texts_drop(ParquetTexts *t, uint32_t number) {
        ParquetText *item = &t->items[number];

        if (item->n_rows == PARQUET_ALL_ROWS || --item->n_rows > 0)
                return;
        free(item->data);
        *item = (ParquetText){ .next_free = t->first_free };
        t->first_free = number + 1;
        t->n_used--;
}

void parquet_texts_done(ParquetTexts *t) {
        for (size_t i = 0; i < t->n; i++)
                free(t->items[i].data);
        free(t->items);
        hash_done(&t->at);
}
