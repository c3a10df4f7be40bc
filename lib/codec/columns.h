/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Columns: what the records of a block were taken apart into
 *
 * Each is a run of bytes of one sort, so that each has its own statistics.  Numbers that are mostly
 * noise (times) are written as a token, which says their magnitude, into a column that compresses,
 * and the bits below it, which do not, into COLUMN_BITS.
 *
 *      token 0..15        the value itself
 *      token 16..254      (e - 3) * 8 + the 4 highest bits, for values whose highest bit is 2^e:
 *                         the e - 3 lower bits follow
 *      token 255          64 bits follow
 *
 * Stored: for each column a byte (COLUMN_IS_...), the number of bytes in it and, unless they are
 * all the same, the number of bytes that are stored, both as varints; then what is stored of each,
 * in the same order.
 */

#include <endian.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum {
        COLUMN_PAGES,    /* of each page: codec/record.h */
        COLUMN_RUNS,     /* how many records follow that are as predicted; 255: and more */
        COLUMN_OPS,      /* what the next one is: codec/record.h */
        COLUMN_PIDS,     /* varint: which task; one more than there are: a new one, u32 */
        COLUMN_DEPTHS,   /* varint */
        COLUMN_LOW,      /* a symbol's number, low byte */
        COLUMN_HIGH,     /* and high byte */
        COLUMN_WORDS,    /* a new symbol's first word: its number; one more: a new one, u32 */
        COLUMN_FUNC_LOW, /* a new symbol's function: its number; one more: a new one */
        COLUMN_FUNC_HIGH,
        COLUMN_REGIONS, /* a new function's upper 40 bits: their number; one more: new ones, u64 */
        COLUMN_ADDRESSES, /* and lower 24 bits */
        COLUMN_MASKS,     /* varint: which words of the rest are not as expected; of each: */
        COLUMN_HINTS,     /* its place among the recent ones; 255: none */
        COLUMN_REST,      /* and then the word itself, u32 */
        COLUMN_OTHER,     /* records that are kept as they are */
        COLUMN_BITS,
        COLUMN_TOKENS,    /* and the ones behind it: */
        TOKENS_DELTA = 0, /* time deltas: +2 if the record before was an exit, +1 if this is */
        TOKENS_OTHER = 4, /* time deltas of other records */
        TOKENS_CALL = 5, /* zigzag: the call time's distance from the entry less that of the last */
        TOKENS_RETURN = 6, /* the same of the return time; +1 if the record before was an exit */
        TOKENS_N = 8,
        COLUMN_N = COLUMN_TOKENS + TOKENS_N,
};

#define COLUMNS_LEVEL 1 /* zstd's */
#define COLUMN_BYTES_MAX (((size_t) 1 << 20) + 65536)

typedef struct Column {
        uint8_t *data, *next, *end; /* reading: end is where it ends */
} Column;

/* The end of COLUMN_BITS.  By itself, so that a loop can keep a copy in registers. */
typedef struct Bits {
        uint8_t *next;
        uint64_t pending; /* not yet stored */
        unsigned n;       /* how many, below 8 */
} Bits;

typedef struct Columns {
        Column of[COLUMN_N];
        Bits bits;   /* writing */
        uint64_t at; /* reading: position in COLUMN_BITS, in bits */
        uint8_t *memory;
        ZSTD_CCtx *compressor;
        ZSTD_DCtx *decompressor;
} Columns;

int columns_init(Columns *ret);
void columns_done(Columns *c);
void columns_clear(Columns *c); /* for writing */

/* Appends all of them.  0, -ENOMEM or @out's own error. */
int columns_pack(Columns *c, Buf *out);
enum { COLUMNS_E_DAMAGED = 1 };
/* Makes them ready for reading; the data must end with them. */
int columns_unpack(Columns *c, const uint8_t *data, size_t n);

/* --- writing: room is never checked, COLUMN_BYTES_MAX is enough for any block -------------- */

static inline void column_put(Column *c, uint8_t byte) {
        *c->next++ = byte;
}

static inline void column_write(Column *c, const void *data, size_t n) {
        memcpy(c->next, data, n);
        c->next += n;
}

