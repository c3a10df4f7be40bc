/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Two queues around a descriptor.  In: bytes as they came, of which the first
 * message is cut off when its NUL is there, and descriptors, each with the
 * place in the stream that it came with.
 *
 *      in:   [start ... scanned ... end)         one buffer, moved down before each read
 *      fds:  fd, at; fd, at; ...                 `at` counts bytes of the whole stream
 *
 * The socket is read only while no whole message waits, so that a peer which
 * sends faster than it is served fills its socket and not our memory.  Out: a
 * list of messages, each written by sendmsg() calls of its own.
 */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "wire/frame.h"

#define FRAME_READ_BYTES ((size_t) 16 << 10) /* room for at least so many in each read */
#define FRAME_KEEP_BYTES ((size_t) 64 << 10) /* an empty buffer larger than this is given back */
#define FRAME_VALUE_BYTES 48 /* a short string as malloc() has it, and its place in a list */

typedef struct FrameFd {
        int fd;
        uint64_t at; /* stream position behind the last byte that came with it */
} FrameFd;

typedef struct FrameOut FrameOut;
struct FrameOut {
        FrameOut *next;
        char *text;
        size_t n_text; /* with the NUL */
        size_t n_sent;
        int fds[FRAME_FDS_MAX];
        size_t n_fds; /* not sent yet */
};

struct Frame {
        int fd;
        size_t message_max, values_max;
        int error; /* sticky: FRAME_E_INVALID or FRAME_E_TOO_LONG */
        const char *problem;

        char *in;
        size_t in_start, in_scanned, in_end, in_room, weight;
        uint64_t in_at; /* stream position of in[in_end] */
        /* A read happens only when all descriptors here belong to the first message, which may
         * have FRAME_FDS_MAX; the read brings at most as many again. */
        FrameFd fds[2 * FRAME_FDS_MAX];
        size_t n_fds;

        FrameOut *out_first, *out_last;
        size_t n_out; /* bytes that wait, their bookkeeping included */
};

/* Brackets and commas outside of strings, as the parser will meet them up to the first syntax error. */
static const char *find_excess(const char *text, size_t n, size_t *n_values) {
        size_t depth = 0, values_max = *n_values;
        bool in_string = false;

        *n_values = 1;
        for (size_t i = 0; i < n; i++)
                switch (text[i]) {
                case '"':
                        in_string = !in_string;
                        break;
                case '\\':
                        if (in_string)
                                i++;
                        break;
                case '{':
                case '[':
                        if (!in_string && ++depth > FRAME_DEPTH_MAX)
                                return "the message is nested too deeply";
                        __attribute__((fallthrough));
                case ',':
                        if (!in_string && ++*n_values > values_max)
                                return "the message has too many values";
                        break;
                case '}':
                case ']':
                        if (!in_string && depth > 0)
                                depth--;
                        break;
                default:
                        break;
                }
        return NULL;
}

int frame_parse(json_t **ret, const char *text, size_t n, size_t *n_values,
                const char **ret_problem) {
        /* Jansson parses recursively; its own limit is 2048 levels. */
        const char *problem = find_excess(text, n, n_values);
        json_error_t error;
        json_t *j = NULL;

        if (!problem) {
                j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
                if (!j && json_error_code(&error) == json_error_out_of_memory)
                        return -ENOMEM;
                if (!j)
                        problem = "the message is not JSON";
                else if (!json_is_object(j))
                        problem = "the message is not a JSON object";
        }
        if (problem) {
                json_decref(j);
                if (ret_problem)
                        *ret_problem = problem;
                return FRAME_E_INVALID;
        }

        *ret = j;
        return 0;
}

int frame_new(Frame **ret, int fd, size_t message_max) {
        Frame *f;
        int flags = fcntl(fd, F_GETFL);

        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
                return ORIGIN(-errno);

        f = NEW(Frame, .fd = fd, .message_max = message_max,
                .values_max = message_max == FRAME_CALL_MAX ? FRAME_CALL_VALUES_MAX : SIZE_MAX);
        if (!f)
                return -ENOMEM;
        *ret = f;
        return 0;
}

int frame_fd(const Frame *f) {
        return f->fd;
}

size_t frame_room(const Frame *f) {
        return f->in_room;
}

size_t frame_weight(const Frame *f) {
        return f->weight;
}

const char *frame_problem(const Frame *f) {
        return f->problem;
}

static int fail(Frame *f, int error, const char *problem) {
        f->problem = problem;
        return f->error = error;
}

/* The NUL that ends the first message, or NULL. */
static char *first_end(const Frame *f) {
        return f->in_scanned < f->in_end
                       ? memchr(f->in + f->in_scanned, 0, f->in_end - f->in_scanned)
                       : NULL;
}

