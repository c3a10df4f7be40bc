/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A debuginfod of this machine, of which nobody else knows, serves the small kernel. */

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>

#include "lines-fixture.h"
#include "scratch.h"

#ifdef HAVE_DEBUGINFOD
#define SECONDS_MAX 30

/* A port that nobody uses just now. */
static int free_port(void) {
        struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t n = sizeof(a);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

        ck_assert_int_ge(fd, 0);
        r = bind(fd, (struct sockaddr *) &a, sizeof(a))
                    ?: getsockname(fd, (struct sockaddr *) &a, &n);
        ck_assert_int_eq(r, 0);
        safe_close(fd);
        return ntohs(a.sin_port);
}

static pid_t serve(const Scratch *s, int port) {
        char directory[4096], number[16];
        pid_t pid;

        ck_assert_ptr_nonnull(realpath(SAMPLE_PATH(""), directory));
        (void) snprintf(number, sizeof(number), "%d", port);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                int fd = openat(s->fd, "log", O_WRONLY | O_CREAT, 0600);

                (void) dup2(fd, STDOUT_FILENO);
                (void) dup2(fd, STDERR_FILENO);
                (void) execlp("debuginfod", "debuginfod", "-d", ":memory:", "-p", number, "-F",
                              directory, (char *) NULL);
                _exit(127);
        }
        return pid;
}

static int count(void *userdata, uint64_t n_bytes, uint64_t n_all) {
        ++*(unsigned *) userdata;
        return 0;
}

static int ask(Lines **ret, bool is_asked, unsigned *n_told) {
        LinesId id = { NULL, SAMPLE_BUILD_ID };
        LinesRecording recording = { .symbols_fd = -EBADF, .ids = &id, .n_ids = 1 };
        LinesPlace place = { .progress = is_asked ? count : NULL, .userdata = n_told };
        _cleanup_free_ char *problem = NULL;

        return lines_open(ret, &recording, &place, &problem);
}

TEST(a_debuginfod_is_asked_by_build_id_and_never_unasked) {
        _cleanup_scratch_ Scratch s = SCRATCH;
        _cleanup_(lines_freep) Lines *l = NULL;
        int port = free_port(), r = LINES_E_NONE;
        pid_t pid;
        unsigned n_told = 0;
        char urls[64];
        Asked a = {};

        if (system("command -v debuginfod >/dev/null") != 0) {
                puts("# skipped: there is no debuginfod");
                return;
        }
        pid = serve(&s, port);
        (void) snprintf(urls, sizeof(urls), "http://127.0.0.1:%d", port);
        ck_assert_int_eq(setenv("FTRACED_DEBUG_DIRECTORY", s.path, 1), 0);
        ck_assert_int_eq(setenv("DEBUGINFOD_URLS", urls, 1), 0);
        for (int i = 0; i < SECONDS_MAX * 2 && r != 0; i++) {
                char cache[4096 + 32];

                /* What was not there is not asked for again, in the same cache. */
                (void) snprintf(cache, sizeof(cache), "%s/cache-%d", s.path, i);
                ck_assert_int_eq(setenv("DEBUGINFOD_CACHE_PATH", cache, 1), 0);
                ck_assert_int_eq(ask(&l, false, NULL), LINES_E_NONE);
                ck_assert_int_ne(access(cache, F_OK), 0);
                (void) usleep(500000);
                r = ask(&l, true, &n_told);
                ck_assert_int_ge(r, 0);
        }
        ck_assert_int_eq(kill(pid, SIGTERM), 0);
        (void) unit_wait(pid);
        ck_assert_int_eq(r, 0);
        ck_assert_uint_gt(n_told, 0);
        expect_sample(l, &a);
        ck_assert_int_eq(unsetenv("DEBUGINFOD_URLS") ?: unsetenv("FTRACED_DEBUG_DIRECTORY"), 0);
}
#endif
