/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A recording's times are the trace clock's; what the clock on the wall showed is worked out from
 * the moments that are written down: its start, and one after each time that the clock was set or
 * the host slept.
 */

#include <stdio.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/session-private.h"

static void say(const Session *s, const ClockShift *shift) {
        char text[UNIT_TEXT_MAX];

        if (shift->slept_ns >= CLOCK_STEP_NS_MIN)
                log_info("Session '%s': the host slept for %s.", s->meta->name,
                         format_duration(text, (uint64_t) shift->slept_ns));
        if (shift->set_ns >= CLOCK_STEP_NS_MIN)
                log_info("Session '%s': the clock was set forward by %s.", s->meta->name,
                         format_duration(text, (uint64_t) shift->set_ns));
        else if (shift->set_ns <= -CLOCK_STEP_NS_MIN)
                log_info("Session '%s': the clock was set back by %s.", s->meta->name,
                         format_duration(text, 0 - (uint64_t) shift->set_ns));
}

void session_look_at_clocks(void *userdata) {
        Session *s = userdata;
        ClockSteps *steps = &s->meta->clock_steps;
        ClockTuple now, before;
        ClockShift shift;
        int r;

        if (s->meta->state != SESSION_RECORDING || tracer_read_clocks(s->tracer, &now) < 0)
                return;
        before = steps->n > 0 ? steps->items[steps->n - 1] : s->meta->start;
        r = clock_steps_note(steps, &s->meta->start, &now);
        if (r < 0)
                (void) log_error_errno(r, "Session '%s': a step of the clock is not noted: %m",
                                       s->meta->name);
        if (r <= 0)
                return;
        shift = clock_shift(&before, &now);
        say(s, &shift);
        session_save(s);
        s->context->changed(s, s->context->userdata);
}

void session_watch_clocks(Session *s) {
        int r = clock_watch_new(&s->clock_watch, s->context->event, session_look_at_clocks, s);

        if (r < 0)
                (void) log_warning_errno(r,
                                         "Session '%s': steps of the clock are only noticed by "
                                         "looking at it: %m",
                                         s->meta->name);
        session_look_at_clocks(s);
}
