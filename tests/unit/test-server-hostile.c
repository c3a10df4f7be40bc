/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a real daemon does not show of peers that hang up, flood or sleep; all else is system/test-hostile.sh's and
 * test-access.sh's. */

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

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

SERVER_TEST(a_peer_that_hangs_up_takes_its_call_with_it) {
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

SERVER_TEST(names_that_are_hostile_are_only_names) {
        _cleanup_client_ Client *c = connect_client();

        check_refused(c, ".", NULL, REFUSAL_INTERFACE_NOT_FOUND, "interface", "");
        check_refused(c, "..", NULL, REFUSAL_INTERFACE_NOT_FOUND, "interface", ".");
        check_refused(c, "org.ftraced.", NULL, REFUSAL_METHOD_NOT_FOUND, NULL, NULL);
        check_refused(c, "%s%n%s.%n", NULL, REFUSAL_INTERFACE_NOT_FOUND, NULL, NULL);
        check_refused(c, "a.\x1b[31m", NULL, REFUSAL_INTERFACE_NOT_FOUND, "message",
                      "there is no interface for the method a.\\x1b[31m");
}

SERVER_TEST(who_does_not_read_a_stream_is_disconnected) {
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

SERVER_TEST(a_message_begun_must_be_ended_in_time_and_an_idle_peer_may_stay) {
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

SERVER_TEST(a_member_who_begins_many_long_calls_gets_no_more_than_his_memory) {
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

SERVER_TEST(without_descriptors_who_has_a_connection_is_served_and_who_comes_later_as_well) {
        _cleanup_client_ Client *c = connect_client();
        struct rlimit limit;
        int fds[40];

        ck_assert_int_eq(prlimit(server_pid, RLIMIT_NOFILE, NULL, &limit), 0);
        limit.rlim_cur = 20;
        ck_assert_int_eq(prlimit(server_pid, RLIMIT_NOFILE, &limit, NULL), 0);
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                fds[i] = connect_raw();
        json_decref(call(c, "Who"));
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                close(fds[i]);
        check_alive();
}

SERVER_TEST(other_users_may_only_ask_who_is_there) {
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
