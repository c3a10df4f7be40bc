/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The child writes its times into memory that it shares with the daemon, and stays on one CPU with
 * its own children, so that all that it does is in one buffer and in order.  Where it waits it spins: an
 * idle CPU calls what a busy one does not.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/io.h"
#include "base/now.h"
#include "base/poll.h"
#include "base/unit.h"
#include "daemon/lean/workload.h"

#define ROUNDS 5
#define PAGES 16
#define BLOCK_BYTES 512
#define FILE_BYTES 4096
/* Makes sure that one of two has had more than its share, which is forgiven beyond some slices, of
 * 2.8 ms at most (linux 7.2 kernel/sched/fair.c, entity_lag()). */
#define FAVOUR_ROUNDS 40
#define FAVOUR_NS (200 * NSEC_PER_USEC)
#define SETTLE_NS (WORKLOAD_SETTLE_MS * NSEC_PER_MSEC)
#define TURNS 200000 /* some 0.1 ms */

struct WorkloadChild {
        Workload *shared;
        pid_t pid;
        int go_fd;
        uint32_t cpu;
};

/* What a task works with. */
typedef struct Bench {
        Workload *shared;
        int zero_fd, null_fd, file_fd;
        int there[2], back[2]; /* pipes to the partner */
        pid_t partner;
        bool is_counted;
} Bench;

static void note_pid(Workload *t, pid_t pid) {
        if (t->n_pids < WORKLOAD_MAX_PIDS)
                t->pids[t->n_pids++] = (uint32_t) pid;
}

static int do_call(Bench *b) {
        return syscall(SYS_getppid) < 0 ? ORIGIN(-errno) : 0;
}

static int do_read(Bench *b) {
        char data[BLOCK_BYTES];

        if (read(b->zero_fd, data, sizeof(data)) != sizeof(data) ||
            write(b->null_fd, data, sizeof(data)) != sizeof(data))
                return ORIGIN(-EIO);
        return 0;
}

static int do_file(Bench *b) {
        char data[FILE_BYTES];

        return pread(b->file_fd, data, sizeof(data), 0) == sizeof(data) ? 0 : -EIO;
}

static void spin(uint64_t ns) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);

        while (now_ns(CLOCK_MONOTONIC) - since_ns < ns)
                ;
}

/* Without the kernel, which has to be asked for the time where the clock is not a CPU's own. */
static void let_pass(uint64_t ns) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);

        do
                for (volatile uint32_t i = 0; i < TURNS; i++)
                        ;
        while (now_ns(CLOCK_MONOTONIC) - since_ns < ns);
}

/* There and back; the partner may take its time. */
static int send_word(Bench *b, bool takes_time) {
        char c = takes_time;

        return write(b->there[1], &c, 1) == 1 && read(b->back[0], &c, 1) == 1 ? 0 : -EIO;
}

static int do_pipe(Bench *b) {
        return send_word(b, false);
}

static int favour_us(Bench *b) {
        spin(FAVOUR_NS);
        return send_word(b, false);
}

static int favour_partner(Bench *b) {
        return send_word(b, true);
}

static int do_open(Bench *b) {
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        return fd < 0 || close(fd) < 0 ? ORIGIN(-errno) : 0;
}

static int do_fault(Bench *b) {
        size_t page = (size_t) sysconf(_SC_PAGESIZE);
        char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                       0);

        if (p == MAP_FAILED)
                return ORIGIN(-errno);
        for (size_t i = 0; i < PAGES; i++)
                *(volatile char *) (p + i * page) = 1;
        return munmap(p, PAGES * page) < 0 ? ORIGIN(-errno) : 0;
}

/* What fork() or vfork() said, in the parent. */
static int see_off(Bench *b, pid_t pid) {
        if (pid < 0 || waitpid(pid, NULL, 0) < 0)
                return ORIGIN(-errno);
        note_pid(b->shared, pid);
        return 0;
}

static int do_fork(Bench *b) {
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        return see_off(b, pid);
}

