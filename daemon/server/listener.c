/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who connects becomes a Connection if there is a place for him.  One accept() for each wake-up, so that a flood of
 * connections takes turns with everything else on the loop.
 *
 * A process without a free descriptor can neither accept a connection nor turn it away, and epoll reports it again at
 * once.  So a listener rests for a moment after any error that may last.
 */

#include <fcntl.h>
#include <libgen.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/io.h"
#include "base/log.h"
#include "daemon/server/server-private.h"

#define PAUSE_USEC ((uint64_t) 1000 * 1000)
#define ACCURACY_USEC ((uint64_t) 50 * 1000)
/* Who comes waits behind those who came before: not for long, also in a flood. */
#define BACKLOG 128

/* --- an address ------------------------------------------------------------------------------- */

/* bind() refuses a name that exists, whoever left it.  Only connect() tells a dead socket from a live one, so a name is
 * removed after ECONNREFUSED alone. */
static int remove_stale(const struct sockaddr_un *address) {
        _cleanup_close_ int fd = -EBADF;
        struct stat st;

        if (lstat(address->sun_path, &st) < 0)
                return errno == ENOENT ? 0 : ORIGIN(-errno);
        if (!S_ISSOCK(st.st_mode))
                return ORIGIN(-EEXIST);

        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return ORIGIN(-errno);
        /* EAGAIN: its queue is full, so that somebody listens. */
        if (connect(fd, (const struct sockaddr *) address, sizeof(*address)) >= 0 ||
            errno == EAGAIN)
                return ORIGIN(-EADDRINUSE);
        if (errno != ECONNREFUSED)
                return ORIGIN(-errno);
        return unlink(address->sun_path) < 0 ? ORIGIN(-errno) : 0;
}

int address_bind(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_free_ char *copy = NULL;
        _cleanup_close_ int fd = -EBADF;
        mode_t mask;
        int r;

        if (strlen(path) >= sizeof(address.sun_path))
                return ORIGIN(-ENAMETOOLONG);
        memcpy(address.sun_path, path, strlen(path));

        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        r = dir_make(AT_FDCWD, dirname(copy), 0755) ?: remove_stale(&address);
        if (r < 0)
                return r;

        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return ORIGIN(-errno);
        mask = umask(0177);
        r = bind(fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ? ORIGIN(-errno) : 0;
        (void) umask(mask);
        if (r < 0)
                return r;
        if (listen(fd, BACKLOG) < 0)
                return ORIGIN(-errno);
        return TAKE_FD(fd);
}

/* --- a place for who comes -------------------------------------------------------------------- */

static int refuse_connection(const Server *s, const Peer *who, Refusal *refusal) {
        const Quota *q = &s->quota;

        if (!quota_is_full(q, who))
                return refusal_set_quota(
                        refusal, "connections", q->max_connections,
                        "the daemon has all the connections it takes (%zu, %zu of them for root); "
                        "try again when some are closed",
                        q->max_connections, q->max_connections_per_user);
        return refusal_set_quota(
                refusal, "MaxConnections", q->max_connections_per_user,
                "you have %zu connections to the daemon, and it takes no more of one "
                "user (MaxConnections= in [Members] of ftraced.conf); end one that "
                "follows, waits or runs first",
                q->max_connections_per_user);
}

/* What a peer for whom there is no place is told before the connection closes, if it takes it. */
static void tell_away(const Server *s, int fd, const Peer *who) {
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_free_ char *text = NULL;
        json_auto_t *message = NULL;

        (void) refuse_connection(s, who, &refusal);
        if (s->closed)
                s->closed(who, refusal_message(&refusal), s->userdata);
        message = server_refusal_to_json(&refusal);
        text = message ? json_dumps(message, JSON_COMPACT) : NULL;
        if (text)
                (void) send(fd, text, strlen(text) + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* @fd is consumed on success.  0, QUOTA_E_FULL, -errno. */
static int server_accept(Server *s, int fd, Peer *ret) {
        int r = peer_of_socket(ret, fd);

        if (r >= 0)
                r = quota_add_connection(&s->quota, ret);
        if (r != 0)
                return r;
        r = connection_new(s, fd, ret);
        if (r < 0)
                quota_remove_connection(&s->quota, ret);
        return r;
}

int server_add_connection(Server *s, int fd) {
        Peer who;
        int r = server_accept(s, fd, &who);

        return r == QUOTA_E_FULL ? -EMFILE : r;
}

/* --- a listener ------------------------------------------------------------------------------- */

static int on_pause_end(sd_event_source *source, uint64_t usec, void *userdata) {
        Listener *l = userdata;

        (void) sd_event_source_set_enabled(l->io, SD_EVENT_ON);
        return 0;
}

static void accept_one(Server *s, int accepted_fd) {
        _cleanup_close_ int fd = accepted_fd;
        Peer who;
        int r = server_accept(s, fd, &who);

        if (r == 0)
                TAKE_FD(fd);
        else if (r == QUOTA_E_FULL)
                tell_away(s, fd, &who);
        else
                log_error_errno(r, "Cannot serve a connection: %m");
}

static int on_io(sd_event_source *source, int listener_fd, uint32_t events, void *userdata) {
        Listener *l = userdata;
        int fd = accept4(listener_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0)
                accept_one(l->server, fd);
        else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
                log_error_errno(errno, "Cannot accept a connection: %m");
                (void) sd_event_source_set_enabled(l->io, SD_EVENT_OFF);
                (void) sd_event_source_set_time_relative(l->pause, PAUSE_USEC);
                (void) sd_event_source_set_enabled(l->pause, SD_EVENT_ONESHOT);
        }
        return 0;
}

Listener *listener_free(Listener *l) {
        if (!l)
                return NULL;
        sd_event_source_disable_unref(l->io);
        sd_event_source_disable_unref(l->pause);
        safe_close(l->fd);
        return mfree(l);
}
DEFINE_CLEANUP(Listener *, listener_free);

int server_add_listener(Server *s, int fd) {
        _cleanup_(listener_freep) Listener *l = NULL;
        int flags = fcntl(fd, F_GETFL), r;

        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
                return ORIGIN(-errno);
        l = NEW(Listener, .server = s, .fd = -EBADF);
        if (!l)
                return -ENOMEM;
        r = sd_event_add_time(s->event, &l->pause, CLOCK_MONOTONIC, UINT64_MAX, ACCURACY_USEC,
                              on_pause_end, l);
        if (r >= 0)
                r = sd_event_add_io(s->event, &l->io, fd, EPOLLIN, on_io, l);
        if (r < 0)
                return r;
        l->fd = fd;
        SLIST_INSERT_HEAD(&s->listeners, l, link);
        TAKE_PTR(l);
        return 0;
}
