/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sending only queues; the wait for an answer writes what is left and reads what comes, so that neither side can
 * block the other.  The socket pair is a private daemon's only tie to us: if we die in whatever way, its end
 * reads as closed, and it puts the kernel back and leaves. */

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/contact.h"

#define LEAVE_NS (10 * NSEC_PER_SEC) /* for a private daemon to put everything back */

static int client_new(Client **ret, int fd) {
        _cleanup_(client_freep) Client *c = NEW(Client);
        int r;

        if (!c)
                return -ENOMEM;
        r = frame_new(&c->frame, fd, FRAME_REPLY_MAX);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(c);
        return 0;
}

int client_connect(Client **ret, const char *socket_path) {
        _cleanup_close_ int fd = dial(socket_path);
        int r;

        if (fd == -ENOENT || fd == -ECONNREFUSED)
                return CLIENT_E_NO_DAEMON;
        if (fd == -EACCES || fd == -EPERM)
                return CLIENT_E_FORBIDDEN;
        r = fd < 0 ? fd : client_new(ret, fd);
        if (r < 0)
                return r;
        TAKE_FD(fd);
        (*ret)->socket = socket_path;
        return 0;
}

int client_find_daemon(char **ret) {
        const char *path = secure_getenv("FTRACED_DAEMON");
        char beside[PATH_MAX + sizeof("/ftraced")], *slash;
        ssize_t n = readlink("/proc/self/exe", beside, PATH_MAX);

        beside[MAX(n, 0)] = 0;
        slash = strrchr(beside, '/');
        if (slash)
                strcpy(slash, "/ftraced");
        if (!path || !*path)
                path = slash && access(beside, X_OK) >= 0 ? beside : SBINDIR "/ftraced";
        *ret = strdup(path);
        return *ret ? 0 : -ENOMEM;
}

/* @fd: the daemon's end.  A session of its own: the terminal's Ctrl-C is for us, who then ask it to end properly.
 * The pid, or -errno, of execv() too. */
static pid_t spawn(const char *path, int fd, const char *store, const char *config_root) {
        enum { FD_CONNECTION = 3 };
        _cleanup_strv_ Strv args = {};
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none;
        pid_t pid;
        int r = strv_add(&args, path)
                        ?: strv_addf(&args, "--private=%i", FD_CONNECTION)
                        ?: strv_add(&args, "--quiet");

        if (r >= 0 && store)
                r = strv_addf(&args, "--store=%s", store);
        if (r >= 0 && config_root)
                r = strv_addf(&args, "--config-root=%s", config_root);
        if (r < 0)
                return r;
        (void) sigemptyset(&none);
        (void) posix_spawnattr_init(&attributes);
        (void) posix_spawnattr_setsigmask(&attributes, &none);
        (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
        (void) posix_spawn_file_actions_init(&actions);
        /* Whoever waits for our output to end must not wait for the daemon. */
        r = posix_spawn_file_actions_adddup2(&actions, fd, FD_CONNECTION)
                    ?: posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR,
                                                        0)
                    ?: posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
                    ?: posix_spawn_file_actions_addclosefrom_np(&actions, FD_CONNECTION + 1)
                    ?: posix_spawn(&pid, path, &actions, &attributes, args.items, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) posix_spawnattr_destroy(&attributes);
        return r == 0 ? pid : ORIGIN_STEP(-r, "execv");
}

int client_start_private(Client **ret, const char *store, const char *config_root) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_close_ int our_fd = -EBADF, its_fd = -EBADF;
        _cleanup_free_ char *path = NULL;
        int r = client_find_daemon(&path), fds[2];

        if (r < 0)
                return r;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return ORIGIN_STEP(-errno, "socketpair");
        our_fd = fds[0];
        its_fd = fds[1];
        r = client_new(&c, our_fd);
        if (r < 0)
                return r;
        TAKE_FD(our_fd);

        c->is_private = true;
        c->pid = spawn(path, its_fd, store, config_root);
        if (c->pid < 0)
                return TAKE(c->pid, 0);

        *ret = TAKE_PTR(c);
        return 0;
}

/* What an error of the socket means to the caller. */
static int connection_error(int r) {
        return r == -ECONNRESET || r == -EPIPE ? CLIENT_E_GONE : r;
}

int client_send(Client *c, const char *method, json_t *parameters, bool more) {
        const char *interface = strchr(method, '.') ? "" : "org.ftraced.";
        _cleanup_free_ char *text = NULL;
        json_auto_t *call = NULL;
        int r;

        parameters = parameters ?: json_object();
        call = json_pack("{s:s+, s:o}", "method", interface, method, "parameters", parameters);
        if (!call || (more && json_object_set_new(call, "more", json_true()) < 0))
                return -ENOMEM;
        text = json_dumps(call, JSON_COMPACT);
        if (!text)
                return -ENOMEM;
        if (strlen(text) > FRAME_CALL_MAX)
                return CLIENT_E_TOO_LONG;
        r = connection_error(frame_send_text(c->frame, TAKE_PTR(text)));
        /* Why the peer takes no more it may have said: client_receive() finds out. */
        return r == CLIENT_E_GONE ? 0 : r;
}

