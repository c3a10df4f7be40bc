/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A real Server on a real loop in a child process; the test is its clients,
 * well-behaved and other.  The child must end by itself and with success.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/client.h"
#include "daemon/server.h"
#include "unit.h"

static char dir[] = "/tmp/test-server-XXXXXX";
static char path[64];

/*
 * The child
 */

static ServerCall *kept;
static uint64_t n_gone;

static int method_echo(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return server_call_reply(call, json_incref(parameters), NULL, 0);
}

/* Answered by Release, perhaps from another connection. */
static int method_keep(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        server_call_unref(kept);
        kept = server_call_ref(call);
        return 0;
}

static int method_release(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        json_t *answer =
                json_pack("{s:b, s:I}", "connected", kept ? server_call_is_connected(kept) : false,
                          "gone", (json_int_t) n_gone);

        if (kept)
                (void) server_call_reply(kept, json_pack("{s:s}", "released", "yes"), NULL, 0);
        kept = server_call_unref(kept);
        return server_call_reply(call, answer, NULL, 0);
}

static int method_forget(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return 0;
}

static int method_fail(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return -ENOSPC;
}

static int method_refuse(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return refusal_set(refusal, REFUSAL_BUSY, json_pack("{s:s}", "holder", "boot"),
                           "session boot is recording");
}

static int method_stream(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        for (int i = 0; i < 3; i++)
                (void) server_call_continue(call, json_pack("{s:i}", "i", i), NULL, 0);
        return server_call_reply(call, json_pack("{s:i}", "i", 3), NULL, 0);
}

/* More than a socket takes, from a peer that does not read: the queue's bound must end it. */
static int method_flood(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        char *text = malloc(1 << 20);
        int n = 0;

        memset(text, 'x', 1 << 20);
        while (n < 200 && server_call_is_connected(call)) {
                (void) server_call_continue(call, json_pack("{s:s%}", "x", text, (size_t) 1 << 20),
                                            NULL, 0);
                n++;
        }
        free(text);
        return server_call_reply(call, NULL, NULL, 0);
}

static int method_descriptors(ServerCall *call, json_t *parameters, Refusal *refusal,
                              void *userdata) {
        return server_call_reply(call, NULL, (int[]){ STDIN_FILENO, STDERR_FILENO }, 2);
}

static int method_who(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        const Server *const *s = userdata;

        return server_call_reply(call,
                                 json_pack("{s:i, s:i, s:I, s:i}", "uid", server_call_uid(call),
                                           "pid", server_call_pid(call), "peer",
                                           (json_int_t) server_call_peer(call), "n",
                                           (int) server_n_connections(*s)),
                                 NULL, 0);
}

/* Leaves the process with no more than @n descriptors to open. */
static int method_starve(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        struct rlimit limit = { .rlim_cur = 0, .rlim_max = 4096 };

        limit.rlim_cur = (rlim_t) json_integer_value(json_object_get(parameters, "n"));
        return server_call_reply(call, json_pack("{s:i}", "r", setrlimit(RLIMIT_NOFILE, &limit)),
                                 NULL, 0);
}

static const char *const none[] = { NULL };
static const char *const text_n[] = { "text", "n", NULL };

static const ServerMethod methods[] = {
        { "org.ftraced.Echo", method_echo, text_n, false },
        { "org.ftraced.Keep", method_keep, none, false },
        { "org.ftraced.Release", method_release, none, false },
        { "org.ftraced.Forget", method_forget, none, false },
        { "org.ftraced.Fail", method_fail, none, false },
        { "org.ftraced.Refuse", method_refuse, none, false },
        { "org.ftraced.Stream", method_stream, none, true },
        { "org.ftraced.Flood", method_flood, none, true },
        { "org.ftraced.Descriptors", method_descriptors, none, false },
        { "org.ftraced.Who", method_who, NULL, false },
        { "org.ftraced.Starve", method_starve, text_n, false },
};

static void on_gone(uint64_t peer, void *userdata) {
        n_gone++;
}

