/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A record in a page: a head of 5 bits type and 27 bits time delta, and what follows it
 *
 * Source: linux 6.1 include/linux/ring_buffer.h, struct ring_buffer_event; the running kernel's
 * truth is events/header_event.  Little endian machines only: others fill the word from the top,
 * and their pages are not taken apart.
 */

#include <endian.h>

#include "base/bytes.h"
#include "codec/columns.h"
#include "codec/model.h"
#include "store/page.h"

#define RECORD_HEAD_BYTES 4U
#define COMMIT_LENGTH_MASK ((UINT64_C(1) << 27) - 1)

enum {
        RECORD_LONG = 0,      /* a u32 length follows, which counts itself */
        RECORD_DATA_MAX = 28, /* 1..28: so many words */
        RECORD_PADDING = 29,  /* delta 0: up to the end; else as RECORD_LONG */
        RECORD_EXTEND = 30,   /* a u32: the delta's upper bits */
        RECORD_STAMP = 31,    /* a u32: with the delta 59 bits of absolute time */
};

/* What is in the column COLUMN_OPS: the lower bits say what comes, flags what is different. */
enum {
        OP_EXPECTED = 0,  /* the symbol is the expected one */
        OP_RETURN = 1,    /* an exit of the caller with the flags of its entry */
        OP_KNOWN = 2,     /* a symbol by its number */
        OP_NEW = 3,       /* a new symbol */
        OP_OTHER = 4,     /* a record that is kept as it is */
        OP_REMAINDER = 5, /* the remainder of the payload is kept as it is; the page's last */
        OP_END = 6,       /* no more records in this page */
        OP_MASK = 7,
        OP_TASK = 8,   /* of another task than the record before */
        OP_DEPTH = 16, /* the depth is not the expected one */
        OP_REST = 32,  /* some words of the rest are not the expected ones */
        OP_FLAGS = OP_TASK | OP_DEPTH | OP_REST,
};

/*
 * A page in COLUMN_PAGES: a byte of these; unless it is as it is, a varint, zigzag, how much later it
 * is than the last record; the flags; the lengths of what is kept in its records; the tail.
 */
enum {
        PAGE_AS_IT_IS = 1,  /* in COLUMN_OTHER */
        PAGE_HAS_FLAGS = 2, /* varint: the commit word above the length */
        PAGE_HAS_TAIL = 4,  /* varint: so many bytes behind the payload, in COLUMN_OTHER */
};

static inline uint32_t load32(const void *p) {
        return load_u32(p, needs_swap(false));
}

static inline uint64_t load64(const void *p) {
        return load_u64(p, needs_swap(false));
}

static inline void store32(void *p, uint32_t v) {
        v = htole32(v);
        memcpy(p, &v, sizeof(v));
}

static inline void store64(void *p, uint64_t v) {
        v = htole64(v);
        memcpy(p, &v, sizeof(v));
}

static inline unsigned record_type(uint32_t head) {
        return head & 31;
}

static inline uint32_t record_delta(uint32_t head) {
        return head >> 5;
}

/* The length of the record at @p, of which @n bytes are there; 0: it makes no sense, or is all that
 * is left. */
static inline size_t record_bytes(const uint8_t *p, size_t n) {
        size_t n_record = 0;
        uint32_t head;

        if (n < RECORD_HEAD_BYTES + 4)
                return 0;
        head = load32(p);
        switch (record_type(head)) {
        case RECORD_PADDING:
                if (record_delta(head) == 0)
                        return 0;
                /* fall through */
        case RECORD_LONG:
                if (load32(p + 4) < 4)
                        return 0;
                n_record = (size_t) RECORD_HEAD_BYTES + load32(p + 4);
                break;
        case RECORD_EXTEND:
        case RECORD_STAMP:
                n_record = RECORD_HEAD_BYTES + 4;
                break;
        default:
                n_record = RECORD_HEAD_BYTES + record_type(head) * 4;
        }
        return n_record <= n ? n_record : 0;
}

/* Goes on in time with a record that is kept as it is. */
static inline void model_pass(Model *m, const uint8_t *p) {
        uint32_t head = load32(p);

        switch (record_type(head)) {
        case RECORD_EXTEND:
                m->now += ((uint64_t) load32(p + 4) << 27) + record_delta(head);
                break;
        case RECORD_STAMP:
                m->now = (m->now & ~((UINT64_C(1) << 59) - 1)) |
                         (((uint64_t) load32(p + 4) << 27) + record_delta(head));
                break;
        default:
                m->now += record_delta(head);
        }
}

/* --- pages <-> columns ------------------------------------------------------------------------ */

/* The model's kinds are what both sides know of the records; its other contents do not matter
 * before and mean nothing afterwards. */

/* Takes @n_pages little-endian pages apart; the columns have room (BLOCK_BYTES_MAX). */
void pages_split(Model *m, Columns *c, const uint8_t *pages, size_t n_pages, size_t page_bytes);

enum { PAGES_E_DAMAGED = 1 };
/* Puts them together.  Every column must have been read to its end. */
int pages_join(Model *m, Columns *c, uint8_t *ret_pages, size_t n_pages, size_t page_bytes);
