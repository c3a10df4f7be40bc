/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Parquet's encodings of the values of a page, as much of them as lib/export/parquet.h needs
 *
 *      plain        little-endian, one after the other
 *      delta        DELTA_BINARY_PACKED: differences, blocks of 128 in four parts of a width each
 *      dictionary   numbers of the dictionary's items; here of 8, 16 or 32 bits, so that a compressor finds
 *                   what repeats
 *      levels       RLE: whether each row has a value
 *
 * Errors are the Buf's.  Source: apache/parquet-format, Encodings.md (2.11).
 */

#include <stdbool.h>
#include <stdint.h>

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