static int run_server(int listener_fd) {
        _cleanup_(server_freep) Server *s = NULL;
        sd_event *event = NULL;
        sigset_t mask;
        int r;

        sigemptyset(&mask);
        sigaddset(&mask, SIGTERM);
        (void) sigprocmask(SIG_BLOCK, &mask, NULL);
        r = sd_event_default(&event);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
        if (r >= 0)
                r = server_new(&s, event, methods, ELEMENTSOF(methods), on_gone, &s);
        if (r >= 0)
                r = server_add_listener(s, listener_fd);
        if (r >= 0)
                r = sd_event_loop(event);
        s = server_free(s);
        kept = server_call_unref(kept);
        sd_event_unref(event);
        return r;
}

/*
 * The parent
 */

static pid_t server_pid;

static void start_server(void) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        int fd;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        ck_assert_int_eq(chmod(dir, 0755), 0);
        snprintf(path, sizeof(path), "%s/socket", dir);
        strcpy(sa.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &sa, sizeof(sa)), 0);
        ck_assert_int_eq(chmod(path, 0666), 0);
        ck_assert_int_eq(listen(fd, 128), 0);
        server_pid = fork();
        ck_assert_int_ge(server_pid, 0);
        if (server_pid == 0)
                exit(run_server(fd) == 0 ? 0 : 1);
        close(fd);
}

static void stop_server(void) {
        int status = -1;

        ck_assert_int_eq(kill(server_pid, SIGTERM), 0);
        ck_assert_int_eq(waitpid(server_pid, &status, 0), server_pid);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the server ended with %#x",
                      (unsigned) status);
        unlink(path);
        rmdir(dir);
}

static Client *connect_client(void) {
        Client *c;

        ck_assert_int_eq(client_connect(&c, path), 0);
        return c;
}

static int connect_raw(void) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        strcpy(sa.sun_path, path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(connect(fd, (struct sockaddr *) &sa, sizeof(sa)), 0);
        return fd;
}

static void put(int fd, const char *data, size_t n) {
        ck_assert_int_eq(send(fd, data, n, MSG_NOSIGNAL), (ssize_t) n);
}

static void put_text(int fd, const char *text) {
        put(fd, text, strlen(text) + 1);
}

/* All that comes until @n NULs, the end, or two seconds of silence; the number of NULs. */
static size_t get(int fd, char *text, size_t size, size_t n) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        size_t n_text = 0, n_nul = 0;

        while (n_nul < n && n_text < size - 1 && poll(&p, 1, 2000) > 0) {
                ssize_t k = recv(fd, text + n_text, 1, 0);

                if (k <= 0)
                        break;
                n_nul += !text[n_text];
                n_text++;
        }
        text[n_text] = 0;
        return n_nul;
}

/* The peer has closed, within @ms. */
static bool is_closed(int fd, int ms) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        char c;

        return poll(&p, 1, ms) > 0 && recv(fd, &c, 1, MSG_DONTWAIT) <= 0;
}

static void check_alive(void) {
        _cleanup_(client_freep) Client *c = connect_client();
        _cleanup_(json_decrefp) json_t *answer = NULL;

        ck_assert_int_eq(
                client_call(c, "Echo", json_pack("{s:s}", "text", "hello"), &answer, NULL, NULL),
                0);
        ck_assert_str_eq(json_string_value(json_object_get(answer, "text")), "hello");
}

static json_t *call(Client *c, const char *method) {
        json_t *answer = NULL;

        ck_assert_int_eq(client_call(c, method, NULL, &answer, NULL, NULL), 0);
        return answer;
}

static void check_refused(Client *c, const char *method, json_t *parameters, RefusalKind kind,
                          const char *member, const char *value) {
        _cleanup_refusal_ Refusal refusal = {};

        ck_assert_int_eq(client_call(c, method, parameters, NULL, NULL, &refusal),
                         CLIENT_E_REFUSED);
        ck_assert_str_eq(refusal_error_name(refusal.kind), refusal_error_name(kind));
        ck_assert_int_gt(strlen(refusal_message(&refusal)), 0);
        if (member)
                ck_assert_str_eq(json_string_value(json_object_get(refusal.parameters, member)),
                                 value);
}

