/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One accept() for each wake-up, so that a flood of connections takes turns
 * with everything else on the loop.
 */

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "daemon/server/listener.h"

#define PAUSE_USEC ((uint64_t) 100 * 1000)
#define ACCURACY_USEC ((uint64_t) 50 * 1000)

struct Listener {
        int fd;
        int reserve_fd; /* -EBADF: given up and not to be had again yet */
        ListenerAccepted accepted;
        void *userdata;
        sd_event_source *io, *pause;
};

static int open_reserve(void) {
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        return fd < 0 ? ORIGIN(-errno) : fd;
}

static void rest(Listener *l, int error) {
        log_error_errno(error, "Cannot accept a connection: %m");
        (void) sd_event_source_set_enabled(l->io, SD_EVENT_OFF);
        (void) sd_event_source_set_time_relative(l->pause, PAUSE_USEC);
        (void) sd_event_source_set_enabled(l->pause, SD_EVENT_ONESHOT);
}

static int on_pause_end(sd_event_source *source, uint64_t usec, void *userdata) {
        Listener *l = userdata;

        if (l->reserve_fd < 0)
                l->reserve_fd = open_reserve();
        (void) sd_event_source_set_enabled(l->io, SD_EVENT_ON);
        return 0;
}

static void turn_away(Listener *l, int error) {
        int fd;

        if (l->reserve_fd < 0) {
                rest(l, error);
                return;
        }
        l->reserve_fd = safe_close(l->reserve_fd);
        fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        safe_close(fd);
        l->reserve_fd = open_reserve();
        if (fd < 0 || l->reserve_fd < 0)
                rest(l, error);
        else
                log_debug("server", "Turned a connection away: %s", strerror(error));
}

static int on_io(sd_event_source *source, int listener_fd, uint32_t events, void *userdata) {
        Listener *l = userdata;
        int fd = accept4(listener_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0)
                l->accepted(fd, l->userdata);
        else if (errno == EMFILE || errno == ENFILE)
                turn_away(l, errno);
        else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                rest(l, errno);
        return 0;
}

int listener_new(Listener **ret, sd_event *event, int fd, ListenerAccepted accepted,
                 void *userdata) {
        _cleanup_(listener_freep) Listener *l = NULL;
        int flags, r;

        flags = fcntl(fd, F_GETFL);
        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
                return ORIGIN(-errno);

        l = NEW(Listener, .fd = -EBADF, .reserve_fd = open_reserve(), .accepted = accepted,
                .userdata = userdata);
        if (!l)
                return -ENOMEM;
        if (l->reserve_fd < 0)
                return l->reserve_fd;
        r = sd_event_add_time(event, &l->pause, CLOCK_MONOTONIC, UINT64_MAX, ACCURACY_USEC,
                              on_pause_end, l);
        if (r >= 0)
                r = sd_event_add_io(event, &l->io, fd, EPOLLIN, on_io, l);
        if (r < 0)
                return r;

        l->fd = fd;
        *ret = TAKE_PTR(l);
        return 0;
}

Listener *listener_free(Listener *l) {
        if (!l)
                return NULL;

        sd_event_source_disable_unref(l->io);
        sd_event_source_disable_unref(l->pause);
        safe_close(l->reserve_fd);
        safe_close(l->fd);
        return mfree(l);
}
