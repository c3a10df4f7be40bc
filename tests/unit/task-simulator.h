/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Task simulator: tasks that run, call, sleep, wake each other, are woken by interrupts and preempted
 *
 * On few CPUs, at random.  It has the events of that, and what each task did in each nanosecond, from which
 * sim_truth() finds critical paths one nanosecond at a time: slowly, and by nothing that the code under test
 * has.
 */

#include "causes/critical-path.h"

#define SIM_NS 4000
#define SIM_FIRST_NS 1000 /* when it begins */
#define SIM_TASKS 7
#define SIM_CPUS_MAX 4
#define SIM_FUNCTIONS 5
#define SIM_DEPTH 4

/* What a task does in one nanosecond. */
typedef struct SimMoment {
        PathKind kind; /* _PATH_KIND_N: it sleeps */
        const Function *function;
        uint32_t sleep; /* which */
} SimMoment;

typedef struct SimSleep {
        uint64_t left_ns, woken_ns; /* 0: it was not woken */
        int by;                     /* -1: an interrupt */
} SimSleep;

typedef struct SimTask {
        enum { RUNS, WAITS_FOR_CPU, SLEEPS } state;
        int cpu;
        struct SimOpen {
                const Function *function;
                uint64_t begin_ns;
        } open[SIM_DEPTH];
        int n_open;
        uint32_t sleep;
        bool was_seen; /* on a CPU */
} SimTask;

typedef struct SimEvent {
        enum { SIM_ENTER, SIM_LEAVE, SIM_SWITCH, SIM_WAKE } kind;
        int task, cpu, other; /* -1: nobody, or an interrupt */
        char state;
        const Function *function;
        int depth;
        uint64_t at_ns, since_ns;
} SimEvent;

typedef struct Sim {
        const Function *functions;
        unsigned seed;
        int n_cpus, n_tasks;
        SimTask tasks[SIM_TASKS];
        int running[SIM_CPUS_MAX]; /* -1: nobody */
        SimMoment moments[SIM_TASKS][SIM_NS];
        SimSleep sleeps[SIM_NS];
        uint32_t n_sleeps;
        SimEvent events[SIM_NS + SIM_TASKS * (SIM_DEPTH + 1)];
        size_t n_events, n_seen; /* n_seen: while it was written down who does what */
} Sim;

/* What the path is, one entry for each nanosecond. */
typedef struct SimTruth {
        PathKind kind;
        int task;
        uint32_t depth;
        const Function *function;
} SimTruth;

/* A random number below @n, of @s. */
int sim_draw(Sim *s, int n);
/* Fills @s with what @seed makes happen between calls of @functions, SIM_FUNCTIONS of them. */
void sim_run(Sim *s, unsigned seed, const Function *functions);
/* The path of @task from @begin to @end, in nanoseconds since SIM_FIRST_NS, into truth[begin] and so on. */
void sim_truth(const Sim *s, SimTruth *truth, int task, uint64_t end, uint64_t begin,
               uint32_t depth);
