/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Strings that somebody owns
 */

#include "base/cleanup.h"

/* Frees *@at and puts a copy of @s, which may be NULL, in its place.  0, or -ENOMEM and nothing has
 * changed. */
static inline int text_replace(char **at, const char *s) {
        char *copy = s ? strdup(s) : NULL;

        if (s && !copy)
                return -ENOMEM;
        free(*at);
        *at = copy;
        return 0;
}

/* asprintf() that returns 0, or -ENOMEM and *@ret is NULL; the caller frees it. */
#define text_format(ret, ...) (asprintf((ret), __VA_ARGS__) < 0 ? (*(ret) = NULL, -ENOMEM) : 0)

/* Which of @n words @s is; -EINVAL: none. */
static inline int text_find(const char *const *words, size_t n, const char *s) {
        for (size_t i = 0; i < n; i++)
                if (streq(words[i], s))
                        return (int) i;
        return ORIGIN(-EINVAL);
}
