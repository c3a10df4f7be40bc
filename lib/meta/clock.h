/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Clock: moments on every clock, and how the clock on the wall moved meanwhile
 *
 * CLOCK_REALTIME and CLOCK_BOOTTIME are CLOCK_MONOTONIC and an offset each; all three are slewed
 * alike.  The first offset changes when somebody sets the clock (settimeofday(), ADJ_SETOFFSET, a
 * leap second), both change when the host sleeps, during which the trace clock "mono" stands still
 * as CLOCK_MONOTONIC does (linux 6.1 kernel/time/timekeeping.c, tk_set_wall_to_mono(),
 * __timekeeping_inject_sleeptime()).  So a moment after each change is all that is needed to say what
 * the clock on the wall showed at any time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "meta/json-field.h"

/* One moment on every clock [ns].  trace_ns is in the session's trace clock, whatever that counts
 * (meta/trace-clock.h). */
typedef struct ClockTuple {
        uint64_t trace_ns, monotonic_ns, boottime_ns, realtime_ns;
} ClockTuple;

bool clock_tuple_is_set(const ClockTuple *c);
extern const JsonTable clock_table;

/* How far the clocks moved between two moments other than by themselves [ns]. */
typedef struct ClockShift {
        int64_t set_ns;   /* somebody set the clock, forward or back */
        int64_t slept_ns; /* the host slept */
} ClockShift;

ClockShift clock_shift(const ClockTuple *before, const ClockTuple *now);

#define CLOCK_STEPS_MAX 256
#define CLOCK_STEP_NS_MIN 1000000 /* less is how exactly several clocks can be read at once */

/* The first moment after each change that was seen, ascending. */
typedef struct ClockSteps {
        ClockTuple *items;
        size_t n;
} ClockSteps;

/*
 * clock_steps_note()
 * @start: the session's
 *
 * Return: 1: @now is a moment after a change, and was added (in the place of the last if there are
 * CLOCK_STEPS_MAX); 0: nothing changed; -ENOMEM.
 */
int clock_steps_note(ClockSteps *s, const ClockTuple *start, const ClockTuple *now);
/* What the clock on the wall showed at @trace_ns, also before @start. */
uint64_t clock_steps_realtime(const ClockSteps *s, const ClockTuple *start, uint64_t trace_ns);
void clock_steps_done(ClockSteps *s);
extern const JsonTable clock_step_table; /* each is set, and none before the last one */
