/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <assert.h>
#include <endian.h>

#include "encode/parquet-encode.h"

void parquet_encode_plain(Buf *out, const int64_t *values, size_t n, unsigned bytes) {
        char *p = buf_reserve(out, n * bytes);

        if (!p)
                return;
        for (size_t i = 0; i < n; i++) {
                uint64_t v = htole64((uint64_t) values[i]);

                memcpy(p + i * bytes, &v, bytes);
        }
        buf_advance(out, n * bytes, false);
}

void parquet_encode_bits(Buf *out, const int64_t *values, size_t n) {
        char *p = buf_reserve(out, (n + 7) / 8);

        if (!p)
                return;
        memset(p, 0, (n + 7) / 8);
        for (size_t i = 0; i < n; i++)
                p[i / 8] = (char) (p[i / 8] | (values[i] != 0) << i % 8);
        buf_advance(out, (n + 7) / 8, false);
}

/* --- delta ------------------------------------------------------------------------------------ */

#define BLOCK 128
#define PARTS 4
#define PART (BLOCK / PARTS)

/* @n values of @width bits, the first in the lowest ones. */
static void pack(Buf *out, const uint64_t *values, size_t n, unsigned width) {
        uint64_t room = 0;
        unsigned n_bits = 0;
        char *p = buf_reserve(out, n * width / 8 + 8), *begin = p;

        if (!p)
                return;
        for (size_t i = 0; i < n; i++) {
                uint64_t v = values[i];
                unsigned left = width;

                while (left > 0) {
                        unsigned take = MIN(left, 64 - n_bits);

                        room |= (take == 64 ? v : v & ((UINT64_C(1) << take) - 1)) << n_bits;
                        v = take == 64 ? 0 : v >> take;
                        n_bits += take;
                        left -= take;
                        for (; n_bits >= 8; n_bits -= 8, room >>= 8)
                                *p++ = (char) room;
                }
        }
        buf_advance(out, (size_t) (p - begin), false);
}

/* As what has @bytes has it. */
static int64_t wrap(uint64_t v, unsigned bytes) {
        return bytes == 4 ? (int64_t) (int32_t) (uint32_t) v : (int64_t) v;
}

static void add_block(Buf *out, const int64_t *deltas, size_t n, unsigned bytes) {
        uint64_t above[BLOCK] = {};
        uint8_t widths[PARTS] = {};
        int64_t least = deltas[0];

        for (size_t i = 1; i < n; i++)
                least = MIN(least, deltas[i]);
        for (size_t i = 0; i < n; i++) {
                above[i] = (uint64_t) deltas[i] - (uint64_t) least;
                if (bytes == 4)
                        above[i] = (uint32_t) above[i];
                widths[i / PART] = (uint8_t) MAX((int) widths[i / PART],
                                                 above[i] ? 64 - __builtin_clzll(above[i]) : 0);
        }
        thrift_zigzag(out, least);
        buf_add(out, widths, sizeof(widths));
        for (size_t i = 0; i < PARTS && i * PART < n; i++)
                pack(out, above + i * PART, PART, widths[i]);
}

void parquet_encode_delta(Buf *out, const int64_t *values, size_t n, unsigned bytes) {
        int64_t deltas[BLOCK];

        buf_add_varint(out, BLOCK);
        buf_add_varint(out, PARTS);
        buf_add_varint(out, n);
        thrift_zigzag(out, n > 0 ? wrap((uint64_t) values[0], bytes) : 0);
        for (size_t i = 1; i < n;) {
                size_t k = 0;

                for (; k < BLOCK && i < n; k++, i++)
                        deltas[k] = wrap((uint64_t) values[i] - (uint64_t) values[i - 1], bytes);
                add_block(out, deltas, k, bytes);
        }
}

/* --- runs ------------------------------------------------------------------------------------- */

static bool is_all_the_same(const uint32_t *numbers, size_t n) {
        for (size_t i = 1; i < n; i++)
                if (numbers[i] != numbers[0])
                        return false;
        return true;
}

static void add_number(char *p, uint32_t v, unsigned bytes) {
        v = htole32(v);
        memcpy(p, &v, bytes);
}

