/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The steps that clock-watch.h tells of, and those that a look at the end finds. */

#include "base/log.h"
#include "base/unit.h"
#include "daemon/process/clock-watch.h"
#include "daemon/session/session-clock.h"

struct SessionClock {
        SessionClockConfig config;
        sd_event_source *watch;
};

static void say(const SessionMeta *m, const ClockShift *shift) {
        char text[UNIT_TEXT_MAX];

        if (shift->slept_ns >= CLOCK_STEP_NS_MIN)
                log_info("Session '%s': the host slept for %s.", m->name,
                         format_duration(text, (uint64_t) shift->slept_ns));
        if (shift->set_ns >= CLOCK_STEP_NS_MIN)
                log_info("Session '%s': the clock was set forward by %s.", m->name,
                         format_duration(text, (uint64_t) shift->set_ns));
        else if (shift->set_ns <= -CLOCK_STEP_NS_MIN)
                log_info("Session '%s': the clock was set back by %s.", m->name,
                         format_duration(text, 0 - (uint64_t) shift->set_ns));
}

void session_clock_look(SessionClock *c) {
        SessionMeta *m;
        ClockTuple now, before;
        ClockShift shift;
        int r;

        if (!c)
                return;
        m = c->config.meta;
        if (m->state != SESSION_RECORDING || tracer_read_clocks(c->config.tracer, &now) < 0)
                return;
        before = m->clock_steps.n > 0 ? m->clock_steps.items[m->clock_steps.n - 1] : m->start;
        r = clock_steps_note(&m->clock_steps, &m->start, &now);
        if (r < 0)
                (void) log_error_errno(r, "Session '%s': a step of the clock is not noted: %m",
                                       m->name);
        if (r <= 0)
                return;
        shift = clock_shift(&before, &now);
        say(m, &shift);
        c->config.changed(c->config.session);
}

static int on_timer(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        if (clock_watch_has_stepped(fd))
                session_clock_look(userdata);
        return 0;
}

int session_clock_new(SessionClock **ret, const SessionClockConfig *config) {
        int r;
        SessionClock *c = NEW(SessionClock, .config = *config);

        if (!c)
                return -ENOMEM;
        r = clock_watch_new(&c->watch, config->event, on_timer, c);
        if (r < 0)
                (void) log_warning_errno(r,
                                         "Session '%s': steps of the clock are only noticed by "
                                         "looking at it: %m",
                                         config->meta->name);
        session_clock_look(c);
        *ret = c;
        return 0;
}

SessionClock *session_clock_free(SessionClock *c) {
        if (!c)
                return NULL;
        (void) sd_event_source_disable_unref(c->watch);
        return mfree(c);
}