bool frame_has_buffered(const Frame *f) {
        return first_end(f);
}

bool frame_has_begun(const Frame *f) {
        return f->in_end > f->in_start && !first_end(f);
}

static int make_room(Frame *f) {
        size_t used = f->in_end - f->in_start, room;
        char *p;

        if (f->in_start > 0) {
                if (used > 0)
                        memmove(f->in, f->in + f->in_start, used);
                f->in_scanned -= f->in_start;
                f->in_start = 0;
                f->in_end = used;
        }
        if (f->in_room - used >= FRAME_READ_BYTES)
                return 0;

        room = MIN(f->in_room * 2, f->message_max);
        room = MAX(room, used + FRAME_READ_BYTES);
        p = realloc(f->in, room);
        if (!p)
                return -ENOMEM;
        f->in = p;
        f->in_room = room;
        return 0;
}

/* Keeps the descriptors of one recvmsg(), whose bytes have been counted; closes what is too much.
 */
static int keep_fds(Frame *f, struct msghdr *mh) {
        bool too_many = mh->msg_flags & MSG_CTRUNC;

        for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
                        int fd;

                        memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
                        if (f->n_fds < ELEMENTSOF(f->fds))
                                f->fds[f->n_fds++] = (FrameFd){ .fd = fd, .at = f->in_at };
                        else {
                                safe_close(fd);
                                too_many = true;
                        }
                }
        }
        if (!too_many)
                return 0;

        while (f->n_fds > 0)
                safe_close(f->fds[--f->n_fds].fd);
        return fail(f, FRAME_E_INVALID,
                    "more file descriptors came with a message than are allowed");
}

/* One read: 0, FRAME_E_*, -errno. */
static int fill(Frame *f) {
        union {
                struct cmsghdr header;
                char bytes[CMSG_SPACE(sizeof(int) * FRAME_FDS_MAX)];
        } control;
        struct iovec iov;
        struct msghdr mh = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = sizeof(control),
        };
        ssize_t n;
        int r;

        r = make_room(f);
        if (r < 0)
                return r;

        iov = (struct iovec){ .iov_base = f->in + f->in_end, .iov_len = f->in_room - f->in_end };
        do
                n = recvmsg(f->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == EAGAIN ? FRAME_E_AGAIN : ORIGIN(-errno);
        if (n == 0)
                return f->in_end > f->in_start ? -ECONNRESET : FRAME_E_CLOSED;

        f->in_end += (size_t) n;
        f->in_at += (uint64_t) n;
        return keep_fds(f, &mh);
}

/* Cuts off the first message, which ends at @end. */
static int take(Frame *f, const char *end, json_t **ret, int ret_fds[static FRAME_FDS_MAX]) {
        size_t n = (size_t) (end - (f->in + f->in_start)), n_fds = 0, n_values = f->values_max;
        uint64_t end_at;
        json_t *j;
        int r;

        if (n > f->message_max)
                return fail(f, FRAME_E_TOO_LONG, "the message is too long");
        end_at = f->in_at - (f->in_end - f->in_start) + n + 1;
        while (n_fds < f->n_fds && f->fds[n_fds].at <= end_at)
                n_fds++;
        if (n_fds > FRAME_FDS_MAX)
                return fail(f, FRAME_E_INVALID,
                            "more file descriptors came with a message than are allowed");
        r = frame_parse(&j, f->in + f->in_start, n, &n_values, &f->problem);
        if (r > 0)
                f->error = r;
        if (r != 0)
                return r;

        f->weight = n + n_values * FRAME_VALUE_BYTES;
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                ret_fds[i] = i < n_fds ? f->fds[i].fd : -EBADF;
        f->n_fds -= n_fds;
        memmove(f->fds, f->fds + n_fds, f->n_fds * sizeof(f->fds[0]));

        f->in_start += n + 1;
        f->in_scanned = f->in_start;
        if (f->in_start == f->in_end && f->in_room > FRAME_KEEP_BYTES) {
                free(TAKE_PTR(f->in));
                f->in_start = f->in_scanned = f->in_end = f->in_room = 0;
        }
        *ret = j;
        return 0;
}

int frame_receive(Frame *f, json_t **ret, int ret_fds[static FRAME_FDS_MAX]) {
        char *end;
        int r;

        if (f->error != 0)
                return f->error;

        end = first_end(f);
        if (!end) {
                f->in_scanned = f->in_end;
                r = fill(f);
                if (r != 0)
                        return r;
                end = first_end(f);
        }
        if (end)
                return take(f, end, ret, ret_fds);

        f->in_scanned = f->in_end;
        if (f->in_end - f->in_start > f->message_max)
                return fail(f, FRAME_E_TOO_LONG, "the message is too long");
        return FRAME_E_AGAIN;
}

