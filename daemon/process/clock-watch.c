/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The timer's only use is to be cancelled: then it is readable, and read() says so. */

#include <limits.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "daemon/process/clock-watch.h"

struct ClockWatch {
        int fd;
        sd_event_source *source;
        ClockStepped stepped;
        void *userdata;
};

static int set_timer(ClockWatch *w) {
        /* The kernel cuts it to what a timer can hold. */
        const struct itimerspec never = { .it_value.tv_sec = LONG_MAX };

        return timerfd_settime(w->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0
                       ? ORIGIN(-errno)
                       : 0;
}

static int on_timer(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        ClockWatch *w = userdata;
        uint64_t n;
        int r;

        if (read(fd, &n, sizeof(n)) >= 0 || errno != ECANCELED)
                return 0;
        r = set_timer(w);
        w->stepped(w->userdata);
        return r;
}

int clock_watch_new(ClockWatch **ret, sd_event *event, ClockStepped stepped, void *userdata) {
        _cleanup_(clock_watch_freep) ClockWatch *w =
                NEW(ClockWatch, .stepped = stepped, .userdata = userdata);
        int r;

        if (!w)
                return -ENOMEM;
        w->fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (w->fd < 0)
                return ORIGIN(-errno);
        r = set_timer(w);
        if (r >= 0)
                r = sd_event_add_io(event, &w->source, w->fd, EPOLLIN, on_timer, w);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(w);
        return 0;
}

ClockWatch *clock_watch_free(ClockWatch *w) {
        if (!w)
                return NULL;
        (void) sd_event_source_disable_unref(w->source);
        (void) safe_close(w->fd);
        return mfree(w);
}
