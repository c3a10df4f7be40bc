/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Ranges: a spread in pieces, each twice as long as the one before, to be drawn as a histogram; exact
 */

#include <stdbool.h>
#include <stddef.h>

#include "analyze/quantiles.h"

#define RANGES_MAX 66

typedef struct Range {
        uint64_t from_ns, to_ns; /* the first is in it, the last is not; UINT64_MAX: no end */
        uint64_t n;
} Range;

/* How many ranges, from the one with the shortest to that with the longest; 0 of an empty spread. */
size_t ranges_of(Range ret[static RANGES_MAX], const Quantiles *s);
