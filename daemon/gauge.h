/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Gauge: times two system calls that do next to nothing
 *
 *      getppid(2)   one function, which calls none that can be traced
 *      getuid(2)    one that calls one other
 *
 * Timed with nothing recorded and with all three, they tell what recording a call costs
 * (store/calibration.h).  The calling thread makes the calls; how it is recorded meanwhile is for
 * the caller (daemon/controller-gauge.c).
 */

#include "daemon/functions.h"
#include "store/calibration.h"

#define GAUGE_ROUNDS 10
#define GAUGE_CALLS 100 /* of each, in a round */
/* Calls that are recorded while all rounds go by. */
#define GAUGE_RECORDED ((uint64_t) GAUGE_ROUNDS * GAUGE_CALLS * 3)

/* Of each round what one call took [ps], ascending. */
typedef struct GaugeTimes {
        uint64_t outer[GAUGE_ROUNDS]; /* getppid(2) */
        uint64_t both[GAUGE_ROUNDS];  /* getuid(2) */
} GaugeTimes;

/*
 * gauge_functions() - what is to be recorded
 * @ret_roots: the two of system calls
 * @ret_names: these, and the one below
 *
 * Return: 0, GAUGE_E_NONE (they cannot all be traced here), -ENOMEM.
 */
enum { GAUGE_E_NONE = 1 };
int gauge_functions(const Functions *f, Strv *ret_roots, Strv *ret_names);

void gauge_time(GaugeTimes *ret);
/* Whether @ret came of it: not if recording made no difference. */
bool gauge_compare(Calibration *ret, const GaugeTimes *quiet, const GaugeTimes *recorded);
