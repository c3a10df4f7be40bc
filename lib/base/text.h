/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Strings that somebody owns
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
