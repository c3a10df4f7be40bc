/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame (wire/frame.h) that waits: one call, one reply.  Whoever calls keeps what it needs of it. */

#include <poll.h>

#include "public/source.h"
#include "wire/frame.h"

#define DEFAULT_SOCKET RUNSTATEDIR "/ftraced/org.ftraced"
#define INTERFACE "org.ftraced."

struct ftraced_client {
        Frame *frame;
        char *reply, *error; /* of the last call; NULL: none */
        int fds[FRAME_FDS_MAX];
};

DEFINE_CLEANUP(ftraced_client *, ftraced_client_free);

static void forget_reply(ftraced_client *c) {
        free(TAKE_PTR(c->reply));
        free(TAKE_PTR(c->error));
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                c->fds[i] = safe_close(c->fds[i]);
}

ftraced_client *ftraced_client_free(ftraced_client *c) {
        if (!c)
                return NULL;
        forget_reply(c);
        frame_free(c->frame);
        return mfree(c);
}

int ftraced_client_connect(ftraced_client **ret, const char *socket_path) {
        _cleanup_(ftraced_client_freep) ftraced_client *c = calloc(1, sizeof(*c));
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (!c)
                return -ENOMEM;
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                c->fds[i] = -EBADF;
        fd = dial(socket_path ?: DEFAULT_SOCKET);
        if (fd < 0)
                return fd;
        r = frame_new(&c->frame, fd, FRAME_REPLY_MAX);
        if (r < 0)
                return r;
        TAKE_FD(fd);
        *ret = TAKE_PTR(c);
        return 0;
}

static int wait_for_socket(const ftraced_client *c) {
        struct pollfd p = { .fd = frame_fd(c->frame), .events = POLLIN };

        if (frame_wants_write(c->frame))
                p.events |= POLLOUT;
        return poll(&p, 1, -1) < 0 && errno != EINTR ? ORIGIN(-errno) : 0;
}

/* The next message: 0 or -errno. */
static int receive(ftraced_client *c, json_t **ret) {
        for (;;) {
                int r = frame_flush(c->frame);

                if (r < 0)
                        return r;
                r = frame_receive(c->frame, ret, c->fds);
                if (r == FRAME_E_CLOSED)
                        return ORIGIN(-ECONNRESET);
                if (r == FRAME_E_INVALID || r == FRAME_E_TOO_LONG)
                        return ORIGIN(-EBADMSG);
                if (r != FRAME_E_AGAIN)
                        return r;
                r = wait_for_socket(c);
                if (r < 0)
                        return r;
        }
}

static int send_call(ftraced_client *c, const char *method, const char *parameters) {
        json_auto_t *object =
                parameters ? json_loads(parameters, JSON_REJECT_DUPLICATES, NULL) : json_object();
        json_auto_t *message = NULL;

        if (!json_is_object(object))
                return ORIGIN(-EINVAL);
        message = json_pack("{s:s+, s:O}", "method", strchr(method, '.') ? "" : INTERFACE, method,
                            "parameters", object);
        if (!message)
                return ORIGIN(-EINVAL);
        return frame_send(c->frame, message, NULL, 0);
}

int ftraced_client_call(ftraced_client *c, const char *method, const char *parameters,
                        const char **ret) {
        json_auto_t *reply = NULL;
        const json_t *error;
        int r;

        forget_reply(c);
        r = send_call(c, method, parameters);
        if (r >= 0)
                r = receive(c, &reply);
        if (r < 0)
                return r;
        error = json_object_get(reply, "error");
        if (json_is_string(error)) {
                c->error = strdup(json_string_value(error));
                if (!c->error)
                        return -ENOMEM;
        }
        c->reply = json_dumps(json_object_get(reply, "parameters"), JSON_ENCODE_ANY);
        if (!c->reply)
                c->reply = strdup("{}");
        if (!c->reply)
                return -ENOMEM;
        if (ret)
                *ret = c->reply;
        return c->error ? 1 : 0;
}

const char *ftraced_client_error(const ftraced_client *c) {
        return c->error;
}

/* The descriptor that the reply's @member is the index of, which the caller then owns; -EBADF. */
static int take_fd(ftraced_client *c, const json_t *reply, const char *member) {
        const json_t *index = json_object_get(reply, member);
        json_int_t i = json_integer_value(index);

        return json_is_integer(index) && i >= 0 && i < FRAME_FDS_MAX ? TAKE_FD(c->fds[i]) : -EBADF;
}

int ftraced_client_open(ftraced_client *c, const char *session, ftraced_source **ret) {
        json_auto_t *parameters = json_pack("{s:s}", "session", session), *reply = NULL;
        _cleanup_free_ char *text = parameters ? json_dumps(parameters, 0) : NULL;
        const char *answer;
        SessionDir *dir;
        int r, fd, symbols_fd;

        if (!text)
                return ORIGIN(-EINVAL);
        r = ftraced_client_call(c, "Open", text, &answer);
        if (r != 0)
                return r < 0                                                     ? r
                       : streq(c->error, INTERFACE "SessionNotFound")            ? -ENOENT
                       : streq(c->error, "org.varlink.service.PermissionDenied") ? -EACCES
                                                                                 : -EIO;
        reply = json_loads(answer, 0, NULL);
        fd = take_fd(c, reply, "directory");
        symbols_fd = take_fd(c, reply, "symbols");
        if (fd < 0) {
                safe_close(symbols_fd);
                return ORIGIN(-EBADMSG);
        }
        r = session_dir_take_fds(&dir, fd, symbols_fd);
        return r < 0 ? r : ftraced_source_take_dir(ret, dir);
}
