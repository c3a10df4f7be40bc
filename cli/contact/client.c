/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A Frame that waits.  Sending only queues; the wait for an answer writes what
 * is left and reads what comes, so that neither side can block the other.
 *
 * A private daemon is a child that holds the other end of a socket pair.  The
 * pair is its only tie to us: if we die in whatever way, its end reads as
 * closed, and it puts the kernel back and leaves.
 */

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/contact/client.h"
#include "wire/frame.h"

#define CLIENT_LEAVE_MS (10 * 1000) /* for a private daemon to put everything back */

struct Client {
        Frame *frame;
        pid_t pid; /* of the private daemon; 0: none */
};

static int client_new(Client **ret, int fd) {
        _cleanup_(client_freep) Client *c = NULL;
        int r;

        c = malloc(sizeof(*c));
        if (!c)
                return -ENOMEM;
        *c = (Client){};
        r = frame_new(&c->frame, fd, FRAME_REPLY_MAX);
        if (r < 0)
                return r;

        *ret = TAKE_PTR(c);
        return 0;
}

int client_connect(Client **ret, const char *socket_path) {
        _cleanup_close_ int fd = dial(socket_path);
        int r;

        switch (fd) {
        case -ENOENT:
        case -ECONNREFUSED:
                return CLIENT_E_NO_DAEMON;
        case -EACCES:
        case -EPERM:
                return CLIENT_E_FORBIDDEN;
        default:
                if (fd < 0)
                        return fd;
        }
        r = client_new(ret, fd);
        if (r < 0)
                return r;
        TAKE_FD(fd);
        return 0;
}

int client_find_daemon(char **ret) {
        const char *named = secure_getenv("FTRACED_DAEMON");
        char self[PATH_MAX], *path, *slash;
        ssize_t n;

        if (named && *named)
                path = strdup(named);
        else {
                n = readlink("/proc/self/exe", self, sizeof(self) - 1);
                self[MAX(n, 0)] = 0;
                slash = strrchr(self, '/');
                if (slash)
                        *slash = 0;
                if (asprintf(&path, "%s/ftraced", self) < 0)
                        return -ENOMEM;
                if (!slash || access(path, X_OK) < 0) {
                        free(path);
                        path = strdup(SBINDIR "/ftraced");
                }
        }
        if (!path)
                return -ENOMEM;
        *ret = path;
        return 0;
}

/* What the daemon has besides the standard ones; the second until execv(). */
enum { FD_CONNECTION = 3, FD_ERROR = 4, FD_BEHIND = 5 };

/* Above all that it is to have first, so that none overwrites another.  0 or -errno. */
static int move_descriptors(int fd, int error_fd) {
        fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_BEHIND);
        error_fd = fcntl(error_fd, F_DUPFD_CLOEXEC, FD_BEHIND);
        if (fd < 0 || error_fd < 0 || dup2(fd, FD_CONNECTION) < 0 ||
            dup3(error_fd, FD_ERROR, O_CLOEXEC) < 0)
                return ORIGIN_STEP(-errno, "dup2");
        closefrom(FD_BEHIND);
        return 0;
}

/* In the child, between fork() and execv(): async-signal-safe calls only.  -errno. */
static int become_daemon(char *const *args) {
        sigset_t none;
        int null_fd;

        /* A session of its own: the terminal's Ctrl-C is for us, who then ask it to end properly.
         */
        if (setsid() < 0)
                return ORIGIN_STEP(-errno, "setsid");
        sigemptyset(&none);
        if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
                return ORIGIN_STEP(-errno, "sigprocmask");

        /* Whoever waits for our output to end must not wait for the daemon. */
        null_fd = open("/dev/null", O_RDWR);
        if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0)
                return ORIGIN_STEP(-errno, "/dev/null");
        if (null_fd > STDERR_FILENO)
                (void) close(null_fd);

        execv(args[0], args);
        return ORIGIN_STEP(-errno, "execv");
}

/* The parent runs the same program, so that what the note points to is there as well. */
static _noreturn_ void give_up(int error_fd, int error) {
        Origin o;

        (void) origin_find(&o, error);
        (void) write_full(error_fd, &o, sizeof(o));
        _exit(127);
}

