/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The child serves methods that each behave in one way a method can; the rest
 * is what its peers need to be well-behaved, and not.
 */

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemon/server/server.h"
#include "server-fixture.h"

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
                (void) server_call_continue(call, json_pack("{s:i}", "i", i));
        return server_call_reply(call, json_pack("{s:i}", "i", 3), NULL, 0);
}

/* More than a socket takes, from a peer that does not read: the queue's bound must end it. */
static int method_flood(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        char *text = malloc(1 << 20);
        int n = 0;

        memset(text, 'x', 1 << 20);
        while (n < 200 && server_call_is_connected(call)) {
                (void) server_call_continue(call, json_pack("{s:s%}", "x", text, (size_t) 1 << 20));
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
                                 json_pack("{s:i, s:i, s:I, s:i}", "uid", call->who.uid, "pid",
                                           call->who.pid, "peer", (json_int_t) call->peer, "n",
                                           (int) server_n_connections(*s)),
                                 NULL, 0);
}

static const char *const none[] = { NULL };
static const char *const text_n[] = { "text", "n", NULL };

static const ServerMethod methods[] = {
        { "org.ftraced.Echo", method_echo, text_n, .for_members = true },
        { "org.ftraced.Keep", method_keep, none, .for_members = true },
        { "org.ftraced.Release", method_release, none, false },
        { "org.ftraced.Forget", method_forget, none, false },
        { "org.ftraced.Fail", method_fail, none, false },
        { "org.ftraced.Refuse", method_refuse, none, false },
        { "org.ftraced.Stream", method_stream, none, true },
        { "org.ftraced.Flood", method_flood, none, true },
        { "org.ftraced.Descriptors", method_descriptors, none, false },
        { "org.ftraced.Who", method_who, NULL, false },
};

static void on_gone(uint64_t peer, void *userdata) {
        n_gone++;
}

static int run_server(int listener_fd) {
        _cleanup_(server_freep) Server *s = NULL;
        sd_event *event = NULL;
        int r;

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

pid_t server_pid;

void start_server(void) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        sigset_t mask, old;
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
        /* Also a stop_server() before the child has come to its loop must find it blocked. */
        sigemptyset(&mask);
        sigaddset(&mask, SIGTERM);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, &old), 0);
        server_pid = fork();
        ck_assert_int_ge(server_pid, 0);
        if (server_pid == 0)
                exit(run_server(fd) == 0 ? 0 : 1);
        ck_assert_int_eq(sigprocmask(SIG_SETMASK, &old, NULL), 0);
        close(fd);
}

void let_group_in(gid_t group) {
        ck_assert_int_eq(chown(path, (uid_t) -1, group), 0);
}

void stop_server(void) {
        int status = -1;

        ck_assert_int_eq(kill(server_pid, SIGTERM), 0);
        ck_assert_int_eq(waitpid(server_pid, &status, 0), server_pid);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the server ended with %#x",
                      (unsigned) status);
        unlink(path);
        rmdir(dir);
}

Client *connect_client(void) {
        Client *c = MADE(Client, client_connect, path);

        return c;
}

int connect_raw(void) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        strcpy(sa.sun_path, path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(connect(fd, (struct sockaddr *) &sa, sizeof(sa)), 0);
        return fd;
}

void put(int fd, const char *data, size_t n) {
        ck_assert_int_eq(send(fd, data, n, MSG_NOSIGNAL), (ssize_t) n);
}

void put_text(int fd, const char *text) {
        put(fd, text, strlen(text) + 1);
}

size_t get(int fd, char *text, size_t size, size_t n) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        size_t n_text = 0, n_nul = 0;

        while (n_nul < n && n_text < size - 1 && poll(&p, 1, PATIENCE_MS) > 0) {
                ssize_t k = recv(fd, text + n_text, 1, 0);

                if (k <= 0)
                        break;
                n_nul += !text[n_text];
                n_text++;
        }
        text[n_text] = 0;
        return n_nul;
}

bool is_closed(int fd, int ms) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        char c;

        return poll(&p, 1, ms) > 0 && recv(fd, &c, 1, MSG_DONTWAIT) <= 0;
}

void check_alive(void) {
        _cleanup_(client_freep) Client *c = connect_client();
        _cleanup_(json_decrefp) json_t *answer = NULL;

        ck_assert_int_eq(
                client_call(c, "Echo", json_pack("{s:s}", "text", "hello"), &answer, NULL, NULL),
                0);
        ck_assert_str_eq(json_string_value(json_object_get(answer, "text")), "hello");
}

json_t *call(Client *c, const char *method) {
        json_t *answer = NULL;

        ck_assert_int_eq(client_call(c, method, NULL, &answer, NULL, NULL), 0);
        return answer;
}

void release_kept(Client *c) {
        for (int i = 0; i < PATIENCE_MS / 10; i++) {
                json_t *answer = call(c, "Release");
                bool was_kept = json_is_true(json_object_get(answer, "connected"));

                json_decref(answer);
                if (was_kept)
                        return;
                (void) usleep(10 * 1000);
        }
        ck_abort_msg("there is no call to answer");
}

void check_refused(Client *c, const char *method, json_t *parameters, RefusalKind kind,
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
