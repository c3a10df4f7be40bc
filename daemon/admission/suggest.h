/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Suggest: which names may have been meant
 */

#include <stddef.h>

#include "base/strv.h"

#define SUGGESTIONS_MAX 3

/* Adds at most SUGGESTIONS_MAX of @names that are like @name, the nearest first: few typing errors
 * (letters added, left out, changed, or two neighbours swapped), then a long common beginning.
 * 0 or -ENOMEM. */
int suggest_names(const char *const *names, size_t n, const char *name, Strv *ret);
