/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Trace clock: what the times of a recording are
 *
 * The name is one of those in tracefs' trace_clock.  Some are clocks of clock_gettime(), so that
 * anybody can read them; "local", "global" and "perf" count nanoseconds that only the kernel knows;
 * the rest do not count nanoseconds at all (linux 6.1 kernel/trace/trace.c, trace_clocks[].in_ns).
 */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "meta/clock.h"

/* Whether it counts nanoseconds; an unknown one does not. */
bool trace_clock_is_ns(const char *name);
/* 0, or -ENOENT: it is none that clock_gettime() reads. */
int trace_clock_id(const char *name, clockid_t *ret);
/*
 * What a trace clock shows now, as far as that can be told without the kernel's help: by its own
 * name, or by how long ago the recording began.
 * Return: 0; -ENOENT: it does not count nanoseconds.
 */
int trace_clock_estimate(const char *name, const ClockTuple *start, uint64_t *ret_ns);
