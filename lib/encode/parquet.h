/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Parquet: a file of a table's columns, for databases
 *
 *      "PAR1"
 *      for every PARQUET_ROWS rows, or as many as the caller says, a group: of each column a dictionary, or none, and one page
 *      the footer: schema, and of each column in each group where it is, its least and greatest value
 *      its length, "PAR1"
 *
 * Pages are of version 2 and compressed by zstd.  How integers are encoded is tried with the first
 * group: what takes least is taken for all.  Rows are flat; there are no nested types, no indices of pages, no
 * Bloom filters and no encryption.  Or the same rows are lines of text (tsv.c).
 *
 * Memory: the rows of a group that are there, eight bytes for each column, and a hundred bytes for each
 * column of each group, besides the texts.
 *
 * Source: apache/parquet-format, src/main/thrift/parquet.thrift (2.11).
 */

#include <zstd.h>

#include "base/buf.h"
#include "base/hash.h"

/* --- texts ------------------------------------------------------------------------------------ */

typedef struct ParquetText {
        char *data; /* NULL: it is free */
        size_t n;
        uint32_t n_rows;        /* that it is there for; PARQUET_ALL_ROWS: it stays */
        uint32_t next_free;     /* its number + 1; 0: none */
        bool is_seen, is_plain; /* tsv.c's: is_plain is known; it needs no escapes */
} ParquetText;

/*
 * Texts of tables, each once; what several files have in common.  One of zeroes is empty.
 *
 * Those that come again and again stay.  Of arguments, which are others in each call, one is kept until the rows that
 * it was added for are written, or memory would grow with the calls.
 */
typedef struct ParquetTexts {
        ParquetText *items;
        size_t n, n_used;
        uint32_t first_free; /* its number + 1; 0: none */
        Hash at; /* index + 1; also of what has been dropped since, and may be another text now */
} ParquetTexts;

/* The number of a text, from 0, the same for the same text, for @n_rows rows more; UTF-8.  0 or -ENOMEM. */
#define PARQUET_ALL_ROWS UINT32_MAX /* it stays */
int parquet_texts_add(ParquetTexts *t, const char *text, size_t n, uint32_t n_rows, uint32_t *ret);
/* A row with it is written; with the last one the number is free for another text. */
void parquet_texts_drop(ParquetTexts *t, uint32_t number);
void parquet_texts_done(ParquetTexts *t);

/* --- rows ------------------------------------------------------------------------------------- */

#define PARQUET_ROWS (128U << 10)
#define PARQUET_SORTED_MAX 4

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

/* What a file is of; borrowed. */
typedef struct ParquetSchema {
        const ParquetColumn *columns;
        size_t n_columns;
        uint32_t sorted
                [PARQUET_SORTED_MAX]; /* n_sorted indices of columns by which rows come in order */
        size_t n_sorted;
} ParquetSchema;

/* Of a column in a group, for the footer. */
typedef struct ParquetChunk {
        uint64_t dictionary_at, data_at; /* 0: there is no dictionary */
        uint64_t n_plain, n_packed;      /* bytes, with headers */
        uint64_t n_nulls;
        int64_t least, greatest; /* of a text its number */
        bool has_range;
        int encoding;
} ParquetChunk;

/* A column of the group that is being filled. */
typedef struct ParquetValues {
        const ParquetColumn *spec;
        int64_t *values; /* of a text its number, of a double its bits */
        uint8_t *has;    /* 1: there is one; NULL: all have one */
        int encoding;    /* negative: not chosen yet */
} ParquetValues;

typedef struct Parquet {
        size_t n_rows;   /* of the group, complete */
        size_t i_column; /* of the row behind them: the next one */
        ParquetValues *columns;
        const ParquetSchema *schema;
        ParquetTexts *texts;
        Buf *out;
        bool is_tsv;
        size_t n_rows_room; /* for which there is memory */
        size_t n_rows_max; /* of a group; PARQUET_ROWS, unless it is set to fewer before the first */
        uint64_t offset, n_rows_written;
        ParquetChunk *chunks; /* those of the first group first */
        size_t n_groups;
        uint64_t *n_group_rows;
        int64_t *present;        /* values of a column that are there */
        uint32_t *in_dictionary; /* numbers of them */
        int64_t *items;
        size_t n_present_room, n_in_dictionary_room, n_items_room;
        Hash items_at;
        Buf packed;
        ZSTD_CCtx *compressor;
} Parquet;

/*
 * parquet_new()
 * @texts: borrowed; a text in a row is its number there, and dropped when the row is written
 * @out:   borrowed; empty, or it was written already
 */
int parquet_new(Parquet **ret, ParquetTexts *texts, Buf *out, const ParquetSchema *schema,
                bool is_tsv);
/* The row is complete.  0, -ENOMEM, or the error of the Buf. */
int parquet_end_row(Parquet *p);
/* No more rows.  The same. */
int parquet_finish(Parquet *p);
Parquet *parquet_free(Parquet *p);
DEFINE_CLEANUP(Parquet *, parquet_free);

/* The row's next column, all of which are put before it ends; without a value it is none, or 0 where there must be one. */
static inline void parquet_put(Parquet *p, bool has, int64_t value) {
        ParquetValues *c = &p->columns[p->i_column++];

        c->values[p->n_rows] = has ? value : 0;
        if (c->has)
                c->has[p->n_rows] = has;
}

static inline void parquet_put_double(Parquet *p, double value) {
        union {
                double value;
                int64_t bits;
        } u = { .value = value };

        parquet_put(p, true, u.bits);
}

/* --- tsv.c: of a file that is text ------------------------------------------------------------ */

void tsv_put_heading(const Parquet *p);
/* The first row of the group. */
void tsv_put_row(Parquet *p);
