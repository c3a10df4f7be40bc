/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Offsets are taken modulo 2^64, so that clocks set to any time at all can be compared. */

#include <errno.h>
#include <stdlib.h>

#include "store/clock.h"
#include "store/json-field.h"

#define NUMBER(member)                                                                             \
        {                                                                                          \
                .key = #member, .type = JSON_FIELD_U64, .offset = offsetof(ClockTuple, member),    \
                .max = INT64_MAX                                                                   \
        }

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
        json_t *o = clock_tuple_is_set(c) ? json_object() : json_null();

        if (json_is_object(o) && json_fields_write(o, fields, ELEMENTSOF(fields), c) < 0) {
                json_decref(o);
                return NULL;
        }
        return o;
}

int clock_tuple_from_json(ClockTuple *ret, const json_t *o) {
        const char *member;

        if (!o || json_is_null(o))
                return 0;
        if (!json_is_object(o) ||
            json_fields_read(ret, fields, ELEMENTSOF(fields), o, &member) != 0)
                return CLOCK_E_INVALID;
        return 0;
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
        ClockTuple *items;

        if (!is_step(shift.set_ns) && !is_step(shift.slept_ns))
                return 0;
        if (s->n < CLOCK_STEPS_MAX) {
                items = reallocarray(s->items, s->n + 1, sizeof(*items));
                if (!items)
                        return -ENOMEM;
                s->items = items;
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
        json_t *list = json_array();

        for (size_t i = 0; list && i < s->n; i++)
                if (json_array_append_new(list, clock_tuple_to_json(&s->items[i])) < 0) {
                        json_decref(list);
                        return NULL;
                }
        return list;
}

int clock_steps_from_json(ClockSteps *ret, const json_t *list) {
        size_t n = json_array_size(list);

        if (!list || json_is_null(list))
                return 0;
        if (!json_is_array(list) || n > CLOCK_STEPS_MAX)
                return CLOCK_E_INVALID;
        ret->items = calloc(n ?: 1, sizeof(*ret->items));
        if (!ret->items)
                return -ENOMEM;
        for (; ret->n < n; ret->n++) {
                ClockTuple *c = &ret->items[ret->n];

                if (clock_tuple_from_json(c, json_array_get(list, ret->n)) != 0 ||
                    !clock_tuple_is_set(c) || (ret->n > 0 && c->trace_ns < c[-1].trace_ns))
                        return CLOCK_E_INVALID;
        }
        return 0;
}