/* After the width either one run, or groups of eight as they are, the last one filled up. */
void parquet_encode_numbers(Buf *out, const uint32_t *numbers, size_t n, size_t n_items) {
        unsigned bytes = n_items <= 0x100 ? 1 : n_items <= 0x10000 ? 2 : 4;
        size_t n_groups = (n + 7) / 8;
        uint8_t width = (uint8_t) (8 * bytes);
        char *p;

        buf_add(out, &width, 1);
        if (n == 0)
                return;
        if (is_all_the_same(numbers, n)) {
                buf_add_varint(out, (uint64_t) n << 1);
                n_groups = 0;
        } else
                buf_add_varint(out, (uint64_t) n_groups << 1 | 1);
        p = buf_reserve(out, (n_groups * 8 + 1) * bytes);
        if (!p)
                return;
        if (n_groups == 0) {
                add_number(p, numbers[0], bytes);
                buf_advance(out, bytes, false);
                return;
        }
        memset(p, 0, n_groups * 8 * bytes);
        for (size_t i = 0; i < n; i++)
                add_number(p + i * bytes, numbers[i], bytes);
        buf_advance(out, n_groups * 8 * bytes, false);
}

void parquet_encode_levels(Buf *out, const uint8_t *has, size_t n) {
        size_t n_has = 0;
        uint8_t bit;
        char *p;

        for (size_t i = 0; i < n; i++)
                n_has += has[i];
        if (n_has == 0 || n_has == n) {
                bit = n_has > 0;
                buf_add_varint(out, (uint64_t) n << 1);
                buf_add(out, &bit, 1);
                return;
        }
        buf_add_varint(out, (uint64_t) ((n + 7) / 8) << 1 | 1);
        p = buf_reserve(out, (n + 7) / 8);
        if (!p)
                return;
        memset(p, 0, (n + 7) / 8);
        for (size_t i = 0; i < n; i++)
                p[i / 8] = (char) (p[i / 8] | has[i] << i % 8);
        buf_advance(out, (n + 7) / 8, false);
}

/* --- thrift ----------------------------------------------------------------------------------- */

enum { TYPE_TRUE = 1, TYPE_FALSE = 2, TYPE_I8 = 3, TYPE_I64 = 6, TYPE_LIST = 9 };

void thrift_zigzag(Buf *out, int64_t v) {
        buf_add_varint(out, (uint64_t) v << 1 ^ (uint64_t) (v >> 63));
}

static void add_byte(Buf *out, unsigned v) {
        uint8_t byte = (uint8_t) v;

        buf_add(out, &byte, 1);
}

static void add_field(Thrift *t, int16_t field, unsigned type) {
        int16_t *last;

        if (field == 0)
                return;
        last = &t->last[t->level - 1];
        if (field - *last <= 15)
                add_byte(t->out, (unsigned) (field - *last) << 4 | type);
        else {
                add_byte(t->out, type);
                thrift_zigzag(t->out, field);
        }
        *last = field;
}

void thrift_begin(Thrift *t, int16_t field) {
        assert(t->level < THRIFT_LEVELS_MAX);
        add_field(t, field, THRIFT_STRUCT);
        t->last[t->level++] = 0;
}

void thrift_end(Thrift *t) {
        add_byte(t->out, 0);
        t->level--;
}

void thrift_bool(Thrift *t, int16_t field, bool v) {
        add_field(t, field, v ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_i8(Thrift *t, int16_t field, int8_t v) {
        add_field(t, field, TYPE_I8);
        add_byte(t->out, (uint8_t) v);
}

void thrift_i32(Thrift *t, int16_t field, int32_t v) {
        add_field(t, field, THRIFT_I32);
        thrift_zigzag(t->out, v);
}

void thrift_i64(Thrift *t, int16_t field, int64_t v) {
        add_field(t, field, TYPE_I64);
        thrift_zigzag(t->out, v);
}

void thrift_binary(Thrift *t, int16_t field, const void *data, size_t n) {
        add_field(t, field, THRIFT_BINARY);
        buf_add_varint(t->out, n);
        buf_add(t->out, data, n);
}

void thrift_list(Thrift *t, int16_t field, ThriftType type, size_t n) {
        add_field(t, field, TYPE_LIST);
        add_byte(t->out, n < 15 ? (unsigned) n << 4 | type : 0xf0 | type);
        if (n >= 15)
                buf_add_varint(t->out, n);
}

void thrift_empty(Thrift *t, int16_t field) {
        thrift_begin(t, field);
        thrift_end(t);
}
