/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waits: where tasks waited, who woke them, and how long that took, added up
 *
 * A row is a function that waited and who woke it in which function.  The function is the innermost
 * that was recorded, without those that only are the scheduler's own ("schedule").  Or a row is a task that was in no
 * call, and did not want to leave the CPU.  Memory is in proportion to the rows.
 */

#include "analyze/pairing.h"
#include "analyze/quantiles.h"

typedef struct Waits Waits;

typedef struct WaitsRow {
        const Function *function; /* is_between: of the outermost call before */
        Waker waker;      /* its pid only if all were of the same; else -1.  is_forced: pid and comm are of who had
                           * the CPU longest, as a SchedHolder's */
        bool is_woken;    /* nobody was seen to: false */
        bool is_forced;   /* it did not want to leave the CPU: preempted, or throttled */
        bool is_between;  /* in no call, and is_forced */
        int32_t pid;      /* is_between: whose; -1: of several */
        char comm[16];    /* likewise */
        uint64_t idle_ns; /* is_forced: while nobody had the CPU that it left */
        Quantiles away;    /* from leaving the CPU to coming back */
        Quantiles latency; /* of that, from being woken on */
} WaitsRow;

/* What @pairing tells of waiting goes here; @only_between: between calls alone.  0 or -ENOMEM. */
int waits_new(Waits **ret, Pairing *pairing, bool only_between);
/* Those that took most first; valid until it is freed. */
const WaitsRow *const *waits_rows(Waits *w, size_t *ret_n);
/* The row between calls with most time that is of the task @pid, unless that is -1, and behind calls of a function named
 * @label, unless that is NULL; NULL: there is none. */
const WaitsRow *waits_between(Waits *w, int64_t pid, const char *label);
/* Of one that is_forced, "rt-78 had the CPU longest"; nothing, if that is not known. */
void waits_describe_holder(Buf *out, const WaitsRow *row, const char *separator);
/* That row: "victim-77 was off the CPU 12 times between its calls, ...", without a full stop. */
void waits_describe(Buf *out, const WaitsRow *row);
/* Whether a function is only the scheduler's own. */
bool waits_is_scheduler(const Function *function);
/* The function of a row that @wait counts in. */
const Function *waits_function(const CallWait *wait);
Waits *waits_free(Waits *w);
DEFINE_CLEANUP(Waits *, waits_free);
