/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Offsets are taken modulo 2^64, so that clocks set to any time at all can be compared. */

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "store/clock.h"
#include "store/json-field.h"

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

json_t *clock_tuple_to_json(const ClockTuple *c) {
        return clock_tuple_is_set(c) ? json_fields_new(fields, ELEMENTSOF(fields), c) : json_null();
}

int clock_tuple_from_json(ClockTuple *ret, const json_t *o) {
        if (!o || json_is_null(o))
                return 0;
        return json_is_object(o) ? json_fields_read(ret, fields, ELEMENTSOF(fields), o, NULL)
                                 : CLOCK_E_INVALID;
}

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

json_t *clock_steps_to_json(const ClockSteps *s) {
        return json_fields_new_list(fields, ELEMENTSOF(fields), s->items, s->n, sizeof(*s->items));
}

int clock_steps_from_json(ClockSteps *ret, const json_t *list) {
        int r = json_fields_read_list(&ret->items, &ret->n, fields, ELEMENTSOF(fields),
                                      sizeof(*ret->items), list, CLOCK_STEPS_MAX);

        for (size_t i = 0; r == 0 && i < ret->n; i++) {
                const ClockTuple *c = &ret->items[i];

                if (!clock_tuple_is_set(c) || (i > 0 && c->trace_ns < c[-1].trace_ns))
                        r = CLOCK_E_INVALID;
        }
        return r;
}
