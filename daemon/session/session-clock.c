/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The steps that the kernel tells of, and those that a look at the end finds.  A timer that never expires is cancelled
 * when CLOCK_REALTIME jumps (TFD_TIMER_CANCEL_ON_SET; linux 6.1 fs/timerfd.c, timerfd_clock_was_set(), and
 * timerfd_resume() after a sleep): then it is readable, and read() says so.
 */

#include <limits.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/log.h"
#include "base/unit.h"
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

static int set_timer(int fd) {
        /* The kernel cuts it to what a timer can hold. */
        const struct itimerspec never = { .it_value.tv_sec = LONG_MAX };

        return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0
                       ? ORIGIN(-errno)
                       : 0;
}

static int on_timer(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        uint64_t n;
        int r;

        if (read(fd, &n, sizeof(n)) >= 0 || errno != ECANCELED)
                return 0;
        r = set_timer(fd);
        session_clock_look(userdata);
        return r;
}

static int watch(SessionClock *c) {
        _cleanup_close_ int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        int r;

        if (fd < 0)
                return ORIGIN(-errno);
        r = set_timer(fd);
        if (r >= 0)
                r = sd_event_add_io(c->config.event, &c->watch, fd, EPOLLIN, on_timer, c);
        if (r >= 0)
                r = sd_event_source_set_io_fd_own(c->watch, true);
        if (r >= 0)
                TAKE_FD(fd);
        return r;
}

int session_clock_new(SessionClock **ret, const SessionClockConfig *config) {
        int r;
        SessionClock *c = NEW(SessionClock, .config = *config);

        if (!c)
                return -ENOMEM;
        r = watch(c);
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
