/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What lines are put together from: each writes at @p, where there is room, and returns its end. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

#define COPY_BYTES 32 /* copied at once, of what is mostly shorter */

#define APPEND(p, s)                                                                               \
        ({                                                                                         \
                memcpy((p), (s), sizeof(s) - 1);                                                   \
                (p) + sizeof(s) - 1;                                                               \
        })

static inline char *append(char *p, const char *s, size_t n) {
        memcpy(p, s, n);
        return p + n;
}

/* From text that can be read COPY_BYTES behind its end. */
static inline char *append_slack(char *p, const char *s, size_t n) {
        memcpy(p, s, COPY_BYTES);
        if (_unlikely_(n > COPY_BYTES))
                memcpy(p + COPY_BYTES, s + COPY_BYTES, n - COPY_BYTES);
        return p + n;
}

static inline char *append_chars(char *p, char c, size_t n) {
        memset(p, c, n);
        return p + n;
}

/* @v in at least @n_columns columns, filled with @fill. */
static inline char *append_number(char *p, uint64_t v, int n_columns, char fill) {
        char digits[24];
        int n = 0;

        do {
                digits[n++] = (char) ('0' + v % 10);
                v /= 10;
        } while (v);
        for (int i = n; i < n_columns; i++)
                *p++ = fill;
        while (n > 0)
                *p++ = digits[--n];
        return p;
}

static inline int count_digits(uint64_t v) {
        int n = 1;

        for (; v >= 10; v /= 10)
                n++;
        return n;
}
