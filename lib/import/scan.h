/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Scan: a place in a piece of text that does not end with a NUL
 *
 * Each scan_x() moves the place behind what it has found, and leaves it alone
 * where that is not.
 */

#include "base/plain-text.h"

typedef struct Scan {
        const char *p, *end;
} Scan;

static inline size_t scan_left(const Scan *s) {
        return (size_t) (s->end - s->p);
}

static inline size_t scan_blanks(Scan *s) {
        const char *begin = s->p;

        while (s->p < s->end && *s->p == ' ')
                s->p++;
        return (size_t) (s->p - begin);
}

static inline bool scan_text(Scan *s, const char *text) {
        size_t n = strlen(text);

        if (scan_left(s) < n || memcmp(s->p, text, n) != 0)
                return false;
        s->p += n;
        return true;
}

static inline bool scan_has_suffix(const Scan *s, const char *text) {
        size_t n = strlen(text);

        return scan_left(s) >= n && memcmp(s->end - n, text, n) == 0;
}

/* Decimal digits, not more than @max; how many there were, 0: none, or too large. */
static inline size_t scan_number(Scan *s, uint64_t max, uint64_t *ret) {
        const char *p = s->p;
        uint64_t v = 0;

        for (; p < s->end && *p >= '0' && *p <= '9'; p++) {
                uint64_t digit = (uint64_t) (*p - '0');

                if (v > (max - digit) / 10)
                        return 0;
                v = v * 10 + digit;
        }
        if (p == s->p)
                return 0;
        *ret = v;
        v = (uint64_t) (p - s->p);
        s->p = p;
        return (size_t) v;
}

/* Where @text is next; NULL: nowhere. */
static inline const char *scan_find(const Scan *s, const char *text) {
        return memmem(s->p, scan_left(s), text, strlen(text));
}

/* Whether @n bytes are a task's name of @max at most, made plain or not. */
static inline bool scan_is_comm(const char *comm, size_t n, size_t max) {
        return n <= max || plain_undo(NULL, 0, comm, n) <= max;
}

/* Hexadecimal digits, without "0x". */
static inline bool scan_hex(Scan *s, uint64_t *ret) {
        const char *p = s->p;
        uint64_t v = 0;

        for (; p < s->end && p < s->p + 16; p++) {
                int c = *p | 0x20;

                if (c >= '0' && c <= '9')
                        v = v << 4 | (uint64_t) (c - '0');
                else if (c >= 'a' && c <= 'f')
                        v = v << 4 | (uint64_t) (c - 'a' + 10);
                else
                        break;
        }
        if (p == s->p)
                return false;
        *ret = v;
        s->p = p;
        return true;
}

/* "1.302 us", "15 ms", "2.1  s": from nanoseconds to hours. */
bool scan_duration(Scan *s, uint64_t *ret_ns);
/* The same whose blanks may be lost, from microseconds to seconds: "1.302us|". */
bool scan_tight_duration(Scan *s, uint64_t *ret_ns);
/* "64", "-11", "0x40" */
bool scan_value(Scan *s, uint64_t *ret);
/* The value in what stands behind a call: "ret=0x40", " = -11".  False: there is none. */
bool scan_retval(Scan s, uint64_t *ret);
