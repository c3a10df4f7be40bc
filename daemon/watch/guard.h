/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Guard: when a session costs the host more than it may
 *
 * Pure: it is given running totals and says whether a limit was passed.  There are two windows, so
 * that a short burst, which every workload has, ends nothing, and a flood does not last:
 *
 *      sustained   the mean over the last GUARD_WINDOW_NS is above the limit
 *      flood       the mean over the last GUARD_FLOOD_NS is above GUARD_FLOOD times the limit
 *
 * Looks come when they come (daemon/watch/health.h, and sooner the more is stored: guard_look_bytes()), so
 * a window is the shortest time between two looks that is at least as long.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/unit.h"
#include "meta/meta.h"

#define GUARD_WINDOW_NS (10 * NSEC_PER_SEC)
#define GUARD_FLOOD_NS (NSEC_PER_SEC / 2)
#define GUARD_FLOOD 4U
#define GUARD_SAMPLES 32 /* one in GUARD_FLOOD_NS at most, so more than GUARD_WINDOW_NS */

/* Totals since the session began, at a moment of CLOCK_MONOTONIC. */
typedef struct GuardSample {
        uint64_t at_ns;
        uint64_t totals[_SESSION_LIMIT_N]; /* events that the kernel recorded or had no room for; bytes of
                                              pages stored; us that the daemon spent on the session */
} GuardSample;

typedef struct Guard {
        uint64_t limits[_SESSION_LIMIT_N];  /* a second; 0: none */
        GuardSample samples[GUARD_SAMPLES]; /* a ring, in which n_samples were written in all */
        uint64_t n_samples;
} Guard;

/* What passed a limit. */
typedef struct GuardVerdict {
        SessionLimit kind;
        uint64_t rate, limit; /* a second; of a flood the limit that counts for it */
        uint64_t window_ns;   /* in which it was seen */
} GuardVerdict;

/* With the limits of @spec, in which 0 and SPEC_UNLIMITED are none, and the totals of now. */
void guard_init(Guard *g, const Spec *spec, const GuardSample *now);
/* Compares with what was before: 0, or GUARD_E_PASSED and *@ret.  Totals that go backwards count as no change. */
enum { GUARD_E_PASSED = 1 };
int guard_look(Guard *g, const GuardSample *now, GuardVerdict *ret);
/* After how many stored bytes the next look is due, if it does not come anyhow; UINT64_MAX: none. */
uint64_t guard_look_bytes(const Guard *g);
#define GUARD_TEXT_MAX 192
/* "1,203,441 events a second over 10 s, more than the 1,000,000 that MaxEventRate= allows; ..." */
char *guard_sentence(char text[static GUARD_TEXT_MAX], const GuardVerdict *v);
