/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Pairing: steps become calls with a caller, a beginning and an end
 *
 * Whoever adds calls up is a sink: it is told of each call when it begins, in a frame that stays
 * with the call, and again when it has ended.  Several sinks may hear of the same calls.
 *
 * Times of a call, in nanoseconds:
 *
 *      duration    what it took
 *      self        what is left of that without the calls directly below it
 *
 * so that the self times of all calls are the durations of the outermost ones, also with losses:
 *
 *      begun, and no end seen     ended with the last that its task was seen to do, or when a step
 *                                 proved it
 *      an end without beginning   took what its record says, without those calls below it that were
 *                                 seen, which had to be counted on their own
 *      ends without any beginning (a task of which nothing else was seen, as where only slow calls
 *                                 were recorded)  took what their records say, and the ends before
 *                                 them at greater depths are of the calls below them
 *      an end that is shorter than what its call called    was another call's: took as long as that
 *
 * All but the third, and that unless told otherwise, are marked as cut.  Memory is in proportion to
 * functions and tasks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/role.h"
#include "analyze/sched.h"
#include "base/cleanup.h"
#include "calls/stacks.h"

#define PAIRING_SINKS_MAX 4
/* Self times, and times off the CPU, add up to no more, so that no sum of them runs over: 146 years.  What a text says beyond
 * is cut. */
#define PAIRING_NS_MAX (UINT64_C(1) << 62)

typedef struct Pairing Pairing;

/* A call that has ended. */
typedef struct Call {
        const Frame *frame; /* its function, depth, what was below */
        Frame *caller;      /* the nearest that was seen; NULL: none */
        Stack *stack;       /* as it is now: its callers, and what began later */
        const Step *step;   /* that ended it, or proved that it had; NULL: the end of all */
        uint64_t duration_ns, self_ns;
        uint64_t span_ns;    /* from its beginning to its end, whatever was counted elsewhere */
        uint64_t blocked_ns; /* of its own time: off the CPU, or, without events that tell, of
                              * functions that wait */
        uint64_t irq_ns;     /* of interrupts, itself included */
        uint64_t softirq_ns, wake_ns, aside_ns; /* likewise (calls/stacks.h) */
        uint64_t adopted_ns; /* of the duration: calls that ended before without a caller */
        bool has_end;        /* @step is its own end */
        bool is_late;        /* which is all that was seen of it */
        bool is_cut;         /* the durations are lower bounds */
        bool is_adopter;     /* ends without beginnings: calls below it ended without a caller */
        bool is_root;        /* nobody was seen who called it */
} Call;

/* Of a sink; each returns 0 or -errno, which ends all.  @frame is not on @stack yet; @caller: NULL
 * for none. */
typedef int (*PairingBegin)(void *userdata, const Stack *stack, const Frame *caller, Frame *frame,
                            const Step *step);
typedef int (*PairingEnd)(void *userdata, const Call *call);

/* A task that is in a call has come back to the CPU. */
typedef struct CallWait {
        const SchedWait *wait;
        const Stack *stack;
        const Frame *frame; /* in which it left, the innermost; of stack->frames */
        uint32_t cpu;       /* to which it came back */
} CallWait;
typedef int (*PairingWait)(void *userdata, const CallWait *wait);

int pairing_new(Pairing **ret);
/* One only. */
void pairing_set_wait(Pairing *p, PairingWait wait, void *userdata);
/* Whether there were sched_switch events. */
bool pairing_has_sched(const Pairing *p);
/* @begin may be NULL.  At most PAIRING_SINKS_MAX, before the first step; only one may use a frame's
 * `user` and `is_nested`, and only one its `data` and a stack's `number`. */
void pairing_add_sink(Pairing *p, PairingBegin begin, PairingEnd end, void *userdata);
/* Ends are all that was recorded: they are not marked as cut. */
void pairing_set_only_ends(Pairing *p);
/* 0 or -errno. */
int pairing_step(Pairing *p, const Step *step);
/* Ends what is open.  No more steps after this. */
int pairing_finish(Pairing *p);
/* Durations of outermost calls added up: 100 %. */
uint64_t pairing_total_ns(const Pairing *p);
uint64_t pairing_n_calls(const Pairing *p);
uint64_t pairing_n_cut(const Pairing *p);
Pairing *pairing_free(Pairing *p);
DEFINE_CLEANUP(Pairing *, pairing_free);
