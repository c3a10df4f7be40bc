/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Calibration: what recording one call took, measured when a session was armed
 *
 * A system call that does nearly nothing was timed from outside: with nothing hooked, with its own
 * function recorded, and with one more below that.  Differences of these times are what the tracer
 * adds, in both parts that analyze/floor.h tells apart:
 *
 *      outer      a call that no recorded function called
 *      inner      one below it
 *
 * As JSON session.json's "calibration":
 *
 *      { "calls": 1000, "outer_ns": 270, "inner_low_ns": 228, "inner_ns": 231, "inner_high_ns": 244,
 *        "realtime_ns": 176... }
 *
 * The code was in the processor's caches: calls of a real workload cost as much or more.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define CALIBRATION_MAX_NS 1000000 /* what takes longer was no tracer */

typedef struct Calibration {
        uint64_t n;        /* calls that were timed in each of the three ways; 0: none were */
        uint64_t outer_ns; /* median */
        uint64_t inner_low_ns, inner_ns, inner_high_ns; /* minimum, median, third quarter */
        uint64_t realtime_ns;                           /* when */
} Calibration;

static inline bool calibration_is_set(const Calibration *c) {
        return c->n > 0;
}

json_t *calibration_to_json(const Calibration *c); /* a new object; NULL without memory */
/* Return: 0, CALIBRATION_E_INVALID.  NULL and null are none. */
enum { CALIBRATION_E_INVALID = 1 };
int calibration_from_json(Calibration *ret, const json_t *o);
