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

#include <time.h>

#include "meta/json-field.h"

/* One moment on every clock [ns].  trace_ns is in the session's trace clock, whatever that counts
 * (below). */
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

/* @start: the session's.  1: @now is a moment after a change, and was added (in the place of the last if there
 * are CLOCK_STEPS_MAX); 0: nothing changed; -ENOMEM. */
int clock_steps_note(ClockSteps *s, const ClockTuple *start, const ClockTuple *now);
/* Returns what the clock on the wall showed at @trace_ns, also before @start. */
uint64_t clock_steps_realtime(const ClockSteps *s, const ClockTuple *start, uint64_t trace_ns);
void clock_steps_done(ClockSteps *s);
extern const JsonTable clock_step_table; /* each is set, and none before the last one */

/*
 * Trace clock: what the times of a recording are
 *
 * The name is one of those in tracefs' trace_clock.  Some are clocks of clock_gettime(), so that
 * anybody can read them; "local", "global" and "perf" count nanoseconds that only the kernel knows;
 * the rest do not count nanoseconds at all (linux 6.1 kernel/trace/trace.c, trace_clocks[].in_ns).
 */
/* True if it counts nanoseconds; an unknown one does not. */
bool trace_clock_is_ns(const char *name);
/* 0, or -ENOENT: it is none that clock_gettime() reads. */
int trace_clock_id(const char *name, clockid_t *ret);
/* What a trace clock shows now, as far as that can be told without the kernel's help: by its own name, or by how
 * long ago the recording began.  0; -ENOENT: it does not count nanoseconds. */
int trace_clock_estimate(const char *name, const ClockTuple *start, uint64_t *ret_ns);
