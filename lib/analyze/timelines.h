/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

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
 * the tasks.  Times of calls are as pairing_place() has them.
 *
 *      timelines_new()       a sink of a pairing
 *      timelines_step()      each step, before pairing_step() has it
 *      timelines_finish()    after pairing_finish()
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/pairing.h"
#include "base/cleanup.h"

/* Calls that are kept. */
#define TIMELINES_CALLS_MAX ((size_t) 1 << 24)

/* A call that is looked at, as an earlier reading of the same steps found it. */
typedef struct Window {
        int64_t task;              /* step_task_key() */
        uint64_t begin_ns, end_ns; /* begin_ns: the start_ns of its frame */
        uint32_t cpu;              /* on which it ended */
        const char *label;         /* of its function; borrowed */
        const Function *function;  /* after timelines_finish(); NULL: it was not met */
} Window;

/* A time off the CPU. */
typedef struct Away {
        SchedWait wait;
        const Function *function; /* in which it left (waits_function()); NULL: none was recorded */
        uint32_t left_cpu, back_cpu;
        uint32_t waker_cpu;
        int32_t had; /* who had back_cpu longest while it waited for it; 0: nobody; -1: not known */
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
/* 0 or -ENOMEM. */
int timelines_step(Timelines *t, const Step *step);
/* 0, -ENOMEM, or: there were more than TIMELINES_CALLS_MAX calls. */
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