/* One message, waited for. */
static int receive_message(Client *c, json_t **ret, int ret_fds[static FRAME_FDS_MAX], int wake_fd,
                           int timeout_ms) {
        uint64_t end_ns = UINT64_MAX;
        int r;

        if (timeout_ms >= 0)
                end_ns = now_ns(CLOCK_MONOTONIC) + (uint64_t) timeout_ms * NSEC_PER_MSEC;
        for (;;) {
                if (!frame_has_buffered(c->frame)) {
                        struct pollfd p[] = {
                                { .fd = frame_fd(c->frame), .events = POLLIN },
                                { .fd = wake_fd, .events = POLLIN },
                        };

                        if (frame_wants_write(c->frame))
                                p[0].events |= POLLOUT;
                        r = poll_until(p, ELEMENTSOF(p), end_ns);
                        if (r < 0)
                                return r;
                        if (p[1].revents)
                                return CLIENT_E_INTERRUPTED;
                        /* An answer may wait although the peer takes no more: what there is to read
                         * goes first, and then tells what became of the connection. */
                        r = p[0].revents & POLLOUT ? frame_flush(c->frame) : 0;
                        if (!(p[0].revents & ~POLLOUT)) {
                                if (r < 0)
                                        return connection_error(r);
                                continue;
                        }
                }

                r = frame_receive(c->frame, ret, ret_fds);
                switch (r) {
                case 0:
                        return 0;
                case FRAME_E_AGAIN:
                        continue;
                case FRAME_E_CLOSED:
                        return CLIENT_E_GONE;
                case FRAME_E_INVALID:
                case FRAME_E_TOO_LONG:
                        return CLIENT_E_NONSENSE;
                default:
                        return connection_error(r);
                }
        }
}

/* An error reply as a Refusal: CLIENT_E_REFUSED or -ENOMEM. */
static int take_refusal(Refusal *refusal, const char *error_name, json_t *parameters) {
        int kind = refusal_from_error_name(error_name), r = 0;

        if (refusal && kind < 0)
                r = refusal_set(refusal, REFUSAL_SYSTEM_ERROR, NULL, "%s (%s)",
                                json_string_value(json_object_get(parameters, "message"))
                                        ?: "the daemon answered with an unknown error",
                                NAME_QUOTED(error_name));
        else if (refusal) {
                refusal_done(refusal);
                *refusal = (Refusal){
                        .kind = (RefusalKind) kind,
                        .parameters = parameters ? json_incref(parameters) : json_object(),
                };
        }
        return r < 0 ? r : CLIENT_E_REFUSED;
}

int client_receive(Client *c, json_t **ret, int *ret_fds, bool *ret_continues, Refusal *refusal,
                   int wake_fd, int timeout_ms) {
        const json_t *parameters, *error, *continues;
        json_t *reply;
        int fds[FRAME_FDS_MAX], r;

        r = receive_message(c, &reply, fds, wake_fd, timeout_ms);
        if (r != 0)
                return r;
        parameters = json_object_get(reply, "parameters");
        if (json_is_null(parameters))
                parameters = NULL;
        error = json_object_get(reply, "error");
        continues = json_object_get(reply, "continues");
        if ((parameters && !json_is_object(parameters)) || (error && !json_is_string(error)) ||
            (continues && !json_is_boolean(continues)) ||
            (json_is_true(continues) && (error || !ret_continues)))
                r = CLIENT_E_NONSENSE;
        else if (error)
                r = take_refusal(refusal, json_string_value(error), (json_t *) parameters);
        else {
                if (ret)
                        *ret = parameters ? json_incref((json_t *) parameters) : json_object();
                if (ret_continues)
                        *ret_continues = json_is_true(continues);
        }
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                if (r == 0 && ret_fds)
                        ret_fds[i] = fds[i];
                else
                        safe_close(fds[i]);
        json_decref(reply);
        return r;
}

int client_call(Client *c, const char *method, json_t *parameters, json_t **ret, int *ret_fds,
                Refusal *refusal) {
        int r = client_send(c, method, parameters, false);

        if (r != 0)
                return r;
        return client_receive(c, ret, ret_fds, NULL, refusal, -EBADF, -1);
}

Client *client_free(Client *c) {
        struct pollfd p;

        if (!c)
                return NULL;
        c->frame = frame_free(c->frame);
        if (c->pid > 0 && poll_child(c->pid, &p, 1, now_ns(CLOCK_MONOTONIC) + LEAVE_NS) >= 0)
                (void) waitpid(c->pid, NULL, WNOHANG);
        free(c);
        return NULL;
}
