/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Peers that break rules, hang up, flood or sleep: each costs only itself its connection. */

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "base/io.h"
#include "daemon/server/server-private.h"
#include "daemon/server/server.h"
#include "server-fixture.h"

/* Until the server has seen that all others have hung up. */
static void wait_until_alone(Client *c) {
        for (int i = 0; i < PATIENCE_MS / 10; i++) {
                json_t *answer = call(c, "Who");
                json_int_t n = json_integer_value(json_object_get(answer, "n"));

                json_decref(answer);
                if (n == 1)
                        return;
                usleep(10 * 1000);
        }
        ck_abort_msg("not all others are gone");
}

TEST(a_peer_that_hangs_up_takes_its_call_with_it) {
        SERVER_CASE;
        _cleanup_client_ Client *c = connect_client();
        json_t *answer;
        int fd;

        for (int i = 0; i < 100; i++) {
                fd = connect_raw();
                if (i % 2)
                        put(fd, "{\"method\"", 9);
                close(fd);
        }
        fd = connect_raw();
        put_text(fd, "{\"method\":\"org.ftraced.Keep\"}");
        ck_assert(!is_closed(fd, 100));
        close(fd);
        json_decref(call(c, "Echo"));
        wait_until_alone(c);
        answer = call(c, "Release");
        ck_assert(json_is_false(json_object_get(answer, "connected")));
        ck_assert_int_eq(json_integer_value(json_object_get(answer, "gone")), 101);
        json_decref(answer);
}

TEST(what_is_not_a_call_costs_the_connection_and_nothing_else) {
        SERVER_CASE;
        static const char *const bad[] = {
                "",
                "GET / HTTP/1.1\r\n\r\n",
                "{}",
                "[]",
                "{\"method\":1}",
                "{\"method\":\"org.ftraced.Echo\",\"method\":\"org.ftraced.Echo\"}",
                "{\"method\":\"org.ftraced.Echo\",\"parameters\":[]}",
                "{\"method\":\"org.ftraced.Echo\",\"parameters\":null}",
                "{\"method\":\"org.ftraced.Echo\",\"more\":1}",
                "{\"method\":\"org.ftraced.Echo\",\"oneway\":\"yes\"}",
                "{\"method\":\"org.ftraced.Echo\",\"oneway\":true,\"more\":true}",
                "{\"method\":\"org.ftraced.Echo\",\"surprise\":1}",
                "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"text\":\"\\u0000\"}}",
                "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"text\":\"\xff\"}}",
        };
        char *deep = malloc(10001);
        int fd;

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                fd = connect_raw();
                put_text(fd, bad[i]);
                ck_assert_msg(is_closed(fd, PATIENCE_MS), "was kept after: %s", bad[i]);
                close(fd);
        }
        memset(deep, '[', 10000);
        deep[10000] = 0;
        fd = connect_raw();
        put_text(fd, deep);
        ck_assert(is_closed(fd, PATIENCE_MS));
        close(fd);
        free(deep);
        check_alive();
}

TEST(names_that_are_hostile_are_only_names) {
        SERVER_CASE;
        _cleanup_client_ Client *c = connect_client();

        check_refused(c, ".", NULL, REFUSAL_INTERFACE_NOT_FOUND, "interface", "");
        check_refused(c, "..", NULL, REFUSAL_INTERFACE_NOT_FOUND, "interface", ".");
        check_refused(c, "org.ftraced.", NULL, REFUSAL_METHOD_NOT_FOUND, NULL, NULL);
        check_refused(c, "%s%n%s.%n", NULL, REFUSAL_INTERFACE_NOT_FOUND, NULL, NULL);
        check_refused(c, "a.\x1b[31m", NULL, REFUSAL_INTERFACE_NOT_FOUND, "message",
                      "there is no interface for the method a.\\x1b[31m");
}

TEST(an_endless_message_is_cut_off) {
        SERVER_CASE;
        char data[65536];
        size_t n = 0;
        ssize_t k;
        int fd;

        fd = connect_raw();
        memset(data, ' ', sizeof(data));
        while (n < (size_t) 100 << 20) {
                k = send(fd, data, sizeof(data), MSG_NOSIGNAL);
                if (k < 0)
                        break;
                n += (size_t) k;
        }
        ck_assert_uint_lt(n, FRAME_CALL_MAX + ((size_t) 2 << 20));
        close(fd);
        check_alive();
}

TEST(descriptors_with_a_call_are_refused_and_closed) {
        SERVER_CASE;
        _cleanup_(frame_freep) Frame *f = NULL;
        json_t *j, *answer;
        char target[64];
        struct stat st;
        size_t n = 0;

        j = json_pack("{s:s}", "method", "org.ftraced.Echo");
        ck_assert_int_eq(frame_new(&f, connect_raw(), FRAME_CALL_MAX), 0);
        for (int i = 0; i < 50; i++) {
                struct pollfd p = { .fd = frame_fd(f), .events = POLLIN };
                int fds[FRAME_FDS_MAX];

                ck_assert_int_eq(frame_send(f, j, (int[]){ STDIN_FILENO, STDIN_FILENO }, 2), 0);
                ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
                ck_assert_int_eq(frame_receive(f, &answer, fds), 0);
                ck_assert_str_eq(json_string_value(json_object_get(answer, "error")),
                                 "org.varlink.service.InvalidParameter");
                json_decref(answer);
        }
        json_decref(j);
        for (int fd = 0; fd < 200; fd++) {
                snprintf(target, sizeof(target), "/proc/%i/fd/%i", server_pid, fd);
                n += lstat(target, &st) == 0;
        }
        ck_assert_uint_lt(n, 30);
}

