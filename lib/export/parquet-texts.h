/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Texts of tables, each once; what several files have in common
 *
 * Those that come again and again stay.  Of arguments, which are others in each call, one is kept until the rows that
 * it was added for are written, or memory would grow with the calls.
 */

#include <stdint.h>

#include "base/cleanup.h"
#include "base/hash.h"

typedef struct ParquetText {
        char *data; /* NULL: it is free */
        size_t n;
        uint32_t n_rows;    /* that it is there for; PARQUET_ALL_ROWS: it stays */
        uint32_t next_free; /* its number + 1; 0: none */
} ParquetText;

typedef struct ParquetTexts {
        ParquetText *items;
        size_t n, n_used;
        uint32_t first_free; /* its number + 1; 0: none */
        Hash at; /* index + 1; also of what has been dropped since, and may be another text now */
} ParquetTexts;

int parquet_texts_new(ParquetTexts **ret);
/* The number of a text, from 0, the same for the same text, for @n_rows rows more; UTF-8.  0 or -ENOMEM. */
#define PARQUET_ALL_ROWS UINT32_MAX /* it stays */
int parquet_texts_add(ParquetTexts *t, const char *text, size_t n, uint32_t n_rows, uint32_t *ret);
/* A row with it is written; with the last one the number is free for another text. */
void parquet_texts_drop(ParquetTexts *t, uint32_t number);
/* The text of a number; @ret_n: its bytes.  Borrowed until the next parquet_texts_add(). */
const char *parquet_texts_get(const ParquetTexts *t, uint32_t number, size_t *ret_n);
ParquetTexts *parquet_texts_free(ParquetTexts *t);
DEFINE_CLEANUP(ParquetTexts *, parquet_texts_free);