START_TEST(a_call_is_answered_and_a_refusal_keeps_its_words)
        {
                _cleanup_(client_freep) Client *c = NULL;
                json_t *answer = NULL;

                start_server();
                check_alive();
                c = connect_client();
                check_refused(c, "Refuse", NULL, REFUSAL_BUSY, "message",
                              "session boot is recording");
                check_refused(c, "Refuse", NULL, REFUSAL_BUSY, "holder", "boot");
                check_refused(c, "Fail", NULL, REFUSAL_SYSTEM_ERROR, NULL, NULL);
                check_refused(c, "Forget", NULL, REFUSAL_SYSTEM_ERROR, NULL, NULL);
                check_refused(c, "Nothing", NULL, REFUSAL_METHOD_NOT_FOUND, "method",
                              "org.ftraced.Nothing");
                check_refused(c, "org.nowhere.Nothing", NULL, REFUSAL_INTERFACE_NOT_FOUND,
                              "interface", "org.nowhere");
                check_refused(c, "Echo", json_pack("{s:i}", "other", 1), REFUSAL_INVALID_PARAMETER,
                              "parameter", "other");
                check_refused(c, "Who", json_pack("{s:i}", "other", 1), REFUSAL_INVALID_PARAMETER,
                              "parameter", "other");
                check_refused(c, "Stream", NULL, REFUSAL_EXPECTED_MORE, NULL, NULL);
                answer = call(c, "Who");
                ck_assert_int_eq(json_integer_value(json_object_get(answer, "pid")), getpid());
                ck_assert_int_eq(json_integer_value(json_object_get(answer, "uid")), geteuid());
                json_decref(answer);
                stop_server();
        }
END_TEST

START_TEST(the_service_describes_itself)
        {
                _cleanup_(client_freep) Client *c = NULL;
                json_t *answer;

                start_server();
                c = connect_client();
                answer = call(c, "org.varlink.service.GetInfo");
                ck_assert_str_eq(json_string_value(json_object_get(answer, "product")), "ftraced");
                ck_assert_uint_eq(json_array_size(json_object_get(answer, "interfaces")), 2);
                json_decref(answer);
                ck_assert_int_eq(client_call(c, "org.varlink.service.GetInterfaceDescription",
                                             json_pack("{s:s}", "interface", "org.ftraced"),
                                             &answer, NULL, NULL),
                                 0);
                ck_assert_ptr_nonnull(
                        strstr(json_string_value(json_object_get(answer, "description")),
                               "\ninterface org.ftraced\n"));
                json_decref(answer);
                check_refused(c, "org.varlink.service.GetInterfaceDescription", NULL,
                              REFUSAL_INVALID_PARAMETER, "parameter", "interface");
                check_refused(c, "org.varlink.service.GetInterfaceDescription",
                              json_pack("{s:s}", "interface", "a.b"), REFUSAL_INTERFACE_NOT_FOUND,
                              "interface", "a.b");
                check_refused(c, "org.varlink.service.Nothing", NULL, REFUSAL_METHOD_NOT_FOUND,
                              "method", "org.varlink.service.Nothing");
                stop_server();
        }
END_TEST

START_TEST(a_stream_ends_with_the_reply_that_does_not_continue)
        {
                _cleanup_(client_freep) Client *c = NULL;
                bool continues = true;

                start_server();
                c = connect_client();
                ck_assert_int_eq(client_send(c, "Stream", NULL, true), 0);
                for (int i = 0; i < 4; i++) {
                        json_t *answer;

                        ck_assert(continues);
                        ck_assert_int_eq(
                                client_receive(c, &answer, NULL, &continues, NULL, -EBADF, 1000),
                                0);
                        ck_assert_int_eq(json_integer_value(json_object_get(answer, "i")), i);
                        json_decref(answer);
                }
                ck_assert(!continues);
                stop_server();
        }
