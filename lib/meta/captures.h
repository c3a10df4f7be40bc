/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Captures: what a session's triggers came to
 *
 * As JSON session.json's "captures":
 *
 *      { "n": 3, "times_ns": [176..., 176...],
 *        "triggers": [ { "fired": 3, "suppressed": 40, "last_ns": 176... } ] }
 *
 * "triggers" are those of the spec, in its order; "times_ns" are those of the last day at most,
 * since a cap may be one on a day's.  All times are CLOCK_REALTIME.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meta/trigger.h"

#define CAPTURES_MAX_A_DAY 1000
#define CAPTURES_DAY_NS (UINT64_C(24) * 3600 * 1000000000)

typedef struct TriggerCount {
        uint64_t fired;      /* and something was done */
        uint64_t suppressed; /* and nothing was: too soon, too many, or one was under way */
        uint64_t last_ns;    /* when it fired last, 0: never */
} TriggerCount;

typedef struct Captures {
        uint64_t n; /* made in all */
        TriggerCount triggers[TRIGGER_MAX];
        size_t n_triggers;
        uint64_t times_ns[CAPTURES_MAX_A_DAY]; /* ascending, of the last day */
        size_t n_times;
} Captures;

/* How far captures may go; 0: no limit. */
typedef struct CaptureCaps {
        uint64_t max, max_a_day, min_gap_ns;
} CaptureCaps;

/*
 * captures_wait() - how long until there may be another
 *
 * Return: 0: now; UINT64_MAX: never; else the time [ns].
 */
uint64_t captures_wait(const Captures *c, const CaptureCaps *caps, uint64_t now_ns);
/* One is made now. */
void captures_note(Captures *c, uint64_t now_ns);

json_t *captures_to_json(const Captures *c); /* null if there are none; NULL without memory */
/* Return: 0, CAPTURES_E_INVALID.  NULL and null are an empty one. */
enum { CAPTURES_E_INVALID = 1 };
int captures_from_json(Captures *ret, const json_t *o);