static int do_spawn(Bench *b) {
        pid_t pid = vfork();

        if (pid == 0)
                _exit(0);
        return see_off(b, pid);
}

static int do_spin(Bench *b) {
        if (!b->is_counted)
                return ORIGIN(-EOPNOTSUPP);
        let_pass(SETTLE_NS / ROUNDS);
        return 0;
}

static const struct {
        const char *name;
        int (*once)(Bench *b);
        uint32_t n;               /* in a round */
        int (*prepare)(Bench *b); /* before the first, FAVOUR_ROUNDS times */
        bool leaves_work;         /* that is done later */
} tasks[_WORKLOAD_N] = {
        [WORKLOAD_CALL] = { "call", do_call, 100 },
        [WORKLOAD_READ] = { "read", do_read, 20 },
        [WORKLOAD_FILE] = { "file", do_file, 20 },
        [WORKLOAD_PIPE] = { "pipe", do_pipe, 20, favour_us },
        [WORKLOAD_PIPE_BACK] = { "pipe-back", do_pipe, 20, favour_partner },
        [WORKLOAD_OPEN] = { "open", do_open, 20, .leaves_work = true },
        [WORKLOAD_FAULT] = { "fault", do_fault, 10 },
        [WORKLOAD_FORK] = { "fork", do_fork, 3, .leaves_work = true },
        [WORKLOAD_SPAWN] = { "spawn", do_spawn, 3, .leaves_work = true },
        [WORKLOAD_SPIN] = { "spin", do_spin, 1 },
};

const char *workload_task_name(WorkloadTask t) {
        return tasks[t].name;
}

/* The other end of the pipes. */
static _noreturn_ void be_partner(const Bench *b) {
        char c;

        while (read(b->there[0], &c, 1) == 1) {
                if (c)
                        spin(FAVOUR_NS);
                if (write(b->back[1], &c, 1) != 1)
                        break;
        }
        _exit(0);
}

