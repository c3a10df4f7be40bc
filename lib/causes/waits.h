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

/*
 * Idle: outermost calls that waited for their caller's input most of their time (Call)
 *
 * How long nothing came tells nothing of a call.  Whoever chooses slow ones leaves these out, unless somebody named the root,
 * or each root has some: that is all there is then.
 */
typedef struct Idle {
        bool is_wanted; /* to be set before the first call: nobody named a root */
        struct IdleRoot {
                const Function *function;
                uint64_t n, longest_ns; /* of its idle calls */
        } * roots;                      /* in the order in which they were met */
        size_t n_roots, n_with;         /* n_with: those that have idle calls */
        Hash by_function;               /* indices plus 1 */
} Idle;

static inline bool idle_is_left_out(const Idle *idle) {
        return idle->n_with > 0 && idle->n_with < idle->n_roots;
}

/* Of each outermost call, whose function is, or stands for, @root: whether it is idle, as far as that is_wanted; or
 * -ENOMEM.  A root of which no call is whole is none that others are left out for. */
int idle_note(Idle *idle, const Function *root, const Call *call);
#define IDLE_NAMED 4 /* roots; of more it is said how many they are */
/* "7 calls of udp_recvmsg (up to 43.0 ms), 2 of do_epoll_wait (up to 10.1 ms) waited for input most of their time and
 * are left out: --root=NAME shows them."; nothing, if none is left out. */
void idle_describe(Buf *out, const Idle *idle);
void idle_done(Idle *idle);

/* True if a function is only the scheduler's own. */
bool waits_is_scheduler(const Function *function);
/* Whose function the row is of that @wait counts in. */
const Frame *waits_frame(const CallWait *wait);
Waits *waits_free(Waits *w);
DEFINE_CLEANUP(Waits *, waits_free);
