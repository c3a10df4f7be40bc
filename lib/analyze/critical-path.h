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
 * An interrupt, or a timer, that wakes ends this: the wait is for the interrupt; also a softirq, unless the
 * calls around it tell that it is the task's own.  So does nobody that was seen to.  A task that was preempted waited for a CPU.
 *
 * Segments tile the call: each begins where the one before it ends, the first one with the call and the
 * last one ends with it, to the nanosecond.  Time only goes backwards, so that there are no circles even
 * where events are missing or contradict each other: what they cannot explain is PATH_UNKNOWN.
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/timelines.h"
#include "base/hash.h"

#define PATH_DEPTH_MAX 64 /* deeper is PATH_UNKNOWN */
#define PATH_CPU_NONE UINT32_MAX

typedef enum PathKind {
        PATH_RAN,
        PATH_QUEUED,    /* waited for a CPU */
        PATH_INTERRUPT, /* waited until an interrupt or a timer woke it */
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
        int32_t had; /* QUEUED: who had that CPU longest; 0: nobody, it was idle; -1: not known */
        char had_comm[16];
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
