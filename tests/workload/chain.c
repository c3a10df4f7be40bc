/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain: tasks that each sleep a known time before they wake the next one
 *
 *      chain MS...     a task for each, in a line of pipes: it reads a byte, sleeps so many milliseconds,
 *                      and writes a byte.  The first byte is written, and the last one read, by the parent,
 *                      in one read() that takes as long as all of them sleep.
 *      chain -l MIB    two tasks, on one CPU: the one writes so much to a file in one pwrite(), in
 *                      which the kernel holds the file's lock, the other one byte as soon as that has begun
 *
 * Tasks are named link-1, link-2 and so on (holder and waiter).  When all is done there is a line for each
 * task, "NAME PID NS": how long it slept by its own clock (how long its write took), and one for the parent,
 * "chain PID NS": how long its read took.
 */

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MAX 64

typedef struct Result {
        char name[16];
        int pid;
        uint64_t ns;
} Result;

static uint64_t now_ns(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000U + (uint64_t) t.tv_nsec;
}

static void fail(const char *what) {
        (void) fprintf(stderr, "chain: %s: %s\n", what, strerror(errno));
        exit(EXIT_FAILURE);
}

static void sleep_ns(uint64_t ns) {
        struct timespec t = { (time_t) (ns / 1000000000U), (long) (ns % 1000000000U) };

        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
                ;
}

static void begin(Result *r, const char *name, int i) {
        (void) snprintf(r->name, sizeof(r->name), i > 0 ? "%.8s-%d" : "%.8s", name, i);
        (void) prctl(PR_SET_NAME, r->name);
        r->pid = (int) getpid();
}

static void print(const Result *results, int n) {
        for (int i = 0; i < n; i++)
                printf("%s %d %" PRIu64 "\n", results[i].name, results[i].pid, results[i].ns);
}

static void pass_on(Result *r, int i, int from, int to, uint64_t ns) {
        uint64_t since_ns;
        char byte;

        begin(r, "link", i);
        if (read(from, &byte, 1) != 1)
                _exit(EXIT_FAILURE);
        since_ns = now_ns();
        sleep_ns(ns);
        r->ns = now_ns() - since_ns;
        _exit(write(to, &byte, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int wait_for_all(void) {
        int status, failed = 0;

        while (wait(&status) > 0)
                failed |= status != 0;
        return failed;
}

static int run_chain(Result *results, int n, char **ms) {
        int pipes[LINKS_MAX + 1][2];
        char byte = 0;

        for (int i = 0; i <= n; i++)
                if (pipe(pipes[i]) < 0)
                        fail("pipe");
        for (int i = 0; i < n; i++) {
                pid_t pid = fork();

                if (pid < 0)
                        fail("fork");
                if (pid == 0)
                        pass_on(&results[i], i + 1, pipes[i][0], pipes[i + 1][1],
                                strtoul(ms[i], NULL, 10) * 1000000U);
        }
        sleep_ns(200000000); /* until all of them wait */
        begin(&results[n], "chain", 0);
        if (write(pipes[0][1], &byte, 1) != 1)
                fail("write");
        results[n].ns = now_ns();
        if (read(pipes[n][0], &byte, 1) != 1)
                fail("read");
        results[n].ns = now_ns() - results[n].ns;
        return wait_for_all();
}

static void stay_on_one_cpu(void) {
        cpu_set_t all, one;

        if (sched_getaffinity(0, sizeof(all), &all) < 0)
                fail("sched_getaffinity");
        CPU_ZERO(&one);
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
                if (CPU_ISSET(cpu, &all))
                        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof(one), &one) < 0)
                fail("sched_setaffinity");
}

static void timed_write(Result *r, int fd, const char *data, size_t n) {
        uint64_t since_ns = now_ns();

        /* write() would have a lock of the descriptor, too. */
        if (pwrite(fd, data, n, 0) != (ssize_t) n)
                _exit(EXIT_FAILURE);
        r->ns = now_ns() - since_ns;
        _exit(EXIT_SUCCESS);
}

static int run_lock(Result *results, size_t n_bytes) {
        char path[] = "/dev/shm/chain.XXXXXX", *data = malloc(n_bytes);
        int fd = mkstemp(path);
        struct stat st;

        if (fd < 0 || !data)
                fail(path);
        (void) unlink(path);
        memset(data, 1, n_bytes);
        stay_on_one_cpu();
        for (int i = 0; i < 2; i++) {
                pid_t pid = fork();

                if (pid < 0)
                        fail("fork");
                if (pid > 0)
                        continue;
                begin(&results[i], i == 0 ? "holder" : "waiter", 0);
                if (i == 0)
                        timed_write(&results[0], fd, data, n_bytes);
                while (fstat(fd, &st) == 0 && st.st_size == 0)
                        sleep_ns(2000000);
                timed_write(&results[1], fd, data, 1);
        }
        begin(&results[2], "chain", 0);
        return wait_for_all();
}

int main(int argc, char **argv) {
        bool is_lock = argc == 3 && strcmp(argv[1], "-l") == 0;
        int n = is_lock ? 2 : argc - 1, failed;
        Result *results = mmap(NULL, sizeof(Result) * (LINKS_MAX + 1), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (n < 1 || n > LINKS_MAX) {
                (void) fputs("usage: chain MS... | -l MIB\n", stderr);
                return 2;
        }
        if (results == MAP_FAILED)
                fail("mmap");
        failed = is_lock ? run_lock(results, strtoul(argv[2], NULL, 10) << 20)
                         : run_chain(results, n, argv + 1);
        print(results, n + 1);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