TEST(who_does_not_read_a_stream_is_disconnected) {
        SERVER_CASE;
        static char data[65536];
        struct pollfd p = { .events = POLLIN };
        size_t n = 0;
        ssize_t k;

        p.fd = connect_raw();
        put_text(p.fd, "{\"method\":\"org.ftraced.Flood\",\"more\":true}");
        check_alive();
        while (n < 10 << 20 && poll(&p, 1, PATIENCE_MS) == 1 &&
               (k = recv(p.fd, data, sizeof(data), MSG_DONTWAIT)) > 0)
                n += (size_t) k;
        ck_assert_uint_lt(n, 4 << 20);
        ck_assert(is_closed(p.fd, 0));
        close(p.fd);
}

TEST(who_does_not_read_answers_is_not_asked_for_more_calls) {
        SERVER_CASE;
        char call_text[20000], text[20000];
        size_t n_calls = 0, n_answers = 0;
        int fd;

        fd = connect_raw();
        memset(call_text, 'x', sizeof(call_text));
        memcpy(call_text, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"text\":\"", 51);
        memcpy(call_text + sizeof(call_text) - 4, "\"}}", 4);
        ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
        for (int idle = 0; n_calls < 1000 && idle < 5;) {
                if (send(fd, call_text, sizeof(call_text), MSG_NOSIGNAL) == sizeof(call_text)) {
                        n_calls++;
                        idle = 0;
                } else {
                        ck_assert_int_eq(errno, EAGAIN);
                        usleep(50 * 1000);
                        idle++;
                }
        }
        ck_assert_uint_lt(n_calls, 200);
        check_alive();
        while (n_answers < n_calls && get(fd, text, sizeof(text), 1) == 1)
                n_answers++;
        ck_assert_uint_eq(n_answers, n_calls);
        close(fd);
}

TEST(a_message_begun_must_be_ended_in_time_and_an_idle_peer_may_stay) {
        SERVER_CASE;
        struct timespec a, b;
        bool is_over = false;
        int fd, idle_fd;
        char text[200];

        idle_fd = connect_raw();
        fd = connect_raw();
        clock_gettime(CLOCK_MONOTONIC, &a);
        /* A byte now and then does not win time. */
        for (int i = 0; !is_over && i < PATIENCE_MS / 100; i++)
                is_over = send(fd, "{", 1, MSG_NOSIGNAL) < 0 || is_closed(fd, 100);
        clock_gettime(CLOCK_MONOTONIC, &b);
        ck_assert(is_over);
        ck_assert_int_ge(b.tv_sec - a.tv_sec, 4);
        put_text(idle_fd, "{\"method\":\"org.ftraced.Echo\"}");
        ck_assert_uint_eq(get(idle_fd, text, sizeof(text), 1), 1);
        close(fd);
        close(idle_fd);
}

TEST(one_user_has_no_more_than_his_connections) {
        SERVER_CASE;
        int fds[SERVER_MAX_CONNECTIONS_PER_USER], extra;
        char text[1000];

        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                fds[i] = connect_raw();
        extra = connect_raw();
        ck_assert_uint_eq(get(extra, text, sizeof(text), 1), 1);
        ck_assert_ptr_nonnull(strstr(text, "\"org.ftraced.QuotaExceeded\""));
        ck_assert_ptr_nonnull(strstr(text, "MaxConnections= in [Members]"));
        ck_assert(is_closed(extra, PATIENCE_MS));
        ck_assert(!is_closed(fds[0], 100));
        close(extra);
        close(fds[ELEMENTSOF(fds) - 1]);
        wait_until_alive();
        for (size_t i = 0; i + 1 < ELEMENTSOF(fds); i++)
                close(fds[i]);
}

