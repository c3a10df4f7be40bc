/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Whatever bytes a peer sends: the parser takes or refuses them, what it takes
 * survives being written and read again, and a Frame finds the same messages
 * whether the bytes come at once or in pieces, and loses no descriptor.
 *
 * Input: 0 piece size - 1, 1 every how many pieces a descriptor goes along (0: never), then bytes.
 */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "fuzz.h"
#include "wire/frame.h"

#define MESSAGE_MAX ((size_t) 4096)
#define ROOM_MAX                                                                                   \
        (MESSAGE_MAX + ((size_t) 32 << 10)) /* a message and what comes with its last byte */

static size_t count_values(const json_t *j) {
        size_t n = 1, i;
        const char *key;
        json_t *value;

        if (json_is_array(j))
                json_array_foreach (j, i, value)
                        n += count_values(value);
        json_object_foreach ((json_t *) j, key, value)
                n += count_values(value);
        return n;
}

/* Parses one message; true if it is one. */
static bool parse_twice(const char *text, size_t n) {
        _cleanup_(json_decrefp) json_t *a = NULL, *b = NULL;
        _cleanup_free_ char *written = NULL;
        size_t n_values = FRAME_CALL_VALUES_MAX, n_again = n_values;
        const char *problem = NULL;
        int r;

        r = frame_parse(&a, text, n, &n_values, &problem);
        FUZZ_CHECK(r == 0 || (r == FRAME_E_INVALID && problem));
        if (r != 0)
                return false;
        written = json_dumps(a, JSON_COMPACT);
        FUZZ_CHECK(written);
        FUZZ_CHECK(frame_parse(&b, written, strlen(written), &n_again, NULL) == 0);
        FUZZ_CHECK(n_again == n_values && n_values <= FRAME_CALL_VALUES_MAX);
        FUZZ_CHECK(count_values(a) <= n_values);
        FUZZ_CHECK(json_equal(a, b));
        return true;
}

/* How many messages the bytes begin with, by the rules alone. */
static size_t count_messages(const char *text, size_t n) {
        size_t n_messages = 0;

        for (;;) {
                const char *end = n > 0 ? memchr(text, 0, n) : NULL;
                size_t n_text = end ? (size_t) (end - text) : 0;

                if (!end || n_text > MESSAGE_MAX || !parse_twice(text, n_text))
                        return n_messages;
                n_messages++;
                text += n_text + 1;
                n -= n_text + 1;
        }
}

static void send_piece(int fd, const void *data, size_t n, bool with_fd) {
        union {
                struct cmsghdr header;
                char bytes[CMSG_SPACE(sizeof(int))];
        } control = { .header = { .cmsg_level = SOL_SOCKET,
                                  .cmsg_type = SCM_RIGHTS,
                                  .cmsg_len = CMSG_LEN(sizeof(int)) } };
        struct iovec iov = { .iov_base = (void *) data, .iov_len = n };
        struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
        if (with_fd) {
                mh.msg_control = &control;
                mh.msg_controllen = sizeof(control);
        }
        FUZZ_CHECK(sendmsg(fd, &mh, MSG_NOSIGNAL) == (ssize_t) n);
}

/* All that can be had now.  False when the frame will give no more. */
static bool receive_all(Frame *f, size_t *n_messages, size_t *n_fds) {
        for (;;) {
                int fds[FRAME_FDS_MAX], r;
                json_t *j;

                r = frame_receive(f, &j, fds);
                FUZZ_CHECK(frame_room(f) <= ROOM_MAX);
                if (r != 0) {
                        FUZZ_CHECK(r == FRAME_E_AGAIN || r == FRAME_E_INVALID ||
                                   r == FRAME_E_TOO_LONG);
                        FUZZ_CHECK((r == FRAME_E_AGAIN) == (frame_problem(f) == NULL));
                        return r == FRAME_E_AGAIN;
                }
                FUZZ_CHECK(json_is_object(j));
                FUZZ_CHECK(frame_weight(f) > 0);
                json_decref(j);
                (*n_messages)++;
                for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                        if (fds[i] >= 0) {
                                FUZZ_CHECK(fcntl(fds[i], F_GETFD) == FD_CLOEXEC);
                                close(fds[i]);
                                (*n_fds)++;
                        }
        }
}

/* Grows when a descriptor was lost. */
static int next_free_fd(void) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

        FUZZ_CHECK(fd >= 0);
        safe_close(fd);
        return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        size_t n_piece, every, n_messages = 0, n_fds = 0, n_fds_sent = 0, expected;
        int fds[2], free_fd = next_free_fd();
        Frame *f;
        bool goes_on = true;

        if (n_data < 2 || n_data > 64 << 10)
                return 0;
        n_piece = (size_t) data[0] + 1;
        every = data[1];
        data += 2;
        n_data -= 2;

        (void) parse_twice((const char *) data, n_data);
        expected = count_messages((const char *) data, n_data);

        FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        FUZZ_CHECK(frame_new(&f, fds[0], MESSAGE_MAX) == 0);
        for (size_t at = 0, i = 1; at < n_data && goes_on; at += n_piece, i++) {
                bool with_fd = every > 0 && i % every == 0;

                send_piece(fds[1], data + at, MIN(n_piece, n_data - at), with_fd);
                n_fds_sent += with_fd;
                goes_on = receive_all(f, &n_messages, &n_fds);
        }
        FUZZ_CHECK(n_fds <= n_fds_sent);
        FUZZ_CHECK(n_messages <= expected);
        if (n_fds_sent == 0)
                FUZZ_CHECK(n_messages == expected);
        frame_free(f);
        safe_close(fds[1]);
        FUZZ_CHECK(next_free_fd() == free_fd);
        return 0;
}
