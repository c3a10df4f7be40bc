/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch-tracefs: an independent witness of the rule that matters most
 *
 * An empty set_graph_function means "every function of the kernel", so it may
 * never be empty while function_graph is on anywhere.  This looks at both, as
 * often as it can, until it is killed by SIGTERM, and says what it saw.
 *
 * Several files cannot be read at one instant.  A look is: a tracer is on, the
 * filter is empty, the same tracer is still on, all within LOOK_MAX_NS.  In so
 * short a time nobody switches a tracer off, changes the filter, and switches it
 * on again: that alone takes the kernel longer.
 *
 * Between two looks it leaves its CPU for PAUSE_NS.  Emulated CPUs take turns of
 * up to 100 ms, in which nothing changes that one could look at, while whoever is
 * watched waits for his; one that is idle gives the others its turn (QEMU 7.2
 * accel/tcg/tcg-accel-ops-rr.c).
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/cleanup.h"

#define LOOK_MAX_NS 5000000ULL
#define PAUSE_NS 20000L

static volatile sig_atomic_t ended;

static void on_signal(int sig) {
        ended = 1;
}

static unsigned long long now_ns(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (unsigned long long) t.tv_sec * 1000000000ULL + (unsigned long long) t.tv_nsec;
}

static void pause_a_moment(void) {
        (void) nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

/* Whether the file begins with @text. */
static bool begins_with(int dir_fd, const char *path, const char *text) {
        _cleanup_close_ int fd = -EBADF;
        char buf[64] = "";

        fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, buf, sizeof(buf) - 1) < 0)
                return false;
        return strncmp(buf, text, strlen(text)) == 0;
}

static bool is_on(int tracefs_fd, const char *path) {
        return begins_with(tracefs_fd, path, "function_graph");
}

/* The current_tracer of some buffer in which function_graph is on. */
static bool find_user(int tracefs_fd, char *ret, size_t n) {
        struct dirent *d;
        bool found = false;
        int fd;
        DIR *dir;

        (void) snprintf(ret, n, "current_tracer");
        if (is_on(tracefs_fd, ret))
                return true;
        fd = openat(tracefs_fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        dir = fd < 0 ? NULL : fdopendir(fd);
        if (!dir)
                return false;
        while (!found && (d = readdir(dir))) {
                if (d->d_name[0] == '.')
                        continue;
                (void) snprintf(ret, n, "instances/%s/current_tracer", d->d_name);
                found = is_on(tracefs_fd, ret);
        }
        (void) closedir(dir);
        return found;
}

int main(int argc, char **argv) {
        const char *path = argc > 1 ? argv[1] : "/sys/kernel/tracing";
        unsigned long n_looks = 0, n_on = 0, n_slow = 0, n_bad = 0;
        _cleanup_close_ int tracefs_fd = -EBADF;
        char user[512];

        (void) signal(SIGTERM, on_signal);
        (void) signal(SIGINT, on_signal);
        tracefs_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (tracefs_fd < 0) {
                perror(path);
                return 2;
        }

        (void) prctl(PR_SET_TIMERSLACK, 1UL);
        for (; !ended; pause_a_moment()) {
                unsigned long long start = now_ns();

                n_looks++;
                if (!find_user(tracefs_fd, user, sizeof(user)))
                        continue;
                n_on++;
                if (!begins_with(tracefs_fd, "set_graph_function", "#"))
                        continue;
                if (!is_on(tracefs_fd, user))
                        continue;
                if (now_ns() - start > LOOK_MAX_NS) {
                        n_slow++;
                        continue;
                }
                if (n_bad++ == 0)
                        fprintf(stderr, "set_graph_function is empty while %s is function_graph\n",
                                user);
        }
        printf("looks %lu on %lu slow %lu bad %lu\n", n_looks, n_on, n_slow, n_bad);
        return n_bad > 0 ? 1 : 0;
}