END_TEST

START_TEST(descriptors_come_with_the_reply)
        {
                _cleanup_(client_freep) Client *c = NULL;
                int fds[FRAME_FDS_MAX];

                start_server();
                c = connect_client();
                ck_assert_int_eq(client_call(c, "Descriptors", NULL, NULL, fds, NULL), 0);
                ck_assert_int_ge(fds[0], 0);
                ck_assert_int_ge(fds[1], 0);
                ck_assert_int_lt(fds[2], 0);
                close(fds[0]);
                close(fds[1]);
                /* Who does not want them does not get them. */
                ck_assert_int_eq(client_call(c, "Descriptors", NULL, NULL, NULL, NULL), 0);
                stop_server();
        }
END_TEST

START_TEST(pipelined_calls_are_answered_in_order_also_behind_a_kept_one)
        {
                char text[4096];
                int fd;

                start_server();
                fd = connect_raw();
                put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"n\":1}}");
                put_text(fd, "{\"method\":\"org.ftraced.Keep\"}");
                put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"n\":2},"
                             "\"oneway\":true}");
                put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"n\":3}}");
                ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
                ck_assert_str_eq(text, "{\"parameters\":{\"n\":1}}");
                ck_assert(!is_closed(fd, 100));
                {
                        _cleanup_(client_freep) Client *c = connect_client();

                        json_decref(call(c, "Release"));
                }
                ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
                ck_assert_str_eq(text, "{\"parameters\":{\"released\":\"yes\"}}");
                ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
                ck_assert_str_eq(text, "{\"parameters\":{\"n\":3}}");
                close(fd);
                stop_server();
        }
END_TEST

START_TEST(a_half_closed_peer_still_gets_its_answers)
        {
                char text[4096];
                int fd;

                start_server();
                fd = connect_raw();
                put_text(fd, "{\"method\":\"org.ftraced.Keep\"}");
                put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"n\":1}}");
                ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
                ck_assert(!is_closed(fd, 100));
                {
                        _cleanup_(client_freep) Client *c = connect_client();

                        json_decref(call(c, "Release"));
                }
                ck_assert_uint_eq(get(fd, text, sizeof(text), 2), 2);
                ck_assert(is_closed(fd, 1000));
                close(fd);
                stop_server();
        }
END_TEST

START_TEST(a_peer_that_hangs_up_takes_its_call_with_it)
        {
                _cleanup_(client_freep) Client *c = NULL;
                json_t *answer;
                int fd;

                start_server();
                c = connect_client();
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
                usleep(100 * 1000);
                answer = call(c, "Release");
                ck_assert(json_is_false(json_object_get(answer, "connected")));
                ck_assert_int_eq(json_integer_value(json_object_get(answer, "gone")), 101);
                json_decref(answer);
                answer = call(c, "Who");
                ck_assert_int_eq(json_integer_value(json_object_get(answer, "n")), 1);
                json_decref(answer);
                stop_server();
        }
END_TEST

START_TEST(what_is_not_a_call_costs_the_connection_and_nothing_else)
        {
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

                start_server();
                for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                        fd = connect_raw();
                        put_text(fd, bad[i]);
                        ck_assert_msg(is_closed(fd, 2000), "was kept after: %s", bad[i]);
                        close(fd);
                }
                memset(deep, '[', 10000);
                deep[10000] = 0;
                fd = connect_raw();
                put_text(fd, deep);
                ck_assert(is_closed(fd, 2000));
                close(fd);
                free(deep);
                check_alive();
                stop_server();
        }
END_TEST

