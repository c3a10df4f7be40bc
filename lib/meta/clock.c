/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Offsets are taken modulo 2^64, so that clocks set to any time at all can be compared. */

#include "base/grow.h"
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
        if (s->n < CLOCK_STEPS_MAX) {
                if (!ARRAY_GROW(s->items, s->n))
                        return -ENOMEM;
                s->n++;
        }
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
