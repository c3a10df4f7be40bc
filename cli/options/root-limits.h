/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Root limits: how long the slowest calls of each root take
 *
 * The FilterLimits (calls/filter.h) of --keep-slower=p99.  Roots are told apart by their names.
 */

#include "analyze/quantiles.h"
#include "calls/filter.h"

typedef struct RootLimit {
        char *name;
        Quantiles quantiles;
        uint64_t limit_ns; /* UINT64_MAX: not asked for yet */
} RootLimit;

typedef struct RootLimits {
        unsigned permille; /* of calls that are no slower than the limit */
        RootLimit *roots;  /* sorted by name */
        size_t n;
        FilterLimits limits;
} RootLimits;

/* @l must stay where it is. */
void root_limits_init(RootLimits *l, unsigned permille);
void root_limits_done(RootLimits *l);
