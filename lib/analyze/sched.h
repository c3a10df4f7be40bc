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

#include "base/buf.h"
#include "calls/step.h"

/* Who woke a task. */
typedef struct Waker {
        int32_t pid;
        char comm[16];
        const Function *function; /* that it was in; NULL: none that was recorded */
        const Function *released; /* in which it let go of a lock; NULL: none that was recorded */
        const Function *receiver; /* in_softirq, and nothing that the task called was recorded: by which
                                   * of its calls the woken one received; NULL: by none */
        const char *what; /* "timer", "disk I/O", "packet", "packet or timeout", as either's functions
                           * tell of what a task did not do; NULL: they do not */
        bool is_irq;      /* an interrupt did, while the task ran */
        bool in_softirq;  /* a softirq did, while the task ran: an interrupt's, or the task's own */
} Waker;

typedef struct SchedHolder {
        int32_t pid; /* 0: nobody, it was idle; -1: not known */
        char comm[16];
} SchedHolder;

/* A time off the CPU that has ended. */
typedef struct SchedWait {
        uint64_t left_ns, woken_ns, back_ns; /* woken_ns 0: nobody was seen to wake it */
        char state;
        bool is_sure; /* nothing was lost meanwhile */
        Waker waker;
        SchedHolder had;  /* of 'R': who had the CPU longest meanwhile that it left */
        uint64_t idle_ns; /* and how long nobody had it */
} SchedWait;

SchedEvent sched_parse(const Step *step);
/* Goes behind "woken ": "by client-347 in udp_queue_rcv_one_skb", "by an interrupt (timer)", "in a softirq while
 * client-347 ran (packet)". */
void waker_describe(Buf *out, const Waker *w);

#define SCHED_CPUS_MAX 8192      /* of more nobody is known */
#define SCHED_STRETCHES_MAX 4096 /* of a CPU; of more the older ones are not known */

/* Who has each CPU, and had it: stretches that are longer than all that followed them there. */
typedef struct SchedCpus {
        struct SchedCpu {
                SchedHolder now;
                uint64_t since_ns, idle_ns; /* idle_ns: all before since_ns */
                uint64_t known_ns;          /* nothing was lost, or forgotten, since */
                struct SchedStretch {
                        uint64_t end_ns, duration_ns;
                        SchedHolder by;
                } * stretches;
                size_t n;
        } * items;
        size_t n;
} SchedCpus;

/* @event: a SCHED_SWITCH there.  0 or -ENOMEM. */
int sched_cpus_switch(SchedCpus *c, const SchedEvent *event, uint32_t cpu, uint64_t timestamp_ns);
/* Events were lost, on any of them. */
void sched_cpus_lose(SchedCpus *c, uint64_t timestamp_ns);
/* Who had @cpu for the longest stretch from @from_ns to @to_ns, its last switch or later. */
SchedHolder sched_cpus_longest(const SchedCpus *c, uint32_t cpu, uint64_t from_ns, uint64_t to_ns);
void sched_cpus_done(SchedCpus *c);

/* Who woke whom, as far as it has been seen, for whoever is told of these events later, of all or of some, in their
 * order. */
typedef struct SchedSeen {
        struct SchedWaking {
                uint64_t timestamp_ns;
                uint32_t cpu;
                Waker waker;
        } * items;
        size_t n, n_room, begin; /* what is before @begin has been asked for */
} SchedSeen;

/* 0 or -ENOMEM. */
int sched_seen_add(SchedSeen *s, const Step *step, const Waker *waker);
bool sched_seen_find(SchedSeen *s, const Step *step, Waker *ret);

/* One of zeroes knows nobody. */
typedef struct Sched {
        struct SchedTask {
                SchedWait wait;
                uint64_t n_lost, idle_ns; /* of its CPU, when it left */
                uint32_t cpu;
                bool is_away;
        } * tasks;
        size_t n;
        Hash by_pid; /* index + 1 */
        SchedCpus cpus;
        uint64_t n_lost;
} Sched;

/* A SCHED_SWITCH: the task of @event's left_pid leaves the CPU.  0 or -ENOMEM. */
int sched_leave(Sched *s, const SchedEvent *event, uint32_t cpu, uint64_t timestamp_ns);
/* Events were lost. */
void sched_lose(Sched *s, uint64_t timestamp_ns);
void sched_wake(Sched *s, const SchedEvent *event, uint64_t timestamp_ns, const Waker *waker);
/* @pid comes to the CPU: whether it was seen to leave it. */
bool sched_come_back(Sched *s, int32_t pid, uint64_t timestamp_ns, SchedWait *ret);
void sched_done(Sched *s);
