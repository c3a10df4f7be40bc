/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * markers: numbered marks in a trace
 *
 *      markers FILE MICROSECONDS
 *
 * Writes "marker 0", "marker 1", ... to FILE, a trace_marker, pausing in between, until it gets
 * SIGTERM; then says how many there are.  It moves from CPU to CPU.
 */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>

#include "base/cleanup.h"

static volatile sig_atomic_t is_told;

static void on_signal(int signal) {
        is_told = signal;
}

static void move_to(unsigned i, int n_cpus) {
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(i % (unsigned) n_cpus, &one);
        (void) sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char *argv[]) {
        int fd = argc == 3 ? open(argv[1], O_WRONLY | O_CLOEXEC) : -EBADF;
        int n_cpus = (int) sysconf(_SC_NPROCESSORS_ONLN);
        unsigned i = 0;

        if (fd < 0) {
                perror(argc == 3 ? argv[1] : "usage: markers FILE MICROSECONDS");
                return 1;
        }
        (void) signal(SIGTERM, on_signal);
        for (; !is_told; i++) {
                char text[32];
                int n = snprintf(text, sizeof(text), "marker %u\n", i);

                if (i % 64 == 0)
                        move_to(i / 64, n_cpus);
                if (write(fd, text, (size_t) n) != n) {
                        perror(argv[1]);
                        return 1;
                }
                (void) usleep((useconds_t) atoi(argv[2]));
        }
        printf("%u\n", i);
        return 0;
}
