/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The timer's only use is to be cancelled: then it is readable, and read() says so. */

#include <limits.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/cleanup.h"
#include "daemon/process/clock-watch.h"

static int set_timer(int fd) {
        /* The kernel cuts it to what a timer can hold. */
        const struct itimerspec never = { .it_value.tv_sec = LONG_MAX };

        return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0
                       ? ORIGIN(-errno)
                       : 0;
}

bool clock_watch_has_stepped(int fd) {
        uint64_t n;

        if (read(fd, &n, sizeof(n)) >= 0 || errno != ECANCELED)
                return false;
        (void) set_timer(fd);
        return true;
}

int clock_watch_new(sd_event_source **ret, sd_event *event, sd_event_io_handler_t handler,
                    void *userdata) {
        _cleanup_close_ int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        int r;

        if (fd < 0)
                return ORIGIN(-errno);
        r = set_timer(fd);
        if (r >= 0)
                r = sd_event_add_io(event, ret, fd, EPOLLIN, handler, userdata);
        if (r >= 0)
                r = sd_event_source_set_io_fd_own(*ret, true);
        if (r >= 0)
                TAKE_FD(fd);
        return MIN(r, 0);
}
