/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Parquet's encodings of the values of a page, as much of them as lib/encode/parquet.h needs
 *
 *      plain        little-endian, one after the other
 *      delta        DELTA_BINARY_PACKED: differences, blocks of 128 in four parts of a width each
 *      dictionary   numbers of the dictionary's items; here of 8, 16 or 32 bits, so that a compressor finds
 *                   what repeats
 *      levels       RLE: whether each row has a value
 *
 * Errors are the Buf's.  Source: apache/parquet-format, Encodings.md (2.11).
 */

#include "base/buf.h"

/* @bytes: of each, 4 or 8. */
void parquet_encode_plain(Buf *out, const int64_t *values, size_t n, unsigned bytes);
/* One bit each. */
void parquet_encode_bits(Buf *out, const int64_t *values, size_t n);
/* @bytes: 4: differences are of 32 bits, and wrap around there. */
void parquet_encode_delta(Buf *out, const int64_t *values, size_t n, unsigned bytes);
/* @n_items: of the dictionary, all numbers are less. */
void parquet_encode_numbers(Buf *out, const uint32_t *numbers, size_t n, size_t n_items);
/* @has: of each row, whether there is a value. */
void parquet_encode_levels(Buf *out, const uint8_t *has, size_t n);

/*
 * Thrift: its compact protocol, as much of it as Parquet's headers are written with
 *
 *      thrift_begin(t, 0)              a struct, nobody's field
 *        thrift_i32(t, 1, 2)           its field 1
 *        thrift_list(t, 2, STRUCT, 3)  its field 2, of three that follow
 *          thrift_begin(t, 0) ... thrift_end(t)
 *      thrift_end(t)
 *
 * Fields of a struct come in ascending order.  Errors are the Buf's.
 *
 * Source: apache/thrift, doc/specs/thrift-compact-protocol.md (0.20).
 */

#define THRIFT_LEVELS_MAX 8

typedef enum ThriftType { THRIFT_I32 = 5, THRIFT_BINARY = 8, THRIFT_STRUCT = 12 } ThriftType;

typedef struct Thrift {
        Buf *out;
        int16_t last[THRIFT_LEVELS_MAX]; /* field of each open struct */
        unsigned level;
} Thrift;

#define THRIFT_TO(b) ((Thrift){ .out = (b) })

void thrift_zigzag(Buf *out, int64_t v);
/* @field 0: it is an item of a list, or all. */
void thrift_begin(Thrift *t, int16_t field);
void thrift_end(Thrift *t);
void thrift_bool(Thrift *t, int16_t field, bool v);
void thrift_i8(Thrift *t, int16_t field, int8_t v);
void thrift_i32(Thrift *t, int16_t field, int32_t v);
void thrift_i64(Thrift *t, int16_t field, int64_t v);
void thrift_binary(Thrift *t, int16_t field, const void *data, size_t n);
void thrift_list(Thrift *t, int16_t field, ThriftType type, size_t n);
/* A struct without fields, as those of unions are. */
void thrift_empty(Thrift *t, int16_t field);