/* The lower @n bytes, little-endian; 8 at most. */
static inline void column_put_bytes(Column *c, uint64_t v, size_t n) {
        v = htole64(v);
        column_write(c, &v, n);
}

static inline void column_put_varint(Column *c, uint64_t v) {
        for (; v >= 128; v >>= 7)
                *c->next++ = (uint8_t) (v | 128);
        *c->next++ = (uint8_t) v;
}

/* @n at most 32 */
static _always_inline_ void bits_put(Bits *b, uint64_t v, unsigned n) {
        uint64_t word;

        b->pending |= v << b->n;
        b->n += n;
        word = htole64(b->pending);
        memcpy(b->next, &word, sizeof(word));
        b->next += b->n / 8;
        b->pending >>= b->n & ~7U;
        b->n &= 7;
}

static _always_inline_ void columns_put_number(Columns *c, Bits *bits, unsigned tokens,
                                               uint64_t v) {
        Column *to = &c->of[COLUMN_TOKENS + tokens];

        /* Without a branch on small values: which they are is noise. */
        if (_likely_(v < UINT64_C(15) << 30)) {
                unsigned n = 60 - (unsigned) __builtin_clzll(v | 8);

                column_put(to, (uint8_t) (n * 8 + (v >> n)));
                bits_put(bits, v & ((UINT64_C(1) << n) - 1), n);
        } else {
                column_put(to, 255);
                bits_put(bits, v & UINT32_MAX, 32);
                bits_put(bits, v >> 32, 32);
        }
}

/* --- reading: false if there is nothing left ------------------------------------------------ */

static inline bool column_get(Column *c, uint8_t *ret) {
        if (_unlikely_(c->next == c->end))
                return false;
        *ret = *c->next++;
        return true;
}

static inline bool column_read(Column *c, void *ret, size_t n) {
        if ((size_t) (c->end - c->next) < n)
                return false;
        memcpy(ret, c->next, n);
        c->next += n;
        return true;
}

static inline bool column_get_bytes(Column *c, uint64_t *ret, size_t n) {
        uint64_t v = 0;

        if (!column_read(c, &v, n))
                return false;
        *ret = le64toh(v);
        return true;
}

static inline bool column_get_varint(Column *c, uint64_t *ret) {
        uint64_t v = 0;
        uint8_t byte;

        for (unsigned shift = 0; shift < 64; shift += 7) {
                if (!column_get(c, &byte))
                        return false;
                v |= (uint64_t) (byte & 127) << shift;
                if (byte < 128) {
                        *ret = v;
                        return true;
                }
        }
        return false;
}

/* @at: in COLUMN_BITS, moved on: by itself, as Bits is.  @n at most 32.  Bits behind the end are 0:
 * columns_unpack() leaves room, and whoever has read compares @at with the end. */
static _always_inline_ uint64_t columns_get_bits(const Columns *c, uint64_t *at, unsigned n) {
        const Column *bits = &c->of[COLUMN_BITS];
        uint64_t word, byte = MIN(*at / 8, (uint64_t) (bits->end - bits->data));

        memcpy(&word, bits->data + byte, sizeof(word));
        word = le64toh(word) >> *at % 8;
        *at += n;
        return word & ((UINT64_C(1) << n) - 1);
}

static _always_inline_ bool columns_get_number(Columns *c, uint64_t *at, unsigned tokens,
                                               uint64_t *ret) {
        uint8_t token;

        if (!column_get(&c->of[COLUMN_TOKENS + tokens], &token))
                return false;
        if (_likely_(token < 255)) {
                unsigned n = MAX(token / 8U, 1U) - 1;

                *ret = (uint64_t) (token - n * 8) << n | columns_get_bits(c, at, n);
        } else {
                *ret = columns_get_bits(c, at, 32);
                *ret |= columns_get_bits(c, at, 32) << 32;
        }
        return true;
}

static inline uint64_t zigzag(int64_t v) {
        return (uint64_t) v << 1 ^ (uint64_t) (v >> 63);
}

static inline uint64_t unzigzag(uint64_t v) {
        return v >> 1 ^ -(v & 1);
}
