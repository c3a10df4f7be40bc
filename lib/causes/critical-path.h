/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Critical path: what a call was kept by, backwards across wake-ups
 *
 * From the end of a call back to its beginning.  While its task ran, the time is the task's.  When it was
 * off the CPU, from left to back, there is who woke it:
 *
 *      task       ran |left      woken      back| ran
 *                     |            |<- queued ->|
 *      waker            ... ran ... wakes            what this did before, back to "left",
 *                                                    in the same way: one level deeper
 *
 * An interrupt, or a timer, that wakes ends this; also a softirq, unless the calls around it tell that it is the task's
 * own.  A task that was preempted waited for a CPU.  Segments tile the call to the nanosecond.  Time only goes
 * backwards, so that there are no circles even where events are missing or contradict each other.
 */

#include "causes/waits.h"

/* A call that is looked at, as an earlier reading of the same steps found it. */
typedef struct Window {
        int64_t task;              /* step_task_key() */
        uint64_t begin_ns, end_ns; /* begin_ns: the start_ns of its frame */
        uint32_t cpu;              /* on which it ended */
        const char *label;         /* of its function; borrowed */
        const Function *function;  /* after timelines_finish(); NULL: it was not met */
} Window;

/* A sink that keeps of each root its slowest calls; one of zeroes has none. */
typedef struct RootCalls {
        size_t n_max; /* so many may be chosen */
        struct RootTotal *totals;
        size_t n;
        Hash by_key; /* indices plus 1 */
        Idle idle;   /* is_wanted is the caller's */
} RootCalls;

/* Of the root that took most time the slowest hundredth of the calls whose beginning and end were seen, without idle ones
 * if these are left out. */
typedef struct SlowestCalls {
        const Function *root; /* NULL: there are no calls */
        size_t n_all;         /* calls of it */
        Window *windows;      /* by their beginnings; the caller frees */
        size_t n;             /* one at least, unless none was seen as a whole */
        uint64_t number;      /* of the slowest one: its tree (Frame) */
} SlowestCalls;

/* Before the first step of @pairing, whose last one @c must outlive. */
void root_calls_init(RootCalls *c, Pairing *pairing, size_t n_max);
/* After the last call.  0 or -ENOMEM. */
int root_calls_choose(const RootCalls *c, SlowestCalls *ret);
void root_calls_done(RootCalls *c);

/*
 * Timelines: what each task did during some chosen calls, moment by moment
 *
 * Of a task two lists, both in the order of time: when it was off the CPU, and from when on which
 * function was the innermost of those that were recorded.
 *
 *      aways      |---left....woken..back---|            |--left..back--|
 *      changes    udp_recvmsg | schedule                 | NULL | vfs_read | ...
 *
 * Only what overlaps a Window is kept, so that memory is in proportion to what was recorded there, and to
 * the tasks.  Times of calls are those that a pairing `places`.
 */

/* Beginnings and ends of calls that are kept, of all tasks: 800 MB of memory. */
#define TIMELINES_CHANGES_MAX ((size_t) 1 << 25)

/* A time off the CPU. */
typedef struct Away {
        SchedWait wait;
        const Function *function; /* in which it left (waits_frame()); NULL: none was recorded */
        uint32_t left_cpu, back_cpu;
        uint32_t waker_cpu;
        SchedHolder had; /* who had back_cpu longest while it waited for it */
        bool is_lost; /* that it came back was not seen; back_ns is when that showed */
} Away;

typedef struct Change {
        uint64_t at_ns;
        const Function *function; /* NULL: none that was recorded */
        bool is_chosen;           /* the call of a Window, or below it */
} Change;

typedef struct Timeline {
        int64_t task;
        char comm[16]; /* empty: not known */
        Away *aways;
        size_t n_aways;
        Change *changes;
        size_t n_changes;
} Timeline;

typedef struct Timelines Timelines;

/* The only one that hears of @pairing's waits, and a sink of it that uses is_nested; it must outlive
 * its last step.  @windows: borrowed, at least one, sorted by begin_ns.  0 or -ENOMEM. */
int timelines_new(Timelines **ret, Pairing *pairing, Window *windows, size_t n);
/* Each step, before pairing_step() has it.  0 or -ENOMEM. */
int timelines_step(Timelines *t, const Step *step);
/* After pairing_finish().  0, -ENOMEM, or: there were more than TIMELINES_CHANGES_MAX. */
enum { TIMELINES_E_FULL = 1 };
int timelines_finish(Timelines *t);
/* NULL: nothing is known of it. */
const Timeline *timelines_get(const Timelines *t, int64_t task);
/* The last of its times off the CPU that began before @ns; NULL: there was none. */
const Away *timeline_away_before(const Timeline *t, uint64_t ns);
/* How many of its changes are before @ns. */
size_t timeline_changes_before(const Timeline *t, uint64_t ns);
Timelines *timelines_free(Timelines *t);
DEFINE_CLEANUP(Timelines *, timelines_free);

#define PATH_DEPTH_MAX 64 /* deeper is PATH_UNKNOWN */
#define PATH_CPU_NONE UINT32_MAX

typedef enum PathKind {
        PATH_RAN,
        PATH_QUEUED,    /* waited for a CPU */
        PATH_INTERRUPT, /* waited until an interrupt woke it */
        PATH_SOFTIRQ,   /* likewise a softirq, of which nothing tells whose it was */
        PATH_UNKNOWN,   /* waited for what was not recorded */
        _PATH_KIND_N,
} PathKind;

typedef struct PathSegment {
        uint64_t begin_ns, duration_ns; /* begin_ns: trace clock; of several 0 */
        uint64_t n;                     /* how many it was made of */
        PathKind kind;
        uint32_t depth; /* 0: the call's own task; 1: who woke it */
        int32_t pid;    /* 0: idle; -1: of several, or not known */
        char comm[16];  /* empty: not known */
        uint32_t cpu;   /* PATH_CPU_NONE: not known, or none */
        int32_t had; /* QUEUED: who had that CPU longest; SOFTIRQ: who had its CPU then; 0: nobody, it
                      * was idle; -1: not known */
        char had_comm[16];
        const char *what;         /* INTERRUPT, SOFTIRQ: the Waker's */
        const Function *receiver; /* SOFTIRQ: likewise */
        const Function *function; /* RAN: the innermost; else in which it waited; NULL: none was
                                   * recorded */
        const Function *awaited;  /* of a waker: in which whom it woke waited; NULL: likewise */
        const Function *released; /* and in which it let go of the lock that was waited for */
} PathSegment;

/* In the order of time; those that differ only by their time and follow each other are one. */
typedef struct CriticalPath {
        PathSegment *segments;
        size_t n;
} CriticalPath;

/* @window, of those that @t has.  critical_path_done() it also after a failure.  0 or -ENOMEM. */
int critical_path_find(CriticalPath *ret, const Timelines *t, const Window *window);
/* Paths added up: segments that differ only by time and CPU are one.  One of zeroes is empty. */
typedef struct PathSum {
        CriticalPath path; /* in no order */
        bool tells_pids;   /* so do those that differ by their tasks' numbers, unless this is set */
        Hash by_hash;      /* index + 1 */
} PathSum;

/* 0 or -ENOMEM. */
int path_sum_add(PathSum *sum, const CriticalPath *path);
/* What took longest first.  No more are added then. */
void path_sum_sort(PathSum *sum);
void path_sum_done(PathSum *sum);
#define _cleanup_path_sum_ _cleanup_(path_sum_done)
void critical_path_done(CriticalPath *p);
#define _cleanup_path_ _cleanup_(critical_path_done)