/* @fd: the daemon's end.  The pid, or -errno, of execv() too. */
static pid_t spawn(const char *path, int fd, const char *store, const char *tracefs) {
        _cleanup_close_ int error_read_fd = -EBADF, error_write_fd = -EBADF;
        _cleanup_strv_ Strv args = {};
        int fds[2], r, error;
        Origin o = {};
        ssize_t n;
        pid_t pid;

        r = strv_add(&args, path)
                    ?: strv_addf(&args, "--private=%i", FD_CONNECTION)
                    ?: strv_add(&args, "--quiet");
        if (r >= 0 && store)
                r = strv_addf(&args, "--store=%s", store);
        if (r >= 0 && tracefs)
                r = strv_addf(&args, "--tracefs=%s", tracefs);
        if (r < 0)
                return r;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN_STEP(-errno, "pipe2");
        error_read_fd = fds[0];
        error_write_fd = fds[1];

        pid = fork();
        if (pid < 0)
                return ORIGIN_STEP(-errno, "fork");
        if (pid == 0) {
                error = move_descriptors(fd, error_write_fd);
                if (error < 0)
                        give_up(error_write_fd, error);
                give_up(FD_ERROR, become_daemon(args.items));
        }

        /* The pipe closes with nothing in it when execv() succeeds. */
        error_write_fd = safe_close(error_write_fd);
        n = read_up_to(error_read_fd, &o, sizeof(o));
        if (n == 0)
                return pid;

        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        if (n != sizeof(o))
                return ORIGIN(-EIO);
        origin_pass_on(&o);
        return -o.error;
}

int client_start_private(Client **ret, const char *store, const char *tracefs) {
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

        c->pid = spawn(path, its_fd, store, tracefs);
        if (c->pid < 0)
                return TAKE(c->pid, 0);

        *ret = TAKE_PTR(c);
        return 0;
}

bool client_is_private(const Client *c) {
        return c->pid > 0;
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
        int kind = refusal_from_error_name(error_name), r;
        const char *message;

        if (!refusal)
                return CLIENT_E_REFUSED;

        message = json_string_value(json_object_get(parameters, "message"));
        if (kind < 0) {
                r = refusal_set(refusal, REFUSAL_SYSTEM_ERROR, NULL, "%s (%s)",
                                message ?: "the daemon answered with an unknown error",
                                NAME_QUOTED(error_name));
                return r < 0 ? r : CLIENT_E_REFUSED;
        }

        refusal_done(refusal);
        *refusal = (Refusal){
                .kind = (RefusalKind) kind,
                .parameters = parameters ? json_incref(parameters) : json_object(),
        };
        return CLIENT_E_REFUSED;
}

/* A reply's parts, borrowed from it.  False if it is none. */
static bool reply_parse(json_t *reply, json_t **ret_parameters, const char **ret_error,
                        bool *ret_continues) {
        json_t *parameters = json_object_get(reply, "parameters"),
               *error = json_object_get(reply, "error"),
               *continues = json_object_get(reply, "continues");

        if ((parameters && !json_is_object(parameters) && !json_is_null(parameters)) ||
            (error && !json_is_string(error)) || (continues && !json_is_boolean(continues)))
                return false;
        *ret_parameters = json_is_object(parameters) ? parameters : NULL;
        *ret_error = json_string_value(error);
        *ret_continues = json_is_true(continues);
        return !(*ret_error && *ret_continues);
}

int client_receive(Client *c, json_t **ret, int *ret_fds, bool *ret_continues, Refusal *refusal,
                   int wake_fd, int timeout_ms) {
        json_t *reply, *parameters;
        int fds[FRAME_FDS_MAX], r;
        const char *error;
        bool continues;

        r = receive_message(c, &reply, fds, wake_fd, timeout_ms);
        if (r != 0)
                return r;

        if (!reply_parse(reply, &parameters, &error, &continues) || (continues && !ret_continues))
                r = CLIENT_E_NONSENSE;
        else if (error)
                r = take_refusal(refusal, error, parameters);
        else {
                if (ret)
                        *ret = parameters ? json_incref(parameters) : json_object();
                if (ret_continues)
                        *ret_continues = continues;
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

bool client_leave(Client *c, uint64_t ms) {
        struct pollfd p;

        c->frame = frame_free(c->frame);
        if (c->pid <= 0)
                return true;
        if (poll_child(c->pid, &p, 1, now_ns(CLOCK_MONOTONIC) + ms * NSEC_PER_MSEC) < 0)
                return false;
        if (waitpid(c->pid, NULL, WNOHANG) == c->pid)
                c->pid = 0;
        return true;
}

Client *client_free(Client *c) {
        if (!c)
                return NULL;

        (void) client_leave(c, CLIENT_LEAVE_MS);
        free(c);
        return NULL;
}