TEST(a_call_that_is_too_long_is_answered_with_a_sentence) {
        SERVER_CASE;
        static char names[FRAME_CALL_MAX + 100000];
        _cleanup_client_ Client *c = connect_client();
        json_t *answer = NULL;
        char text[1000];
        int fd;

        memset(names, 'x', sizeof(names));
        ck_assert_int_eq(client_call(c, "Echo",
                                     json_pack("{s:s%}", "text", names, FRAME_CALL_MAX - 1000),
                                     &answer, NULL, NULL),
                         0);
        ck_assert_uint_eq(json_string_length(json_object_get(answer, "text")),
                          FRAME_CALL_MAX - 1000);
        json_decref(answer);
        ck_assert_int_eq(client_call(c, "Echo", json_pack("{s:s%}", "text", names, sizeof(names)),
                                     NULL, NULL, NULL),
                         CLIENT_E_TOO_LONG);
        /* Other clients are told by the server. */
        fd = connect_raw();
        for (size_t n = 0; n < sizeof(names);) {
                ssize_t k = send(fd, names + n, sizeof(names) - n, MSG_NOSIGNAL);

                if (k < 0)
                        break;
                n += (size_t) k;
        }
        ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
        ck_assert_ptr_nonnull(strstr(text, "\"org.ftraced.QuotaExceeded\""));
        ck_assert_ptr_nonnull(strstr(text, "Name fewer functions"));
        ck_assert(is_closed(fd, PATIENCE_MS));
        close(fd);
        check_alive();
}

/* How much memory the server has, in bytes. */
static size_t server_bytes(void) {
        char at[64], text[4096] = {};
        const char *rss;
        FILE *f;

        snprintf(at, sizeof(at), "/proc/%i/status", server_pid);
        f = fopen(at, "re");
        ck_assert_ptr_nonnull(f);
        (void) !fread(text, 1, sizeof(text) - 1, f);
        fclose(f);
        rss = strstr(text, "VmRSS:");
        ck_assert_ptr_nonnull(rss);
        return strtoul(rss + 6, NULL, 10) << 10;
}

TEST(a_member_who_begins_many_long_calls_gets_no_more_than_his_memory) {
        SERVER_CASE;
        static char data[FRAME_CALL_MAX - 1000];
        size_t n_refused = 0, before;
        int fds[SERVER_MAX_CONNECTIONS_PER_USER];
        char text[1000] = {};

        if (geteuid() != 0)
                return;
        let_group_in(4711);
        check_alive();
        before = server_bytes();
        memset(data, ' ', sizeof(data));
        ck_assert_int_eq(setegid(4711), 0);
        ck_assert_int_eq(seteuid(65534), 0);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++) {
                fds[i] = connect_raw();
                ck_assert_int_eq(fcntl(fds[i], F_SETFL, O_NONBLOCK), 0);
        }
        ck_assert_int_eq(seteuid(0), 0);
        ck_assert_int_eq(setegid(0), 0);
        /* However slowly the server reads. */
        for (int round = 0; round < 40 || (n_refused < 10 && round < 4000); round++) {
                n_refused = 0;
                for (size_t i = 0; i < ELEMENTSOF(fds); i++) {
                        (void) !send(fds[i], data, sizeof(data) / 10, MSG_NOSIGNAL);
                        n_refused += recv(fds[i], text, sizeof(text) - 1, MSG_PEEK) > 0 &&
                                     strstr(text, "CallBytes") != NULL;
                }
                usleep(10 * 1000);
        }
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
        ck_assert_uint_lt(server_bytes(),
                          before + 2 * QUOTA_BYTES_PER_USER + ELEMENTSOF(fds) * QUOTA_FREE_BYTES);
#else
        (void) before;
#endif
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                close(fds[i]);
        ck_assert_uint_ge(n_refused, 10);
        check_alive();
}

TEST(without_descriptors_who_has_a_connection_is_served_and_who_comes_later_as_well) {
        SERVER_CASE;
        _cleanup_client_ Client *c = connect_client();
        int fds[40];

        ck_assert_int_eq(client_call(c, "Starve", json_pack("{s:i}", "n", 20), NULL, NULL, NULL),
                         0);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                fds[i] = connect_raw();
        json_decref(call(c, "Who"));
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                close(fds[i]);
        wait_until_alive();
}

TEST(other_users_may_only_ask_who_is_there) {
        SERVER_CASE;
        _cleanup_client_ Client *c = NULL;

        if (geteuid() == 0) {
                ck_assert_int_eq(seteuid(65534), 0);
                c = connect_client();
                ck_assert_int_eq(seteuid(0), 0);
                check_refused(c, "Echo", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
                check_refused(c, "Nothing", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
                check_refused(c, "a.b.C", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
                json_decref(call(c, "org.varlink.service.GetInfo"));
        }
}

static Client *connect_as(uid_t uid, gid_t gid) {
        Client *c;

        ck_assert_int_eq(setegid(gid), 0);
        ck_assert_int_eq(seteuid(uid), 0);
        c = connect_client();
        ck_assert_int_eq(seteuid(0), 0);
        ck_assert_int_eq(setegid(0), 0);
        return c;
}

TEST(a_member_may_call_what_is_for_members) {
        SERVER_CASE;
        if (geteuid() != 0)
                return;
        let_group_in(4711);
        {
                _cleanup_client_ Client *c = connect_as(65534, 4711);

                json_decref(call(c, "Echo"));
                check_refused(c, "Forget", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
                check_refused(c, "Nothing", NULL, REFUSAL_METHOD_NOT_FOUND, NULL, NULL);
        }
        {
                _cleanup_client_ Client *c = connect_as(65534, 4712);

                check_refused(c, "Echo", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
        }
}
