/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "unit.h"
#include "wire/frame.h"

/* A frame over one end of a socket pair; the other end is @ret_peer. */
static Frame *make_frame(int *ret_peer, size_t message_max) {
        Frame *f;
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(frame_new(&f, fds[0], message_max), 0);
        *ret_peer = fds[1];
        return f;
}

/* One until the end of the block. */
#define FRAME(f, peer, message_max)                                                                \
        _cleanup_close_ int peer = -EBADF;                                                         \
        _cleanup_(frame_freep) Frame *f = make_frame(&peer, (message_max))
#define FRAME_TEST(name)                                                                           \
        TEST_WITH(name, (Frame * f, int peer), FRAME(f, peer, FRAME_CALL_MAX), f, peer)

static size_t n_open_fds(void) {
        DIR *d = opendir("/proc/self/fd");
        size_t n = 0;

        ck_assert_ptr_nonnull(d);
        while (readdir(d))
                n++;
        closedir(d);
        return n;
}

static void put(int fd, const void *data, size_t n) {
        ck_assert_int_eq(send(fd, data, n, MSG_NOSIGNAL), (ssize_t) n);
}

/* @n bytes and @n_fds times descriptor @fd in one sendmsg(). */
static void put_fds(int peer, const void *data, size_t n, int fd, size_t n_fds) {
        union {
                struct cmsghdr header;
                char bytes[CMSG_SPACE(sizeof(int) * 253)];
        } control = {};
        struct iovec iov = { .iov_base = (void *) data, .iov_len = n };
        struct msghdr mh = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = CMSG_SPACE(sizeof(int) * n_fds),
        };

        control.header = (struct cmsghdr){
                .cmsg_level = SOL_SOCKET,
                .cmsg_type = SCM_RIGHTS,
                .cmsg_len = CMSG_LEN(sizeof(int) * n_fds),
        };
        for (size_t i = 0; i < n_fds; i++)
                memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &fd, sizeof(int));
        ck_assert_int_eq(sendmsg(peer, &mh, MSG_NOSIGNAL), (ssize_t) n);
}

