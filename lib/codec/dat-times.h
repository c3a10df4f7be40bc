/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatTimes: what a trace.dat says of its times
 *
 * Pages hold what the trace clock showed.  Options say what that was, so that times are those that
 * `trace-cmd report` prints.  In the order in which they apply:
 *
 *      TIME_SHIFT 12   of a guest, against its host's clock: u64 peer   u32 flags (1: interpolate)
 *                      u32 n_cpus   { u32 n   s64 when[n]   s64 offset[n]   u64 scaling[n] }
 *                      { u64 fraction[n] } of each CPU, in later versions
 *      TSC2NSEC 14     u32 mult   u32 shift   u64 offset: ticks * mult >> shift are nanoseconds
 *      DATE 1          text of a number: microseconds to be added, so that it is the time of day
 *      OFFSET 7        text of a number: nanoseconds to be added
 *
 * Source: trace-cmd 3.3.3 Documentation/trace-cmd/trace-cmd.dat.v7.5.txt; lib/trace-cmd/trace-input.c,
 * timestamp_calc(), which makes nothing of TSC2NSEC's offset.
 */

#include "codec/dat-bytes.h"

/* How far a CPU of a guest was off, from a moment on. */
typedef struct DatShift {
        int64_t when, offset;
        uint64_t scaling, fraction;
} DatShift;

typedef struct DatShifts {
        DatShift *items; /* ascending by time */
        size_t n;
} DatShifts;

typedef struct DatTimes {
        bool is_of_day; /* DATE was there */
        int64_t offset_ns;
        uint32_t mult, shift; /* 0: what the clock counts is what it is */
        bool interpolates;
        DatShifts *cpus; /* n_cpus of them, by number */
        size_t n_cpus;
        uint8_t *shift_option; /* a copy of it, of n_shift_option bytes; NULL: none */
        size_t n_shift_option;
} DatTimes;

void dat_times_done(DatTimes *t);
/* Whether pages hold the times themselves. */
bool dat_times_are_plain(const DatTimes *t);
/* Takes in one of the four options, @data being its content; others are
 * passed over.  What cannot be understood changes nothing.  0 or -ENOMEM. */
int dat_times_read(DatTimes *t, uint16_t id, DatBytes data);
/* When it was that @cpu recorded @raw. */
uint64_t dat_times_apply(const DatTimes *t, uint32_t cpu, uint64_t raw);
/* What the trace clock showed then, or somewhat before. */
uint64_t dat_times_find(const DatTimes *t, uint64_t ns);