START_TEST(names_that_are_hostile_are_only_names)
        {
                _cleanup_(client_freep) Client *c = NULL;

                start_server();
                c = connect_client();
                check_refused(c, ".", NULL, REFUSAL_INTERFACE_NOT_FOUND, "interface", "");
                check_refused(c, "..", NULL, REFUSAL_INTERFACE_NOT_FOUND, "interface", ".");
                check_refused(c, "org.ftraced.", NULL, REFUSAL_METHOD_NOT_FOUND, NULL, NULL);
                check_refused(c, "%s%n%s.%n", NULL, REFUSAL_INTERFACE_NOT_FOUND, NULL, NULL);
                check_refused(c, "a.\x1b[31m", NULL, REFUSAL_INTERFACE_NOT_FOUND, "message",
                              "there is no interface for the method a.\\x1b[31m");
                stop_server();
        }
END_TEST

START_TEST(an_endless_message_is_cut_off)
        {
                char data[65536];
                size_t n = 0;
                ssize_t k;
                int fd;

                start_server();
                fd = connect_raw();
                memset(data, ' ', sizeof(data));
                while (n < (size_t) 100 << 20) {
                        k = send(fd, data, sizeof(data), MSG_NOSIGNAL);
                        if (k < 0)
                                break;
                        n += (size_t) k;
                }
                ck_assert_uint_lt(n, (size_t) 2 << 20);
                close(fd);
                check_alive();
                stop_server();
        }
END_TEST