static int receive(Frame *f, char **ret_text, size_t *ret_n_fds) {
        json_t *j = NULL;
        int fds[FRAME_FDS_MAX], r;
        size_t n = 0;

        r = frame_receive(f, &j, fds);
        if (r != 0)
                return r;
        for (size_t i = 0; i < FRAME_FDS_MAX; i++)
                if (fds[i] >= 0) {
                        ck_assert_int_eq(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
                        close(fds[i]);
                        n++;
                }
        if (ret_text)
                *ret_text = json_dumps(j, JSON_COMPACT);
        if (ret_n_fds)
                *ret_n_fds = n;
        json_decref(j);
        return 0;
}

static int parse(const char *text, size_t n) {
        const char *problem = NULL;
        size_t n_values = FRAME_CALL_VALUES_MAX;
        json_t *j = NULL;
        int r;

        r = frame_parse(&j, text, n, &n_values, &problem);
        ck_assert((r == 0) == (j != NULL));
        ck_assert((r == FRAME_E_INVALID) == (problem != NULL));
        json_decref(j);
        return r;
}

TEST(only_one_sane_object_is_a_message) {
        static const char *const bad[] = {
                "",
                "{",
                "[]",
                "1",
                "\"a\"",
                "null",
                "{} {}",
                "{}x",
                "{\"a\":1,\"a\":2}",
                "{\"b\":{\"a\":1,\"a\":2}}",
                "{\"a\":\"\\u0000\"}",
                "{\"\\u0000\":1}",
                "{\"a\":\"\xff\"}",
                "{\"a\":\"\xed\xa0\x80\"}",
                "{\"a\":\"\xc0\x80\"}",
                "{\"a\":99999999999999999999}",
                "{\"a\":1e999}",
                "{\"a\":NaN}",
                "{'a':1}",
                "{\"a\":1,}",
                "\xef\xbb\xbf{}",
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(parse(bad[i], strlen(bad[i])) == FRAME_E_INVALID, "was accepted: %s",
                              bad[i]);
        ck_assert_int_eq(parse("{\"a\":\"x\0y\"}", 11), FRAME_E_INVALID);
        ck_assert_int_eq(parse(" {\"a\":[1,{\"b\":\"\xc3\xa9\"}]}\n", 22), 0);
        ck_assert_int_eq(parse("{\"t\":9223372036854775807}", 25), 0);
}

TEST(nesting_is_bounded_and_brackets_in_strings_do_not_nest) {
        char text[20000];
        size_t n;

        for (int depth = FRAME_DEPTH_MAX - 1; depth <= FRAME_DEPTH_MAX; depth++) {
                n = (size_t) snprintf(text, sizeof(text), "{\"a\":");
                memset(text + n, '[', (size_t) depth);
                memset(text + n + depth, ']', (size_t) depth);
                n += 2 * (size_t) depth;
                text[n++] = '}';
                ck_assert_int_eq(parse(text, n), depth < FRAME_DEPTH_MAX ? 0 : FRAME_E_INVALID);
        }

        memset(text, '[', sizeof(text));
        ck_assert_int_eq(parse(text, 10000), FRAME_E_INVALID);
        memcpy(text, "{\"a\":\"\\\"", 8);
        memcpy(text + 10000, "\"}", 2);
        ck_assert_int_eq(parse(text, 10002), 0);
}

TEST(messages_are_whole_however_the_bytes_arrive) {
        static const char stream[] = "{\"a\":1}\0{\"b\":2}";
        FRAME(f, peer, FRAME_CALL_MAX);
        _cleanup_free_ char *a = NULL, *b = NULL;

        for (size_t i = 0; i < 7; i++) {
                ck_assert_int_eq(receive(f, NULL, NULL), FRAME_E_AGAIN);
                put(peer, stream + i, 1);
                ck_assert_int_eq(receive(f, NULL, NULL), FRAME_E_AGAIN);
                ck_assert(frame_has_begun(f));
        }
        put(peer, stream + 7, sizeof(stream) - 7);
        ck_assert_int_eq(receive(f, &a, NULL), 0);
        ck_assert_str_eq(a, "{\"a\":1}");
        ck_assert(frame_has_buffered(f));
        ck_assert(!frame_has_begun(f));
        ck_assert_int_eq(receive(f, &b, NULL), 0);
        ck_assert_str_eq(b, "{\"b\":2}");
        ck_assert(!frame_has_buffered(f));
        ck_assert(!frame_has_begun(f));
        ck_assert_int_eq(receive(f, NULL, NULL), FRAME_E_AGAIN);
}

TEST(the_end_between_messages_differs_from_one_within) {
        _cleanup_(frame_freep) Frame *f = NULL, *g = NULL;
        _cleanup_close_ int peer = -EBADF, other = -EBADF;

        f = make_frame(&peer, FRAME_CALL_MAX);
        put(peer, "{}", 3);
        peer = safe_close(peer);
        ck_assert_int_eq(receive(f, NULL, NULL), 0);
        ck_assert_int_eq(receive(f, NULL, NULL), FRAME_E_CLOSED);

        g = make_frame(&other, FRAME_CALL_MAX);
        put(other, "{}", 2);
        ck_assert_int_eq(receive(g, NULL, NULL), FRAME_E_AGAIN);
        other = safe_close(other);
        ck_assert_int_eq(receive(g, NULL, NULL), -ECONNRESET);
}

TEST(a_message_may_be_as_long_as_the_bound_and_no_longer) {
        for (size_t n = 99; n <= 101; n++) {
                FRAME(f, peer, 100);
                char text[102];

                memset(text, ' ', sizeof(text));
                memcpy(text, "{}", 2);
                text[n] = 0;
                put(peer, text, n + 1);
                ck_assert_int_eq(receive(f, NULL, NULL), n <= 100 ? 0 : FRAME_E_TOO_LONG);
        }
}

FRAME_TEST(a_call_of_two_lists_of_4096_names_of_255_bytes_passes) {
        char name[260];
        int r = FRAME_E_AGAIN;

        memset(name, 'x', sizeof(name));
        memcpy(name, "\"", 1);
        memcpy(name + 256, "\",", 2);
        put(peer, "{\"spec\":{\"functions\":[", 22);
        for (size_t i = 0; i < 8192 && r == FRAME_E_AGAIN; i++) {
                put(peer, name, 258);
                if (i == 4095)
                        put(peer, "\"y\"],\"notrace\":[", 16);
                r = receive(f, NULL, NULL);
        }
        ck_assert_int_eq(r, FRAME_E_AGAIN);
        ck_assert_uint_lt(frame_room(f), FRAME_CALL_MAX + (64 << 10));
        put(peer, "\"y\"]}}", 7);
        while (r == FRAME_E_AGAIN)
                r = receive(f, NULL, NULL);
        ck_assert_int_eq(r, 0);
        ck_assert_uint_gt(frame_weight(f), 8192 * 258);
        ck_assert_uint_eq(frame_room(f), 0);
}

TEST(a_call_of_more_values_than_anybody_needs_is_refused_before_it_is_parsed) {
        static const char *const values[] = { "[],", "{},", "0,", "\",,\"," };

        for (size_t i = 0; i < ELEMENTSOF(values); i++) {
                _cleanup_buf_ Buf b = BUF_INIT;

                buf_adds(&b, "{\"a\":[");
                for (size_t k = 0; k < FRAME_CALL_VALUES_MAX - 10; k++)
                        buf_adds(&b, values[i]);
                buf_adds(&b, "1]}");
                /* An empty list counts as one that has something. */
                ck_assert_int_eq(parse(b.data, b.n_data), i < 2 ? FRAME_E_INVALID : 0);
                b.n_data -= 3;
                for (size_t k = 0; k < 10; k++)
                        buf_adds(&b, values[i]);
                buf_adds(&b, "1]}");
                ck_assert_int_eq(parse(b.data, b.n_data), FRAME_E_INVALID);
        }
}

FRAME_TEST(bytes_without_end_are_refused_before_they_fill_memory) {
        char data[8192];
        size_t n = 0;
        int r = FRAME_E_AGAIN;

        memset(data, 'x', sizeof(data));
        while (r == FRAME_E_AGAIN) {
                put(peer, data, sizeof(data));
                n += sizeof(data);
                r = receive(f, NULL, NULL);
                ck_assert_uint_le(n, FRAME_CALL_MAX + sizeof(data));
        }
        ck_assert_int_eq(r, FRAME_E_TOO_LONG);
        ck_assert_str_eq(frame_problem(f), "the message is too long");
        /* ... for good. */
        ck_assert_int_eq(receive(f, NULL, NULL), FRAME_E_TOO_LONG);
}

TEST(descriptors_arrive_with_their_own_message) {
        _cleanup_(frame_freep) Frame *a = NULL, *b = NULL;
        size_t n_before = n_open_fds(), n;
        json_t *empty = json_object();
        int fds[2], passed[2] = { STDIN_FILENO, STDERR_FILENO };

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(frame_new(&a, fds[0], FRAME_CALL_MAX), 0);
        ck_assert_int_eq(frame_new(&b, fds[1], FRAME_CALL_MAX), 0);
        ck_assert_int_eq(frame_send(a, empty, NULL, 0), 0);
        ck_assert_int_eq(frame_send(a, empty, passed, 2), 0);
        ck_assert_int_eq(frame_send(a, empty, passed, 1), 0);
        ck_assert_int_eq(frame_send(a, empty, NULL, 0), 0);
        json_decref(empty);

        for (size_t i = 0; i < 4; i++) {
                ck_assert_int_eq(receive(b, NULL, &n), 0);
                ck_assert_uint_eq(n, ((const size_t[]){ 0, 2, 1, 0 })[i]);
        }
        a = frame_free(a);
        b = frame_free(b);
        ck_assert_uint_eq(n_open_fds(), n_before);
}

FRAME_TEST(descriptors_belong_to_the_message_that_their_send_began) {
        size_t n;

        /* The end of one message, a whole one, and the beginning of the one with the
                 * descriptor come out of one read; then its end and another with two. */
        put(peer, "{", 1);
        ck_assert_int_eq(receive(f, NULL, NULL), FRAME_E_AGAIN);
        put(peer, "}\0{}", 5);
        put_fds(peer, "{\"a\":", 5, STDIN_FILENO, 1);
        put(peer, "1}", 3);
        put_fds(peer, "{}", 3, STDIN_FILENO, 2);
        for (size_t i = 0; i < 4; i++) {
                int r = receive(f, NULL, &n);

                if (r == FRAME_E_AGAIN)
                        r = receive(f, NULL, &n);
                ck_assert_int_eq(r, 0);
                ck_assert_uint_eq(n, ((const size_t[]){ 0, 0, 1, 2 })[i]);
        }
}

TEST(a_flood_of_descriptors_is_closed) {
        for (size_t n_fds = FRAME_FDS_MAX; n_fds <= 253; n_fds += 7) {
                FRAME(f, peer, FRAME_CALL_MAX);
                size_t n_before, n = 0;

                n_before = n_open_fds();
                put_fds(peer, "{}", 3, STDIN_FILENO, n_fds);
                ck_assert_int_eq(receive(f, NULL, &n),
                                 n_fds <= FRAME_FDS_MAX ? 0 : FRAME_E_INVALID);
                ck_assert_uint_eq(n_open_fds(), n_before);
        }
}

TEST(descriptors_with_every_byte_of_a_message_are_refused) {
        _cleanup_(frame_freep) Frame *f = NULL;
        _cleanup_close_ int peer = -EBADF;
        size_t n_before = n_open_fds();
        int r = FRAME_E_AGAIN;

        f = make_frame(&peer, FRAME_CALL_MAX);
        for (size_t i = 0; i < 100 && r == FRAME_E_AGAIN; i++) {
                put_fds(peer, " ", 1, STDIN_FILENO, 3);
                r = receive(f, NULL, NULL);
        }
        ck_assert_int_eq(r, FRAME_E_INVALID);
        f = frame_free(f);
        peer = safe_close(peer);
        ck_assert_uint_eq(n_open_fds(), n_before);
}

TEST(a_peer_that_does_not_read_gathers_no_more_than_the_bound) {
        _cleanup_(frame_freep) Frame *f = NULL;
        _cleanup_close_ int peer = -EBADF;
        size_t n_before = n_open_fds(), n_sent = 0;
        char *pad = malloc(1 << 20);
        json_t *j;
        int r = 0;

        ck_assert_ptr_nonnull(pad);
        memset(pad, 'x', 1 << 20);
        j = json_pack("{s:s%}", "pad", pad, (size_t) 1 << 20);
        ck_assert_ptr_nonnull(j);
        f = make_frame(&peer, FRAME_CALL_MAX);
        while (r == 0 && n_sent < 100) {
                r = frame_send(f, j, (int[]){ STDIN_FILENO }, 1);
                n_sent++;
        }
        ck_assert_int_eq(r, -ENOBUFS);
        ck_assert_uint_ge(n_sent, 31);
        ck_assert_uint_le(n_sent, 34);
        ck_assert(frame_wants_write(f));
        ck_assert_int_eq(frame_flush(f), FRAME_E_AGAIN);
        json_decref(j);
        free(pad);
        f = frame_free(f);
        peer = safe_close(peer);
        ck_assert_uint_eq(n_open_fds(), n_before);
}

TEST(a_long_message_goes_through_a_short_socket) {
        _cleanup_(frame_freep) Frame *a = NULL, *b = NULL;
        char *pad = malloc(3 << 20);
        json_t *j, *got = NULL;
        int fds[2], got_fds[FRAME_FDS_MAX], r;

        ck_assert_ptr_nonnull(pad);
        memset(pad, 'y', 3 << 20);
        j = json_pack("{s:s%}", "pad", pad, (size_t) 3 << 20);
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        ck_assert_int_eq(frame_new(&a, fds[0], FRAME_CALL_MAX), 0);
        ck_assert_int_eq(frame_new(&b, fds[1], FRAME_REPLY_MAX), 0);
        ck_assert_int_eq(frame_send(a, j, (int[]){ STDIN_FILENO }, 1), 0);
        ck_assert(frame_wants_write(a));
        while ((r = frame_receive(b, &got, got_fds)) == FRAME_E_AGAIN)
                ck_assert_int_ge(frame_flush(a), 0);
        ck_assert_int_eq(r, 0);
        ck_assert(!frame_wants_write(a));
        ck_assert(json_equal(j, got));
        ck_assert_int_ge(got_fds[0], 0);
        ck_assert_int_lt(got_fds[1], 0);
        close(got_fds[0]);
        json_decref(j);
        json_decref(got);
        free(pad);
}

TEST(a_peer_that_has_gone_is_an_error_and_not_a_signal) {
        FRAME(f, peer, FRAME_CALL_MAX);
        json_t *j = json_object();

        peer = safe_close(peer);
        ck_assert_int_eq(frame_send(f, j, NULL, 0), -EPIPE);
        json_decref(j);
}
