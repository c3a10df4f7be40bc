/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatBytes: numbers and strings read one after the other out of a stretch of a trace.dat
 *
 * What goes beyond the stretch is noted once, with its place in the file; from then on everything
 * is 0 or NULL, so that whoever reads asks at the end.
 */

#include "base/bytes.h"

typedef struct DatBytes {
        const uint8_t *data;
        uint64_t n, at;
        uint64_t base; /* where the stretch is in the file */
        bool swap;
        const char *problem; /* NULL: none; what was being read, a constant */
        uint64_t problem_at; /* in the file */
} DatBytes;

static inline bool dat_bytes_fail(DatBytes *b, const char *what) {
        if (!b->problem) {
                b->problem = what;
                b->problem_at = b->base + b->at;
        }
        b->at = b->n;
        return false;
}

/* @n bytes, or NULL; @what names them. */
static inline const void *dat_bytes_take(DatBytes *b, uint64_t n, const char *what) {
        const void *p = b->data + b->at;

        if (b->problem || n > b->n - b->at) {
                (void) dat_bytes_fail(b, what);
                return NULL;
        }
        b->at += n;
        return p;
}

static inline uint16_t dat_bytes_u16(DatBytes *b, const char *what) {
        const void *p = dat_bytes_take(b, 2, what);

        return p ? load_u16(p, b->swap) : 0;
}

static inline uint32_t dat_bytes_u32(DatBytes *b, const char *what) {
        const void *p = dat_bytes_take(b, 4, what);

        return p ? load_u32(p, b->swap) : 0;
}

static inline uint64_t dat_bytes_u64(DatBytes *b, const char *what) {
        const void *p = dat_bytes_take(b, 8, what);

        return p ? load_u64(p, b->swap) : 0;
}

/* A string and its NUL; "" after a failure. */
static inline const char *dat_bytes_string(DatBytes *b, const char *what) {
        const uint8_t *p = b->data + b->at;
        const uint8_t *end = b->problem || b->at >= b->n ? NULL : memchr(p, 0, b->n - b->at);

        if (!end) {
                (void) dat_bytes_fail(b, what);
                return "";
        }
        b->at += (uint64_t) (end - p) + 1;
        return (const char *) p;
}

/* Whether the next bytes are these, which are then passed. */
static inline bool dat_bytes_are(DatBytes *b, const void *what, size_t n) {
        if (b->problem || n > b->n - b->at || memcmp(b->data + b->at, what, n) != 0)
                return false;
        b->at += n;
        return true;
}
