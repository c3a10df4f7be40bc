/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Work that has nothing to do with what is traced, and how long it takes: bystander pipe|fork N
 * prints nanoseconds.  On one CPU, so that a clock that counts instructions counts its own.
 */

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
}

static int ping_pong(unsigned long n) {
        int there[2], back[2];
        pid_t partner;
        char c = 0;

        if (pipe(there) < 0 || pipe(back) < 0)
                return -1;
        partner = fork();
        if (partner < 0)
                return -1;
        if (partner == 0) {
                close(there[1]);
                while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
                        ;
                _exit(0);
        }
        for (; n > 0; n--)
                if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
                        return -1;
        close(there[1]);
        return waitpid(partner, NULL, 0) < 0 ? -1 : 0;
}

static int fork_loop(unsigned long n) {
        for (; n > 0; n--) {
                pid_t pid = fork();

                if (pid == 0)
                        _exit(0);
                if (pid < 0 || waitpid(pid, NULL, 0) < 0)
                        return -1;
        }
        return 0;
}

int main(int argc, char *argv[]) {
        unsigned long n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
        cpu_set_t one;
        uint64_t since;
        int r;

        if (n == 0 || (strcmp(argv[1], "pipe") != 0 && strcmp(argv[1], "fork") != 0)) {
                fprintf(stderr, "usage: bystander pipe|fork N\n");
                return 2;
        }
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        if (sched_setaffinity(0, sizeof(one), &one) < 0)
                return 1;
        since = now_ns();
        r = strcmp(argv[1], "pipe") == 0 ? ping_pong(n) : fork_loop(n);
        if (r < 0) {
                perror(argv[1]);
                return 1;
        }
        printf("%" PRIu64 "\n", now_ns() - since);
        return 0;
}
