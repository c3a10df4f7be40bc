/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Workload: a little ordinary work, to see what hooked functions cost others
 *
 * A child process does what every system does all the time: small reads and writes, words through a
 * pipe between two processes, opening files, page faults, forking.  How long each task
 * takes is measured; how often it calls each hooked function is counted meanwhile (daemon/lean/hook-cost.h).
 * What the host happens to do at the moment would say little about what it will do next.
 *
 * Some work is done later and elsewhere: what RCU frees of a forked process is freed by an interrupt or by
 * ksoftirqd, after a grace period.  Where it is counted, a task lasts until that is done too, and the last
 * one does nothing, so that what comes with time alone, such as the ticks of the timer, is known.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

typedef enum WorkloadTask {
        WORKLOAD_CALL, /* the cheapest system call; its time stands for that of a hook */
        WORKLOAD_READ,
        WORKLOAD_FILE,
        WORKLOAD_PIPE,      /* between two of which this one has had more than its share of time */
        WORKLOAD_PIPE_BACK, /* and the other one; schedulers call other functions then */
        WORKLOAD_OPEN,
        WORKLOAD_FAULT,
        WORKLOAD_FORK,  /* of the daemon's child, with more memory than many have */
        WORKLOAD_SPAWN, /* with no memory of its own, as posix_spawn() does: next to nothing else */
        WORKLOAD_SPIN,  /* not a system call; only where calls are counted */
        _WORKLOAD_N,
} WorkloadTask;

/* One task: done n times (0: it was not done) between two moments of CLOCK_MONOTONIC. */
typedef struct WorkloadTime {
        uint64_t from_ns, to_ns;
        uint64_t once_ns; /* the least that it took */
        uint32_t n;
} WorkloadTime;

#define WORKLOAD_MAX_PIDS 64

typedef struct Workload {
        WorkloadTime tasks[_WORKLOAD_N];
        uint32_t cpu;                     /* all of it ran there */
        uint32_t pids[WORKLOAD_MAX_PIDS]; /* n_pids tasks that did it, or what it left to do */
        uint32_t n_pids;
} Workload;

typedef struct WorkloadChild WorkloadChild;

const char *workload_task_name(WorkloadTask t);
/* Forks a child that waits, on the CPU it will work on.  0 or -errno. */
int workload_start(WorkloadChild **ret);
uint32_t workload_cpu(const WorkloadChild *c);
/*
 * workload_run() - let it work and wait for its end, at most WORKLOAD_MAX_MS
 * @is_counted: its calls are counted; takes four times WORKLOAD_SETTLE_MS longer
 *
 * Return: 0, -ETIME, -errno.
 */
#define WORKLOAD_MAX_MS 5000
#define WORKLOAD_SETTLE_MS 40 /* two grace periods, at 250 ticks a second */
int workload_run(WorkloadChild *c, bool is_counted, Workload *ret);
/* How long it all takes, as things are.  0, -ETIME, -errno. */
int workload_time(Workload *ret);
/* Ends it if need be. */
WorkloadChild *workload_free(WorkloadChild *c);
DEFINE_CLEANUP(WorkloadChild *, workload_free);