static FrameOut *out_free(FrameOut *o) {
        if (!o)
                return NULL;

        while (o->n_fds > 0)
                safe_close(o->fds[--o->n_fds]);
        free(o->text);
        return mfree(o);
}
DEFINE_CLEANUP(FrameOut *, out_free);

static size_t out_bytes(const FrameOut *o) {
        return sizeof(*o) + o->n_text;
}

/* @text: consumed */
static int send_text(Frame *f, char *text, const int *fds, size_t n_fds) {
        _cleanup_(out_freep) FrameOut *o = NEW(FrameOut, .text = text, .n_text = strlen(text) + 1);
        int r;

        if (!o) {
                free(text);
                return -ENOMEM;
        }
        if (f->n_out + out_bytes(o) > FRAME_OUT_MAX)
                return ORIGIN(-ENOBUFS);
        while (o->n_fds < n_fds) {
                int fd = fcntl(fds[o->n_fds], F_DUPFD_CLOEXEC, 3);

                if (fd < 0)
                        return ORIGIN(-errno);
                o->fds[o->n_fds++] = fd;
        }

        f->n_out += out_bytes(o);
        if (f->out_last)
                f->out_last->next = o;
        else
                f->out_first = o;
        f->out_last = TAKE_PTR(o);

        r = frame_flush(f);
        return r < 0 ? r : 0;
}

int frame_send(Frame *f, const json_t *message, const int *fds, size_t n_fds) {
        char *text;

        if (n_fds > FRAME_FDS_MAX)
                return ORIGIN(-EINVAL);
        text = json_dumps(message, JSON_COMPACT);
        if (!text)
                return json_is_object(message) ? -ENOMEM : -EINVAL;
        return send_text(f, text, fds, n_fds);
}

int frame_send_text(Frame *f, char *text) {
        return send_text(f, text, NULL, 0);
}

bool frame_wants_write(const Frame *f) {
        return f->out_first;
}

/* What the socket takes of one message: 0 when something was written, FRAME_E_AGAIN, -errno. */
static int out_write(FrameOut *o, int fd) {
        union {
                struct cmsghdr header;
                char bytes[CMSG_SPACE(sizeof(int) * FRAME_FDS_MAX)];
        } control = {};
        struct iovec iov = { .iov_base = o->text + o->n_sent, .iov_len = o->n_text - o->n_sent };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
        ssize_t n;

        if (o->n_fds > 0) {
                control.header = (struct cmsghdr){
                        .cmsg_level = SOL_SOCKET,
                        .cmsg_type = SCM_RIGHTS,
                        .cmsg_len = CMSG_LEN(sizeof(int) * o->n_fds),
                };
                memcpy(CMSG_DATA(&control.header), o->fds, sizeof(int) * o->n_fds);
                mh.msg_control = &control;
                mh.msg_controllen = CMSG_SPACE(sizeof(int) * o->n_fds);
        }

        do
                n = sendmsg(fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == EAGAIN ? FRAME_E_AGAIN : ORIGIN(-errno);

        o->n_sent += (size_t) n;
        while (o->n_fds > 0)
                safe_close(o->fds[--o->n_fds]);
        return 0;
}

int frame_flush(Frame *f) {
        int r;

        while (f->out_first) {
                FrameOut *o = f->out_first;

                r = out_write(o, f->fd);
                if (r != 0)
                        return r;
                if (o->n_sent < o->n_text)
                        continue;

                f->n_out -= out_bytes(o);
                f->out_first = o->next;
                if (!f->out_first)
                        f->out_last = NULL;
                out_free(o);
        }
        return 0;
}

Frame *frame_free(Frame *f) {
        if (!f)
                return NULL;

        for (FrameOut *o; (o = POP(f->out_first));)
                out_free(o);
        while (f->n_fds > 0)
                safe_close(f->fds[--f->n_fds].fd);
        safe_close(f->fd);
        free(f->in);
        return mfree(f);
}

int dial(const char *path) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = -EBADF;
        int r;

        if (strlen(path) >= sizeof(sa.sun_path))
                return ORIGIN(-ENAMETOOLONG);
        strcpy(sa.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return ORIGIN(-errno);
        do
                r = connect(fd, (struct sockaddr *) &sa, sizeof(sa));
        while (r < 0 && errno == EINTR);
        return r < 0 ? ORIGIN(-errno) : TAKE_FD(fd);
}
