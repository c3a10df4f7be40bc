/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Offsets are taken modulo 2^64, so that clocks set to any time at all can be compared. */

#include "base/array.h"
#include "base/io.h"
#include "meta/clock.h"

#define NUMBER(member) JSON_FIELD(ClockTuple, member, U64, .max = INT64_MAX)

static const JsonField fields[] = {
        NUMBER(trace_ns),
        NUMBER(monotonic_ns),
        NUMBER(boottime_ns),
        NUMBER(realtime_ns),
};

bool clock_tuple_is_set(const ClockTuple *c) {
        return c->trace_ns || c->monotonic_ns || c->boottime_ns || c->realtime_ns;
}

const JsonTable clock_table = JSON_TABLE(ClockTuple, fields);

static bool is_next_step(const void *items, size_t i) {
        const ClockTuple *c = items;

        return clock_tuple_is_set(&c[i]) && (i == 0 || c[i].trace_ns >= c[i - 1].trace_ns);
}

const JsonTable clock_step_table =
        JSON_TABLE(ClockTuple, fields, .n_max = CLOCK_STEPS_MAX, .fits = is_next_step);

ClockShift clock_shift(const ClockTuple *before, const ClockTuple *now) {
        uint64_t monotonic = now->monotonic_ns - before->monotonic_ns,
                 boottime = now->boottime_ns - before->boottime_ns,
                 realtime = now->realtime_ns - before->realtime_ns;

        return (ClockShift){ .set_ns = (int64_t) (realtime - boottime),
                             .slept_ns = (int64_t) (boottime - monotonic) };
}

static bool is_step(int64_t ns) {
        return ns >= CLOCK_STEP_NS_MIN || ns <= -CLOCK_STEP_NS_MIN;
}

int clock_steps_note(ClockSteps *s, const ClockTuple *start, const ClockTuple *now) {
        ClockShift shift = clock_shift(s->n > 0 ? &s->items[s->n - 1] : start, now);

        if (!is_step(shift.set_ns) && !is_step(shift.slept_ns))
                return 0;
        if (s->n < CLOCK_STEPS_MAX)
                return ARRAY_ADD(s->items, s->n, *now) ? 1 : -ENOMEM;
        s->items[s->n - 1] = *now;
        return 1;
}

uint64_t clock_steps_realtime(const ClockSteps *s, const ClockTuple *start, uint64_t trace_ns) {
        const ClockTuple *c = start;

        for (size_t i = 0; i < s->n && s->items[i].trace_ns <= trace_ns; i++)
                c = &s->items[i];
        return c->realtime_ns + (trace_ns - c->trace_ns);
}

void clock_steps_done(ClockSteps *s) {
        free(s->items);
        *s = (ClockSteps){};
}

/* --- trace clocks -------------------------------------------------------------------------------- */

/* ktime_get_mono_fast_ns() and its sisters, which stamp the events, are what clock_gettime() reads, too
 * (linux 6.1 kernel/time/timekeeping.c). */
static const struct {
        const char *name;
        bool is_readable;
        clockid_t id;
} clocks[] = {
        { "mono", true, CLOCK_MONOTONIC },
        { "mono_raw", true, CLOCK_MONOTONIC_RAW },
        { "boot", true, CLOCK_BOOTTIME },
        { "tai", true, CLOCK_TAI },
        { "local", false, 0 },
        { "global", false, 0 },
        { "perf", false, 0 },
        { "uptime", false, 0 },
        { "tsc2nsec", false, 0 }, /* what trace-cmd makes of x86-tsc */
};

bool trace_clock_is_ns(const char *name) {
        for (size_t i = 0; i < ELEMENTSOF(clocks); i++)
                if (streq(clocks[i].name, name))
                        return true;
        return false;
}

int trace_clock_id(const char *name, clockid_t *ret) {
        for (size_t i = 0; i < ELEMENTSOF(clocks); i++)
                if (streq(clocks[i].name, name) && clocks[i].is_readable) {
                        *ret = clocks[i].id;
                        return 0;
                }
        return ORIGIN(-ENOENT);
}

int trace_clock_estimate(const char *name, const ClockTuple *start, uint64_t *ret_ns) {
        clockid_t id;

        if (trace_clock_id(name, &id) >= 0)
                *ret_ns = now_ns(id);
        else if (trace_clock_is_ns(name))
                *ret_ns = now_ns(CLOCK_MONOTONIC) - start->monotonic_ns + start->trace_ns;
        else
                return ORIGIN(-ENOENT);
        return 0;
}
