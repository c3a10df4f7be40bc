/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Typo: which word was meant
 */

#include "base/strv.h"

#define TYPO_SUGGESTIONS_MAX 3

/*
 * Typing errors between @a and @b: letters added, left out, changed, or two neighbours swapped
 * (Damerau and Levenshtein); more than @limit, or words beyond FUNCTION_NAME_MAX, are limit + 1.
 */
size_t typo_distance(const char *a, const char *b, size_t limit);
/* How far from @word one may be that was meant by it. */
size_t typo_limit(const char *word);
/* The one of @n words that may have been meant by @word: the nearest, or the shortest of which it is the beginning,
 * three letters at least; NULL: none. */
const char *typo_nearest(const char *word, const char *const *words, size_t n);
/* Adds at most TYPO_SUGGESTIONS_MAX of @names that are like @name, the nearest first: few typing errors, then a
 * long common beginning.  0 or -ENOMEM. */
int typo_suggest(const char *const *names, size_t n, const char *name, Strv *ret);