static int bench_init(Bench *b) {
        b->zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        b->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        b->file_fd = memfd_create("file", MFD_CLOEXEC);
        if (b->zero_fd < 0 || b->null_fd < 0 || b->file_fd < 0 ||
            ftruncate(b->file_fd, FILE_BYTES) < 0)
                return ORIGIN(-errno);
        if (pipe2(b->there, O_CLOEXEC) < 0 || pipe2(b->back, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        b->partner = fork();
        if (b->partner < 0)
                return ORIGIN(-errno);
        if (b->partner == 0) {
                (void) close(b->there[1]);
                (void) close(b->back[0]);
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                be_partner(b);
        }
        return 0;
}

/* The first time is not counted: caches and lazily made things. */
static void measure(Bench *b, WorkloadTask t, WorkloadTime *ret) {
        WorkloadTime time = { .once_ns = UINT64_MAX };

        for (unsigned i = 0; tasks[t].prepare && i < FAVOUR_ROUNDS; i++)
                if (tasks[t].prepare(b) < 0)
                        return;
        if (tasks[t].once(b) < 0)
                return;
        time.from_ns = now_ns(CLOCK_MONOTONIC);
        for (unsigned round = 0; round < ROUNDS; round++) {
                uint64_t before = now_ns(CLOCK_MONOTONIC);

                for (uint32_t i = 0; i < tasks[t].n; i++)
                        if (tasks[t].once(b) < 0)
                                return;
                time.once_ns = MIN(time.once_ns, (now_ns(CLOCK_MONOTONIC) - before) / tasks[t].n);
        }
        if (b->is_counted && tasks[t].leaves_work)
                let_pass(SETTLE_NS);
        time.to_ns = now_ns(CLOCK_MONOTONIC);
        time.n = ROUNDS * tasks[t].n;
        *ret = time;
}

/* The kernel's threads that may do what was left to do: those of this CPU's soft interrupts and of RCU.
 * They are as old as the CPUs are. */
static void note_helpers(Workload *t, uint32_t cpu) {
        long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
        char names[4][32] = { "rcu_preempt\n", "rcu_sched\n" };

        (void) snprintf(names[2], sizeof(names[2]), "ksoftirqd/%" PRIu32 "\n", cpu);
        (void) snprintf(names[3], sizeof(names[3]), "rcuc/%" PRIu32 "\n", cpu);
        for (pid_t pid = 3; pid < 64 + 16 * MAX(n_cpus, 1L); pid++) {
                _cleanup_free_ char *comm = NULL;
                char path[32];

                (void) snprintf(path, sizeof(path), "/proc/%i/comm", (int) pid);
                if (file_read(AT_FDCWD, path, &comm, NULL, 64) < 0)
                        continue;
                for (size_t i = 0; i < ELEMENTSOF(names); i++)
                        if (strcmp(comm, names[i]) == 0)
                                note_pid(t, pid);
        }
}

static _noreturn_ void be_child(Workload *shared, int go_fd, uint32_t cpu) {
        Bench b = { .shared = shared };
        cpu_set_t one;
        char c;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) dup3(go_fd, 3, 0);
        closefrom(4);
        CPU_ZERO(&one);
        if (cpu < CPU_SETSIZE)
                CPU_SET(cpu, &one);
        (void) sched_setaffinity(0, sizeof(one), &one);
        if (read(3, &c, 1) != 1 || bench_init(&b) < 0)
                _exit(1);
        b.is_counted = c;
        if (b.is_counted)
                note_helpers(shared, cpu);
        note_pid(shared, getpid());
        note_pid(shared, b.partner);
        for (WorkloadTask t = 0; t < _WORKLOAD_N; t++)
                measure(&b, t, &shared->tasks[t]);
        (void) close(b.there[1]);
        (void) waitpid(b.partner, NULL, 0);
        _exit(0);
}

int workload_start(WorkloadChild **ret) {
        _cleanup_(workload_freep) WorkloadChild *c = calloc(1, sizeof(*c));
        _cleanup_close_ int go_fd = -EBADF;
        int pipe_fds[2], cpu;

        if (!c)
                return -ENOMEM;
        c->go_fd = -EBADF;
        c->shared = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (c->shared == MAP_FAILED) {
                c->shared = NULL;
                return ORIGIN(-errno);
        }
        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        go_fd = pipe_fds[0];
        c->go_fd = pipe_fds[1];
        cpu = sched_getcpu();
        c->cpu = cpu < 0 ? 0 : (uint32_t) cpu;
        c->pid = fork();
        if (c->pid < 0)
                return ORIGIN(-errno);
        if (c->pid == 0)
                be_child(c->shared, go_fd, c->cpu);
        *ret = TAKE_PTR(c);
        return 0;
}

uint32_t workload_cpu(const WorkloadChild *c) {
        return c->cpu;
}

int workload_run(WorkloadChild *c, bool is_counted, Workload *ret) {
        uint64_t end_ns = now_ns(CLOCK_MONOTONIC) + WORKLOAD_MAX_MS * NSEC_PER_MSEC;
        struct pollfd p;
        char go = is_counted;
        int r;

        if (write(c->go_fd, &go, 1) != 1)
                return ORIGIN(-EIO);
        r = poll_child(c->pid, &p, 1, end_ns);
        if (r < 0)
                return r == -ETIMEDOUT ? -ETIME : r;
        (void) waitpid(c->pid, NULL, 0);
        c->pid = 0;
        *ret = *c->shared;
        ret->cpu = c->cpu;
        return ret->tasks[WORKLOAD_CALL].n > 0 ? 0 : -EIO;
}

int workload_time(Workload *ret) {
        _cleanup_(workload_freep) WorkloadChild *child = NULL;
        int r = workload_start(&child);

        return r < 0 ? r : workload_run(child, false, ret);
}

WorkloadChild *workload_free(WorkloadChild *c) {
        if (!c)
                return NULL;
        if (c->pid > 0) {
                (void) kill(c->pid, SIGKILL);
                (void) waitpid(c->pid, NULL, 0);
        }
        (void) safe_close(c->go_fd);
        if (c->shared)
                (void) munmap(c->shared, sizeof(*c->shared));
        return mfree(c);
}
