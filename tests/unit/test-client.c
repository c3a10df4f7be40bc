/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The client against a peer that says what the test tells it: the test holds
 * the other end itself.  Private daemons are small shell scripts.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/io.h"
#include "cli/contact/contact.h"
#include "unit.h"

static char dir[] = "/tmp/test-client-XXXXXX";
static char path[64];

/* A connected client; the descriptor is the daemon's end. */
static int connect_pair(Client **ret) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        int listener_fd, fd;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        snprintf(path, sizeof(path), "%s/socket", dir);
        strcpy(sa.sun_path, path);
        listener_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(bind(listener_fd, (struct sockaddr *) &sa, sizeof(sa)), 0);
        ck_assert_int_eq(listen(listener_fd, 5), 0);
        ck_assert_int_eq(client_connect(ret, path), 0);
        fd = accept4(listener_fd, NULL, NULL, SOCK_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        close(listener_fd);
        (void) tree_remove(AT_FDCWD, dir);
        return fd;
}

/* $FTRACED_DAEMON is a script of this text. */
static void make_daemon(const char *text) {
        ck_assert_ptr_nonnull(mkdtemp(dir));
        snprintf(path, sizeof(path), "%s/ftraced", dir);
        ck_assert_int_eq(file_replace(AT_FDCWD, path, text, strlen(text), 0755), 0);
        ck_assert_int_eq(setenv("FTRACED_DAEMON", path, 1), 0);
}

TEST(no_daemon_differs_from_a_forbidden_one) {
        struct sockaddr_un sa = { .sun_family = AF_UNIX };
        char long_path[200];
        Client *c = NULL;
        int fd;

        ck_assert_ptr_nonnull(mkdtemp(dir));
        snprintf(path, sizeof(path), "%s/socket", dir);
        ck_assert_int_eq(client_connect(&c, path), CLIENT_E_NO_DAEMON);

        strcpy(sa.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &sa, sizeof(sa)), 0);
        ck_assert_int_eq(client_connect(&c, path), CLIENT_E_NO_DAEMON);
        if (geteuid() == 0) {
                ck_assert_int_eq(listen(fd, 5), 0);
                ck_assert_int_eq(chmod(path, 0600), 0);
                ck_assert_int_eq(chmod(dir, 0755), 0);
                ck_assert_int_eq(seteuid(65534), 0);
                ck_assert_int_eq(client_connect(&c, path), CLIENT_E_FORBIDDEN);
                ck_assert_int_eq(seteuid(0), 0);
        }
        close(fd);

        memset(long_path, 'x', sizeof(long_path));
        long_path[sizeof(long_path) - 1] = 0;
        ck_assert_int_eq(client_connect(&c, long_path), -ENAMETOOLONG);
        ck_assert_ptr_null(c);
        (void) tree_remove(AT_FDCWD, dir);
}

TEST(a_call_goes_out_as_varlink_says) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_close_ int fd = connect_pair(&c);
        char text[200];
        ssize_t n;

        ck_assert(!c->is_private);
        ck_assert_int_eq(client_send(c, "Stop", json_pack("{s:s}", "session", "a"), false), 0);
        n = recv(fd, text, sizeof(text), 0);
        ck_assert_int_gt(n, 0);
        ck_assert_int_eq(text[n - 1], 0);
        ck_assert_str_eq(text, "{\"method\":\"org.ftraced.Stop\","
                               "\"parameters\":{\"session\":\"a\"}}");
        ck_assert_int_eq(client_send(c, "a.b.C", NULL, true), 0);
        n = recv(fd, text, sizeof(text), 0);
        ck_assert_int_gt(n, 0);
        ck_assert_str_eq(text, "{\"method\":\"a.b.C\",\"parameters\":{},\"more\":true}");
}

/* What client_call() makes of an answer. */
static int answered(const char *answer, Refusal *refusal) {
        Client *c = NULL;
        int fd, r;

        strcpy(dir + strlen(dir) - 6, "XXXXXX");
        fd = connect_pair(&c);
        if (answer)
                ck_assert_int_gt(send(fd, answer, strlen(answer) + 1, MSG_NOSIGNAL), 0);
        ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
        r = client_call(c, "List", NULL, NULL, NULL, refusal);
        client_free(c);
        close(fd);
        return r;
}

