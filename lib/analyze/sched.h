/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sched: when tasks left the CPU, who woke them, and when they came back
 *
 * From what the kernel's events print (linux 6.12 include/trace/events/sched.h; 3.10 to 7.2 are the
 * same in this):
 *
 *      sched_switch: prev_comm=a prev_pid=160 prev_prio=120 prev_state=S ==> next_comm=b next_pid=7 ...
 *      sched_waking: comm=a pid=160 prio=120 target_cpu=001
 *      sched_wakeup: the same; by whom is less sure, for another CPU may do it for the waker
 *      sched_wakeup_new: the same of a task's first time
 *
 * A name may hold anything, also " pid=": what counts is the last one.
 *
 * Of those that wake, whichever came first since the task left the CPU counts.  The idle tasks
 * are left out.  Memory is in proportion to the tasks met.
 */

#include "calls/step.h"

typedef enum SchedKind {
        SCHED_NONE, /* it is another event */
        SCHED_SWITCH,
        SCHED_WAKING,
        SCHED_WAKING_NEW,
} SchedKind;

typedef struct SchedEvent {
        SchedKind kind;
        int32_t pid;      /* WAKING, WAKING_NEW: who is woken; SWITCH: who comes to the CPU */
        char comm[16];    /* the name of that; cut; empty: not said */
        int32_t left_pid; /* SWITCH */
        char left_state;  /* SWITCH: 'R' did not want to leave, 'S', 'D' ... wait */
} SchedEvent;

/* Who woke a task. */
typedef struct Waker {
        int32_t pid;
        char comm[16];
        const Function *function; /* that it was in; NULL: none that was recorded */
        const Function *released; /* in which it let go of a lock; NULL: none that was recorded */
        bool is_irq;              /* an interrupt did, while the task ran */
        bool is_unsure; /* a softirq did, which may have been an interrupt's as well as the task's */
} Waker;

/* A time off the CPU that has ended. */
typedef struct SchedWait {
        uint64_t left_ns, woken_ns, back_ns; /* woken_ns 0: nobody was seen to wake it */
        char state;
        Waker waker;
} SchedWait;

SchedEvent sched_parse(const Step *step);

/* One of zeroes knows nobody. */
typedef struct Sched {
        struct SchedTask {
                SchedWait wait;
                bool is_away;
        } * tasks;
        size_t n;
        Hash by_pid; /* index + 1 */
} Sched;

/* The task of @event's left_pid leaves the CPU.  0 or -ENOMEM. */
int sched_leave(Sched *s, const SchedEvent *event, uint64_t timestamp_ns);
void sched_wake(Sched *s, const SchedEvent *event, uint64_t timestamp_ns, const Waker *waker);
/* @pid comes to the CPU: whether it was seen to leave it. */
bool sched_come_back(Sched *s, int32_t pid, uint64_t timestamp_ns, SchedWait *ret);
void sched_done(Sched *s);
