/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Children that come into being while somebody closes what acts when it is closed. */

#include <pthread.h>

#include "daemon/process/spawn.h"
#include "scratch.h"

#define N_CHILDREN 40

static _Atomic(bool) is_over;

static void *spawn_all(void *userdata) {
        static const char *const words[] = { "/bin/true", NULL };
        int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

        for (unsigned i = 0; i < N_CHILDREN; i++) {
                pid_t pid;

                ck_assert_int_eq(spawn_worker(&pid, words, &null_fd, 1), 0);
                ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        }
        (void) close(null_fd);
        is_over = true;
        return NULL;
}

TEST(what_was_closed_is_closed_although_children_come) {
        pthread_t thread;
        unsigned n = 0;

        is_over = false;
        ck_assert_int_eq(pthread_create(&thread, NULL, spawn_all, NULL), 0);
        while (!is_over) {
                int fds[2];
                char c;

                ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
                ck_assert_int_eq(spawn_close(fds[1]), 0);
                /* As long as anybody has the other end this is EAGAIN. */
                ck_assert_int_eq((int) read(fds[0], &c, 1), 0);
                ck_assert_int_eq(spawn_close(fds[0]), 0);
                n++;
        }
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_uint_gt(n, N_CHILDREN);
}

TEST(a_worker_has_what_it_is_given_and_nothing_else) {
        static const char *const words[] = {
                "/bin/sh", "-c", "cat <&2; for i in /proc/self/fd/*; do echo ${i##*/}; done", NULL
        };
        int in[2], out[2], other = open("/dev/null", O_RDONLY);
        char text[128] = "";
        size_t n = 0;
        ssize_t k;
        pid_t pid;

        ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
        ck_assert_int_eq((int) write(in[1], "in\n", 3), 3);
        (void) close(in[1]);
        /* In an order that copying one after the other would get wrong. */
        ck_assert_int_eq(spawn_worker(&pid, words, (const int[]){ other, out[1], in[0] }, 3), 0);
        (void) close(out[1]);
        while ((k = read(out[0], text + n, sizeof(text) - 1 - n)) > 0)
                n += (size_t) k;
        ck_assert_int_eq(unit_wait(pid), 0);
        ck_assert_msg(startswith(text, "in\n0\n1\n2\n"), "it has:\n%s", text);
        /* One more is the shell's own, of the directory. */
        ck_assert_uint_le(strlen(text), strlen("in\n0\n1\n2\n3\n"));
        (void) close(other);
        (void) close(in[0]);
        (void) close(out[0]);
}

static int serve(int fd) {
        char c;

        return read(fd, &c, 1) == 0 ? 0 : -1;
}

TEST(a_server_has_none_of_what_is_closed_behind_it) {
        for (unsigned i = 0; i < N_CHILDREN; i++) {
                int fds[2], server_fd, status;
                char c;

                ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
                server_fd = spawn_server("serve", serve);
                ck_assert_int_ge(server_fd, 0);
                (void) close(fds[1]);
                ck_assert_int_eq(read(fds[0], &c, 1), 0);
                (void) close(fds[0]);
                (void) close(server_fd);
                ck_assert_int_gt(wait(&status), 0);
                ck_assert_int_eq(status, 0);
        }
}

TEST(what_cannot_be_run_is_an_error) {
        static const char *const words[] = { "/nonexistent/program", NULL };
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        pid_t pid;

        ck_assert_int_eq(spawn_worker(&pid, words, &fd, 1), -ENOENT);
        (void) close(fd);
}