START_TEST(descriptors_with_a_call_are_refused_and_closed)
        {
                _cleanup_(frame_freep) Frame *f = NULL;
                json_t *j, *answer;
                char target[64];
                struct stat st;
                size_t n = 0;

                start_server();
                j = json_pack("{s:s}", "method", "org.ftraced.Echo");
                ck_assert_int_eq(frame_new(&f, connect_raw(), FRAME_CALL_MAX), 0);
                for (int i = 0; i < 50; i++) {
                        struct pollfd p = { .fd = frame_fd(f), .events = POLLIN };
                        int fds[FRAME_FDS_MAX];

                        ck_assert_int_eq(frame_send(f, j, (int[]){ STDIN_FILENO, STDIN_FILENO }, 2),
                                         0);
                        ck_assert_int_eq(poll(&p, 1, 2000), 1);
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
                stop_server();
        }
END_TEST

START_TEST(who_does_not_read_a_stream_is_disconnected)
        {
                char byte;
                size_t n = 0;
                int fd;

                start_server();
                fd = connect_raw();
                put_text(fd, "{\"method\":\"org.ftraced.Flood\",\"more\":true}");
                check_alive();
                while (recv(fd, &byte, 1, MSG_DONTWAIT) == 1 && n < 10 << 20)
                        n++;
                ck_assert_uint_lt(n, 4 << 20);
                ck_assert(is_closed(fd, 1000));
                close(fd);
                stop_server();
        }
END_TEST

START_TEST(who_does_not_read_answers_is_not_asked_for_more_calls)
        {
                char call_text[20000], text[20000];
                size_t n_calls = 0, n_answers = 0;
                int fd;

                start_server();
                fd = connect_raw();
                memset(call_text, 'x', sizeof(call_text));
                memcpy(call_text, "{\"method\":\"org.ftraced.Echo\",\"parameters\":{\"text\":\"",
                       51);
                memcpy(call_text + sizeof(call_text) - 4, "\"}}", 4);
                ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
                for (int idle = 0; n_calls < 1000 && idle < 5;) {
                        if (send(fd, call_text, sizeof(call_text), MSG_NOSIGNAL) ==
                            sizeof(call_text)) {
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
                stop_server();
        }
END_TEST

START_TEST(a_message_begun_must_be_ended_in_time_and_an_idle_peer_may_stay)
        {
                struct timespec a, b;
                int fd, idle_fd;
                char text[200];

                start_server();
                idle_fd = connect_raw();
                fd = connect_raw();
                clock_gettime(CLOCK_MONOTONIC, &a);
                /* A byte now and then does not win time. */
                for (int i = 0; i < 80; i++) {
                        if (send(fd, "{", 1, MSG_NOSIGNAL) < 0 || is_closed(fd, 100))
                                break;
                }
                clock_gettime(CLOCK_MONOTONIC, &b);
                ck_assert_int_ge(b.tv_sec - a.tv_sec, 4);
                ck_assert_int_le(b.tv_sec - a.tv_sec, 7);
                put_text(idle_fd, "{\"method\":\"org.ftraced.Echo\"}");
                ck_assert_uint_eq(get(idle_fd, text, sizeof(text), 1), 1);
                close(fd);
                close(idle_fd);
                stop_server();
        }
END_TEST

START_TEST(one_user_has_no_more_than_his_connections)
        {
                int fds[SERVER_MAX_CONNECTIONS_PER_UID], extra;

                start_server();
                for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                        fds[i] = connect_raw();
                extra = connect_raw();
                ck_assert(is_closed(extra, 2000));
                ck_assert(!is_closed(fds[ELEMENTSOF(fds) - 1], 100));
                close(extra);
                close(fds[0]);
                usleep(100 * 1000);
                check_alive();
                for (size_t i = 1; i < ELEMENTSOF(fds); i++)
                        close(fds[i]);
                stop_server();
        }
END_TEST

START_TEST(without_descriptors_a_connection_is_turned_away_and_the_next_served)
        {
                _cleanup_(client_freep) Client *c = NULL;
                int fds[40];
                size_t n_closed = 0;

                start_server();
                c = connect_client();
                ck_assert_int_eq(
                        client_call(c, "Starve", json_pack("{s:i}", "n", 20), NULL, NULL, NULL), 0);
                for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                        fds[i] = connect_raw();
                for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                        n_closed += is_closed(fds[i], i + 1 < ELEMENTSOF(fds) ? 20 : 1000);
                ck_assert_uint_ge(n_closed, 20);
                ck_assert_uint_lt(n_closed, 40);
                json_decref(call(c, "Who"));
                for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                        close(fds[i]);
                usleep(100 * 1000);
                check_alive();
                stop_server();
        }
END_TEST

START_TEST(other_users_may_only_ask_who_is_there)
        {
                _cleanup_(client_freep) Client *c = NULL;

                start_server();
                if (geteuid() == 0) {
                        ck_assert_int_eq(seteuid(65534), 0);
                        c = connect_client();
                        ck_assert_int_eq(seteuid(0), 0);
                        check_refused(c, "Echo", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
                        check_refused(c, "Nothing", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
                        check_refused(c, "a.b.C", NULL, REFUSAL_PERMISSION_DENIED, NULL, NULL);
                        json_decref(call(c, "org.varlink.service.GetInfo"));
                }
                stop_server();
        }
END_TEST

START_TEST(upgrade_is_refused)
        {
                char text[500];
                int fd;

                start_server();
                fd = connect_raw();
                put_text(fd, "{\"method\":\"org.ftraced.Echo\",\"upgrade\":true}");
                ck_assert_uint_eq(get(fd, text, sizeof(text), 1), 1);
                ck_assert_ptr_nonnull(strstr(text, "\"org.varlink.service.InvalidParameter\""));
                close(fd);
                stop_server();
        }
END_TEST

UNIT_MAIN("server", a_call_is_answered_and_a_refusal_keeps_its_words, the_service_describes_itself,
          a_stream_ends_with_the_reply_that_does_not_continue, descriptors_come_with_the_reply,
          pipelined_calls_are_answered_in_order_also_behind_a_kept_one,
          a_half_closed_peer_still_gets_its_answers, a_peer_that_hangs_up_takes_its_call_with_it,
          what_is_not_a_call_costs_the_connection_and_nothing_else,
          names_that_are_hostile_are_only_names, an_endless_message_is_cut_off,
          descriptors_with_a_call_are_refused_and_closed,
          who_does_not_read_a_stream_is_disconnected,
          who_does_not_read_answers_is_not_asked_for_more_calls,
          a_message_begun_must_be_ended_in_time_and_an_idle_peer_may_stay,
          one_user_has_no_more_than_his_connections,
          without_descriptors_a_connection_is_turned_away_and_the_next_served,
          other_users_may_only_ask_who_is_there, upgrade_is_refused)
