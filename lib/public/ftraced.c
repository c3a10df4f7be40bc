/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A session's directory, what stands in for one (a trace.dat), or a text: all of them give steps
 * (calls/step.h), of which an event is the part that others may rely on.  Addresses are left out.
 * Of the daemon a frame (wire/frame.h) that waits: one call, one reply.
 */

#include <fcntl.h>
#include <poll.h>

#include "base/io.h"
#include "calls/playback.h"
#include "import/text-trace.h"
#include "pages/dat-file.h"
#include "pages/page-source.h"
#include "public/ftraced.h"
#include "wire/frame.h"

#define DEFAULT_SOCKET RUNSTATEDIR "/ftraced/org.ftraced"
#define INTERFACE "org.ftraced."

struct ftraced_source {
        SessionDir *dir;
        SessionMeta *meta;
        Playback *playback;
        TextTrace *text; /* instead of all that */
        char *description;
        ftraced_event event;
};

_Static_assert(FTRACED_ENTER == STEP_ENTER + 1 && FTRACED_OTHER == STEP_OTHER + 1,
               "an event's kind is a step's, from 1");

DEFINE_CLEANUP(ftraced_source *, ftraced_source_free);

const char *ftraced_version(void) {
        return PACKAGE_VERSION;
}

ftraced_source *ftraced_source_free(ftraced_source *s) {
        if (!s)
                return NULL;
        playback_free(s->playback);
        session_meta_free(s->meta);
        session_dir_free(s->dir);
        text_trace_free(s->text);
        free(s->description);
        return mfree(s);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* A recording's @dir, or, if that is NULL, the text of @text_fd; both are consumed, also on failure. */
static int source_new(ftraced_source **ret, SessionDir *dir, int text_fd) {
        _cleanup_(ftraced_source_freep) ftraced_source *s = NEW(ftraced_source, .dir = dir);
        _cleanup_free_ char *problem = NULL;
        json_auto_t *description = NULL;
        int r;

        if (!s) {
                session_dir_free(dir);
                safe_close(text_fd);
                return -ENOMEM;
        }
        if (dir)
                r = session_dir_read_meta(dir, &s->meta)
                            ?: dat_losses_note(s->meta, dir, false)
                            ?: playback_open(&s->playback, dir, s->meta, &problem);
        else
                r = text_trace_take_fd(&s->text, text_fd, 1);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        description = s->meta ? session_meta_to_json(s->meta) : json_object();
        s->description = description ? json_dumps(description, 0) : NULL;
        if (!s->description)
                return -ENOMEM;
        *ret = TAKE_PTR(s);
        return 0;
}

static int open_dat(ftraced_source **ret, int fd, const char *name) {
        _cleanup_free_ char *problem = NULL;
        SessionDir *dir;
        DatFile *f;
        int r = dat_file_take_fd(&f, fd, &problem);

        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        r = dat_file_to_dir(&dir, f, name);
        return r < 0 ? r : source_new(ret, dir, -EBADF);
}

int ftraced_source_open(ftraced_source **ret, const char *path) {
        const char *slash = strrchr(path, '/'), *problem;
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        int form = fd < 0 ? ORIGIN(-errno) : packed_open(&fd, PACKED_BYTES_MAX, &problem),
            symbols_fd, r;
        SessionDir *dir;

        if (form == 0)
                form = source_form_of(fd);
        else
                return form < 0 ? form : -EBADMSG;
        if (form < 0)
                return form;
        switch ((SourceForm) form) {
        case SOURCE_SESSION: /* in sessions/, its symbols beside that */
                symbols_fd = dir_open(fd, "../../symbols");
                r = session_dir_take_fds(&dir, TAKE_FD(fd),
                                         symbols_fd == -ENOENT ? -EBADF : symbols_fd);
                return r < 0 ? r : source_new(ret, dir, -EBADF);
        case SOURCE_DAT:
                return open_dat(ret, TAKE_FD(fd), slash ? slash + 1 : path);
        case SOURCE_TEXT:
                break;
        }
        return source_new(ret, NULL, TAKE_FD(fd));
}

/* --- walking ---------------------------------------------------------------------------------- */

int ftraced_source_next(ftraced_source *s, const ftraced_event **ret) {
        Step step;
        int r;

        do
                r = s->text ? text_trace_next(s->text, &step)
                            : playback_next(s->playback, STREAM_NO_LIMIT, &step);
        while (r == 1 && step.kind == STEP_TASK);
        if (r != 1)
                return r > 1 ? -EBADMSG : r;
        s->event = (ftraced_event){ .kind = (ftraced_kind) (step.kind + 1),
                                    .cpu = step.cpu,
                                    .pid = step.pid,
                                    .depth = step.depth,
                                    .time_ns = step.timestamp_ns,
                                    .task = step.comm };
        switch (step.kind) {
        case STEP_LEAF:
        case STEP_LEAVE:
                s->event.duration_ns = step_duration_ns(&step);
                /* fall through */
        case STEP_ENTER:
                s->event.function = step.function->label;
                s->event.is_root = step.function->root >= 0;
                break;
        case STEP_LOST:
                s->event.n_lost = step.n_lost;
                break;
        case STEP_OTHER:
                s->event.text = step_text(&step);
                break;
        case STEP_TASK:
                break;
        }
        *ret = &s->event;
        return 1;
}

const char *ftraced_source_describe(ftraced_source *s) {
        return s->description;
}

/* --- the daemon ------------------------------------------------------------------------------- */

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

/* The next message: 0 or -errno. */
static int receive(ftraced_client *c, json_t **ret) {
        struct pollfd p = { .fd = frame_fd(c->frame) };

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
                p.events = POLLIN | (frame_wants_write(c->frame) ? POLLOUT : 0);
                if (poll(&p, 1, -1) < 0 && errno != EINTR)
                        return ORIGIN(-errno);
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
        c->reply =
                json_dumps(json_object_get(reply, "parameters"), JSON_ENCODE_ANY) ?: strdup("{}");
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
        return r < 0 ? r : source_new(ret, dir, -EBADF);
}
