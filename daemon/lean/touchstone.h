/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Touchstone: a little ordinary work, to see what hooked functions cost others
 *
 * A child process does what every system does all the time: small reads and writes, words through a
 * pipe between two processes, opening files, page faults, forking.  How long each task
 * takes is measured; how often it calls each hooked function is counted meanwhile (daemon/lean/weigh.h).
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

typedef enum TouchstoneTask {
        TOUCHSTONE_CALL, /* the cheapest system call; its time stands for that of a hook */
        TOUCHSTONE_READ,
        TOUCHSTONE_FILE,
        TOUCHSTONE_PIPE, /* between two of which this one has had more than its share of time */
        TOUCHSTONE_PIPE_BACK, /* and the other one; schedulers call other functions then */
        TOUCHSTONE_OPEN,
        TOUCHSTONE_FAULT,
        TOUCHSTONE_FORK, /* of the daemon's child, with more memory than many have */
        TOUCHSTONE_SPAWN, /* with no memory of its own, as posix_spawn() does: next to nothing else */
        TOUCHSTONE_SPIN, /* not a system call; only where calls are counted */
        _TOUCHSTONE_N,
} TouchstoneTask;

/* One task: done n times (0: it was not done) between two moments of CLOCK_MONOTONIC. */
typedef struct TouchstoneTime {
        uint64_t from_ns, to_ns;
        uint64_t once_ns; /* the least that it took */
        uint32_t n;
} TouchstoneTime;

#define TOUCHSTONE_MAX_PIDS 64

typedef struct Touchstone {
        TouchstoneTime tasks[_TOUCHSTONE_N];
        uint32_t cpu;                       /* all of it ran there */
        uint32_t pids[TOUCHSTONE_MAX_PIDS]; /* n_pids tasks that did it, or what it left to do */
        uint32_t n_pids;
} Touchstone;

typedef struct TouchstoneChild TouchstoneChild;

const char *touchstone_task_name(TouchstoneTask t);
/* Forks a child that waits, on the CPU it will work on.  0 or -errno. */
int touchstone_start(TouchstoneChild **ret);
uint32_t touchstone_cpu(const TouchstoneChild *c);
/*
 * touchstone_run() - let it work and wait for its end, at most TOUCHSTONE_MAX_MS
 * @is_counted: its calls are counted; takes four times TOUCHSTONE_SETTLE_MS longer
 *
 * Return: 0, -ETIME, -errno.
 */
#define TOUCHSTONE_MAX_MS 5000
#define TOUCHSTONE_SETTLE_MS 40 /* two grace periods, at 250 ticks a second */
int touchstone_run(TouchstoneChild *c, bool is_counted, Touchstone *ret);
/* Ends it if need be. */
TouchstoneChild *touchstone_free(TouchstoneChild *c);
DEFINE_CLEANUP(TouchstoneChild *, touchstone_free);