TEST(answers_that_make_no_sense_are_told_apart_from_none) {
        static const struct {
                const char *answer;
                int r;
        } cases[] = {
                { "{}", 0 },
                { "{\"parameters\":{}}", 0 },
                { "{\"parameters\":null}", 0 },
                { NULL, CLIENT_E_GONE },
                { "hello", CLIENT_E_NONSENSE },
                { "{\"parameters\":1}", CLIENT_E_NONSENSE },
                { "{\"continues\":1}", CLIENT_E_NONSENSE },
                { "{\"continues\":true}", CLIENT_E_NONSENSE },
                { "{\"error\":1}", CLIENT_E_NONSENSE },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_int_eq(answered(cases[i].answer, NULL), cases[i].r);
}

TEST(errors_become_refusals_known_or_not) {
        _cleanup_refusal_ Refusal r = {};

        ck_assert_int_eq(answered("{\"error\":\"org.ftraced.Busy\",\"parameters\":"
                                  "{\"message\":\"held\",\"holder\":\"x\"}}",
                                  &r),
                         CLIENT_E_REFUSED);
        ck_assert_int_eq(r.kind, REFUSAL_BUSY);
        ck_assert_str_eq(refusal_message(&r), "held");

        ck_assert_int_eq(answered("{\"error\":\"org.varlink.service.PermissionDenied\"}", &r),
                         CLIENT_E_REFUSED);
        ck_assert_int_eq(r.kind, REFUSAL_PERMISSION_DENIED);
        ck_assert_str_eq(refusal_message(&r), "permission denied");

        ck_assert_int_eq(answered("{\"error\":\"org.new.Error\"}", &r), CLIENT_E_REFUSED);
        ck_assert_int_eq(r.kind, REFUSAL_SYSTEM_ERROR);
        ck_assert_ptr_nonnull(strstr(refusal_message(&r), "org.new.Error"));
        ck_assert_int_eq(answered("{\"error\":\"org.new.Error\"}", NULL), CLIENT_E_REFUSED);
}

TEST(waiting_ends_in_time_or_when_woken) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_close_ int fd = connect_pair(&c);
        json_t *answer = NULL;
        bool continues;
        uint64_t start;
        int fds[2];

        start = now_ns(CLOCK_MONOTONIC);
        ck_assert_int_eq(client_receive(c, NULL, NULL, &continues, NULL, -EBADF, 200), -ETIMEDOUT);
        ck_assert_uint_ge(now_ns(CLOCK_MONOTONIC) - start, 200 * NSEC_PER_MSEC);
        ck_assert_uint_lt(now_ns(CLOCK_MONOTONIC) - start, 60 * NSEC_PER_SEC);

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_eq(write(fds[1], "x", 1), 1);
        ck_assert_int_gt(send(fd, "{\"continues\":true}", 19, MSG_NOSIGNAL), 0);
        ck_assert_int_eq(client_receive(c, NULL, NULL, &continues, NULL, fds[0], -1),
                         CLIENT_E_INTERRUPTED);
        /* Nothing is lost by it. */
        ck_assert_int_eq(client_receive(c, &answer, NULL, &continues, NULL, -EBADF, 60000), 0);
        ck_assert(continues);
        json_decref(answer);
        close(fds[0]);
        close(fds[1]);
}

TEST(a_peer_that_takes_no_more_ends_the_wait) {
        _cleanup_(client_freep) Client *c = NULL;
        _cleanup_close_ int fd = connect_pair(&c);
        char *text = malloc(1 << 20), buffer[65536];
        bool continues;

        memset(text, 'x', 1 << 20);
        ck_assert_int_eq(client_send(c, "Stop",
                                     json_pack("{s:s%}", "session", text, (size_t) 1 << 20), false),
                         0);
        free(text);
        /* What was sent before can still be read, and makes room that is of no use. */
        ck_assert_int_eq(shutdown(fd, SHUT_RD), 0);
        while (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
                ;
        ck_assert_int_eq(client_receive(c, NULL, NULL, &continues, NULL, -EBADF, 60000),
                         CLIENT_E_GONE);
}

TEST(a_private_daemon_gets_the_socket_and_the_paths) {
        _cleanup_(client_freep) Client *c = NULL;
        json_t *answer = NULL;
        const char *args;
        sigset_t mask;

        /* Answers with its arguments; the shell's read ends at the NUL or the end. */
        make_daemon("#!/bin/bash\n"
                    "for a; do case $a in --private=*) fd=${a#*=};; esac; done\n"
                    "IFS= read -r -d '' -u $fd call\n"
                    "read -r _ _ _ _ _ sid _ </proc/$$/stat\n"
                    "args=\"$* leads:$((sid == $$)) blocks:\"\n"
                    "args+=$(awk '/^SigBlk/ { print $2 }' /proc/self/status)\n"
                    "printf '{\"parameters\":{\"args\":\"%s\"}}\\0' \"$args\" >&$fd\n"
                    "IFS= read -r -d '' -u $fd call\n"
                    "echo left >$0.left\n");
        sigemptyset(&mask);
        sigaddset(&mask, SIGINT);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
        ck_assert_int_eq(client_start_private(&c, "/a b", "/t"), 0);
        ck_assert(c->is_private);
        ck_assert_int_eq(client_call(c, "GetStatus", NULL, &answer, NULL, NULL), 0);
        args = json_string_value(json_object_get(answer, "args"));
        ck_assert_ptr_nonnull(args);
        ck_assert_ptr_nonnull(strstr(args, "--quiet"));
        ck_assert_ptr_nonnull(strstr(args, "--store=/a b"));
        ck_assert_ptr_nonnull(strstr(args, "--config-root=/t"));
        ck_assert_ptr_nonnull(strstr(args, " leads:1 blocks:0000000000000000"));
        json_decref(answer);

        /* It has left when client_free() returns. */
        c = client_free(c);
        strcat(path, ".left");
        ck_assert_int_eq(access(path, F_OK), 0);
        (void) tree_remove(AT_FDCWD, dir);
}

TEST(a_private_daemon_that_ends_at_once_has_gone) {
        _cleanup_(client_freep) Client *c = NULL;

        make_daemon("#!/bin/sh\nexit 1\n");
        ck_assert_int_eq(client_start_private(&c, NULL, NULL), 0);
        ck_assert_int_eq(client_call(c, "GetStatus", NULL, NULL, NULL, NULL), CLIENT_E_GONE);
        (void) tree_remove(AT_FDCWD, dir);
}
