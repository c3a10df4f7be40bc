/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Parquet: a file of a table's columns, for databases
 *
 *      "PAR1"
 *      for every PARQUET_ROWS rows a group: of each column a dictionary, or none, and one page
 *      the footer: schema, and of each column in each group where it is, its least and greatest value
 *      its length, "PAR1"
 *
 * Pages are of version 2 and compressed by zstd.  How integers are encoded is tried with the first
 * group: what takes least is taken for all.  Rows are flat; there are no nested types, no indices of pages, no
 * Bloom filters and no encryption.
 *
 * Memory: the rows of a group that are there, eight bytes for each column, and a hundred bytes for each
 * column of each group, besides the texts.
 *
 * Source: apache/parquet-format, src/main/thrift/parquet.thrift (2.11).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "export/parquet-texts.h"

#define PARQUET_ROWS (128U << 10)

typedef enum ParquetType {
        PARQUET_BOOL,
        PARQUET_U16,
        PARQUET_U32,
        PARQUET_I32,
        PARQUET_I64,
        PARQUET_U64,
        PARQUET_F64,
        PARQUET_TEXT,
} ParquetType;

typedef struct ParquetColumn {
        const char *name;
        ParquetType type;
        bool is_optional; /* rows may have no value */
} ParquetColumn;

typedef struct Parquet Parquet;

/*
 * parquet_new()
 * @texts:    borrowed; a text in a row is its number there, and dropped when the row is written
 * @out:      borrowed; empty, or it was written already
 * @columns:  borrowed
 * @n_sorted: by so many of the first of @sorted, indices of columns, rows come in order; at most 4
 */
int parquet_new(Parquet **ret, ParquetTexts *texts, Buf *out, const ParquetColumn *columns,
                size_t n_columns, const uint32_t *sorted, size_t n_sorted);
/* Of the row that is filled; of a double its bits (parquet_set_double()).  What is not set is none, or 0 where
 * there must be a value. */
static inline void parquet_set(Parquet *p, size_t column, int64_t value);
static inline void parquet_set_double(Parquet *p, size_t column, double value);
/* The row is complete.  0, -ENOMEM, or the error of the Buf. */
int parquet_end_row(Parquet *p);
/* Rows for which there is memory. */
size_t parquet_n_room(const Parquet *p);
/* They become a group, though there could be more, and what they took is given back.  As parquet_end_row(). */
int parquet_flush(Parquet *p);
/* No more rows.  The same. */
int parquet_finish(Parquet *p);
Parquet *parquet_free(Parquet *p);
DEFINE_CLEANUP(Parquet *, parquet_free);

/* What a Parquet begins with. */
typedef struct ParquetHead {
        size_t n_rows; /* of the group, complete */
        struct ParquetValues {
                int64_t *values;
                uint8_t *has; /* 1: there is one; NULL: all have one */
        } * columns;
} ParquetHead;

static inline void parquet_set(Parquet *p, size_t column, int64_t value) {
        ParquetHead *h = (ParquetHead *) p;
        struct ParquetValues *c = &h->columns[column];

        c->values[h->n_rows] = value;
        if (c->has)
                c->has[h->n_rows] = 1;
}

static inline void parquet_set_double(Parquet *p, size_t column, double value) {
        union {
                double value;
                int64_t bits;
        } u = { .value = value };

        parquet_set(p, column, u.bits);
}
