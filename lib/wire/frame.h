/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Frame: NUL-terminated JSON objects and descriptors over one stream socket
 *
 * Varlink's framing (https://varlink.org/Method-Call) and systemd's extension
 * for descriptors.  A state machine over bytes: it never polls; whoever owns
 * the socket tells it when to read and when to write.
 *
 * Bounds: a message of at most FRAME_CALL_MAX or FRAME_REPLY_MAX bytes,
 * FRAME_FDS_MAX descriptors with it, nesting of FRAME_DEPTH_MAX; duplicate
 * keys, invalid UTF-8, NUL in strings and anything but an object are refused.
 * A call has FRAME_CALL_VALUES_MAX values at most: a parsed one takes a hundred
 * times its bytes of memory.
 */

#include <jansson.h>

#include "base/cleanup.h"

/* For what a daemon accepts: two lists of SPEC_MAX_ROOTS names of FUNCTION_NAME_MAX bytes. */
#define FRAME_CALL_MAX ((size_t) 2112 << 10) /* bytes */
#define FRAME_CALL_VALUES_MAX ((size_t) 32 << 10)
#define FRAME_REPLY_MAX ((size_t) 32 << 20) /* bytes, for what a client accepts */
#define FRAME_OUT_MAX ((size_t) 32 << 20)   /* bytes queued for a peer that does not read */
#define FRAME_FDS_MAX 8
#define FRAME_DEPTH_MAX 32

typedef struct Frame Frame;

enum {
        FRAME_E_AGAIN = 1,    /* no whole message yet: wait for the socket */
        FRAME_E_CLOSED = 2,   /* the peer closed at a message's end */
        FRAME_E_INVALID = 3,  /* the peer broke a rule: frame_problem() says which; close it */
        FRAME_E_TOO_LONG = 4, /* the same, of a message longer than the bound */
};

/*
 * To which message do descriptors belong?  recvmsg() returns no byte beyond the send that carried
 * descriptors (unix(7), "ancillary data forms a barrier"), but may return bytes of earlier sends
 * before them.  So: descriptors belong to the message of the last byte that came with them, and a
 * sender gives a message with descriptors a sendmsg() of its own.  frame_send() does, as does
 * systemd's sd-varlink.
 */

/* @fd: a connected stream socket, made non-blocking; consumed on success.
 * @message_max: FRAME_CALL_MAX or FRAME_REPLY_MAX */
int frame_new(Frame **ret, int fd, size_t message_max);
int frame_fd(const Frame *f);
size_t frame_room(const Frame *f);   /* bytes of memory for what is being received */
size_t frame_weight(const Frame *f); /* and, about, for what the last message becomes when kept */

/*
 * frame_receive() - the next message, an object
 * @ret_fds: -EBADF where there is none; the caller owns both
 *
 * Reads the socket at most once a call, and not at all while a whole message is buffered.
 * Return: 0, FRAME_E_*, -errno; -ECONNRESET also when the peer closed in the middle of a message.
 */
int frame_receive(Frame *f, json_t **ret, int ret_fds[static FRAME_FDS_MAX]);
bool frame_has_buffered(const Frame *f); /* a call of frame_receive() would not need the socket */
bool frame_has_begun(const Frame *f);    /* a message has begun to arrive and has not ended */
const char *frame_problem(const Frame *f);

/*
 * frame_send() - queue one message and write what the socket takes
 * @message: borrowed
 * @fds:     @n_fds descriptors, dup()ed; they travel with this message's first byte alone
 *
 * Return: 0, -ENOBUFS when more than FRAME_OUT_MAX wait, -errno; then close it.  Raises no SIGPIPE.
 */
int frame_send(Frame *f, const json_t *message, const int *fds, size_t n_fds);
/* The same with a message that is text already, whole and valid; consumed. */
int frame_send_text(Frame *f, char *text);
bool frame_wants_write(const Frame *f);
int frame_flush(Frame *f); /* 0 when all is written, FRAME_E_AGAIN, -errno */
Frame *frame_free(Frame *f);
DEFINE_CLEANUP(Frame *, frame_free);

/*
 * The parser alone, for the tests and the fuzzer: one message without its NUL.
 * @n_values: at most so many values (FRAME_CALL_VALUES_MAX; SIZE_MAX for a reply); set to an upper
 *            bound of how many there are
 * Return: 0; FRAME_E_INVALID and a static sentence in @ret_problem, which may be NULL; -ENOMEM.
 */
int frame_parse(json_t **ret, const char *text, size_t n, size_t *n_values,
                const char **ret_problem);

/* Connects to the Unix socket at @path, a stream: a descriptor, -ENAMETOOLONG, -ENOENT, -ECONNREFUSED (nobody
 * listens), -EACCES, other -errno. */
int dial(const char *path);
