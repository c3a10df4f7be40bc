/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * List of strings: grows at the end, owns its strings, order kept.  Embedded
 * by value; `(Strv) {}` is an empty one.  Items are never NULL; items[n] is
 * NULL whenever items is not.
 */

#include "base/cleanup.h"

typedef struct Strv {
        char **items;
        size_t n;
        size_t n_room; /* strings that fit before it must grow, with the NULL */
} Strv;

int strv_add(Strv *v, const char *s); /* copies @s; -ENOMEM */
int strv_addn(Strv *v, const char *s, size_t n);
int strv_addf(Strv *v, const char *format, ...) _printf_(2, 3);
int strv_take(Strv *v, char *s);                    /* consumes @s, also on failure */
char *strv_take_first(Strv *v);                     /* of one that has any; the caller frees */
int strv_add_new(Strv *v, const char *s);           /* unless it is there */
int strv_replace(Strv *v, size_t i, const char *s); /* with a copy; 0 or -ENOMEM */
int strv_copy(Strv *ret, const Strv *v);
int strv_copy_sorted(Strv *ret, const Strv *v); /* and strv_sort_unique() of the copy */
int strv_extend(Strv *v, const Strv *words);    /* with copies of all */
/* Adds those of @words that are in @sorted, one that strv_sort_unique() left, or those that are not. */
int strv_pick(Strv *v, const Strv *words, const Strv *sorted, bool in_both);
/* Adds every word of @s, split at any of @separators; empty words are skipped. */
int strv_split(Strv *v, const char *s, const char *separators);
bool strv_contains(const Strv *v, const char *s);
/* The same of one that strv_sort_unique() left. */
bool strv_finds(const Strv *sorted, const char *s);
bool strv_equal(const Strv *a, const Strv *b); /* as ordered lists */
void strv_sort_unique(Strv *v);                /* byte order */
/* Words joined by @separator; caller frees; NULL without memory. */
char *strv_join(const Strv *v, const char *separator);
void strv_done(Strv *v);
#define _cleanup_strv_ _cleanup_(strv_done)
