/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Pairing: steps become calls with a caller, a beginning and an end
 *
 * Whoever adds calls up is a sink: it is told of each call when it begins, in a frame that stays
 * with the call, and again when it has ended; callers before what they call, one after the other, as
 * soon as all is known that may change them (analyze/held.h).  Several sinks may hear of the same
 * calls.
 *
 * Times of a call, in nanoseconds:
 *
 *      duration    what it took
 *      self        what of the outermost call's time is its own, and not of a call below it
 *
 * The self times of a tree are the duration of its outermost call.  The duration is the one that the
 * end tells, always, also of an end whose beginning was not seen, which has those calls below it that
 * came before.  Only what was not seen to end is cut: it counts with what was seen of it, until the last that
 * its task did before events were lost, or before a step proves that it is over, which it then was at most until.
 * What came behind the loss is not below it.
 *
 * Memory is in proportion to functions and tasks: of a tree that is very large what has ended is told
 * before the outermost call has.
 */

#include "analyze/role.h"
#include "analyze/sched.h"
#include "calls/stacks.h"
#include "meta/gap.h"

#define PAIRING_SINKS_MAX 8
#define PAIRING_CUTS_MAX 1048576 /* of more, another one says what it knows itself */
/* Durations, and times off the CPU, add up to no more, so that no sum of them runs over: 146 years.
 * What a text says beyond is cut. */
#define PAIRING_NS_MAX (UINT64_C(1) << 62)
#define PAIRING_END_NS ((uint64_t) INT64_MAX) /* 292 years; what is placed later is then */

/* A call that has ended. */
typedef struct Call {
        const Frame *frame; /* its function, depth, what was below */
        Frame *caller;      /* NULL: none that was seen */
        Stack *stack;       /* its callers */
        uint64_t duration_ns, self_ns;
        uint64_t most_ns;    /* the duration, or if is_cut its upper bound; UINT64_MAX: none */
        uint64_t blocked_ns; /* of its own time: off the CPU, or, without events that tell, of
                              * functions that wait */
        uint64_t irq_ns;     /* of interrupts, itself included */
        uint64_t softirq_ns, wake_ns, aside_ns; /* likewise (calls/stacks.h) */
        uint64_t recorded_ns; /* when its end was, trace clock; 0: not known, as of a leaf */
        uint64_t retval;
        TraceContext context; /* of an outermost one, when it began; if keeps_contexts */
        uint32_t cpu;         /* where it ended, if has_end */
        bool in_own_work;     /* ftraced changed meanwhile what is hooked */
        bool has_end;         /* it was seen */
        bool is_late;         /* its beginning was not */
        bool is_cut;          /* the durations are lower bounds */
        bool is_root;         /* nobody was seen who called it */
        bool is_idle; /* is_root: more than half of the duration it waited for its caller's input, and was not
                           * woken yet (role_input()) */
        bool has_retval;
} Call;

/* A task that is in a call has come back to the CPU. */
typedef struct CallWait {
        const SchedWait *wait;
        const Stack *stack;
        const Frame *frame; /* in which it left, the innermost; of stack->frames */
        uint32_t cpu;       /* to which it came back */
        const Function
                *after; /* between calls, with a frame that is NULL: of the outermost one before */
} CallWait;

/* Of a sink; each returns 0 or -errno, which ends all.  @frame is not on @stack yet; @caller: NULL
 * for none. */
typedef int (*PairingBegin)(void *userdata, Stack *stack, const Frame *caller, Frame *frame);
typedef int (*PairingEnd)(void *userdata, const Call *call);
typedef int (*PairingWait)(void *userdata, const CallWait *wait);

/*
 * Calls of a task that are told of together, all of which have ended: whole trees, one after the other, callers before what
 * they call.  @calls[1] to @calls[n - 1] are told in the order of @order, or if that is NULL as they are.
 */
typedef struct CallSums {
        uint64_t self_ns, self_blocked_ns; /* of Call: self_ns, blocked_ns */
        uint64_t blocked_ns;               /* of Frame, like the next two lines */
        uint64_t input_ns, irq_ns, softirq_ns, wake_ns, aside_ns;
        uint64_t n_below, n_children;
        uint32_t end;    /* the place in the order of who comes behind all that is below it */
        bool has_waited; /* of Frame, like the next */
        bool in_irq;
        bool has_aside; /* of irq_ns to aside_ns not all are zero */
} CallSums;

typedef struct CallTrees {
        Stack *stack; /* whose they are */
        const struct HeldCall *calls;
        const struct HeldWait *waits;
        const CallSums *sums; /* of each of calls */
        void **room;          /* likewise, for a pointer of the sink's */
        const uint32_t *order;
        uint32_t n;
        const OwnWorks *own_work; /* NULL: there is none */
} CallTrees;

static inline uint32_t call_trees_at(const CallTrees *t, uint32_t place) {
        return t->order ? t->order[place] : place;
}
/* The outermost one of the tree that begins at @place, with what a sink is told of it at its end, in @frame. */
Call call_trees_root(const CallTrees *t, uint32_t place, Frame *frame);

typedef int (*PairingTrees)(void *userdata, const CallTrees *trees);

/* From where @caller made those calls, one after the other, and, if it @has_ended, no more: @ret is for @n of them.  What is
 * NULL in @callees may be any calls, or none. */
typedef int (*PairingWays)(void *userdata, const Function *caller, const Function *const *callees,
                           size_t n, bool has_ended, const CallWay **ret);

typedef struct Pairing {
        /* To be set before the first step: */
        bool is_sparse;           /* calls between others were left out, so that depths have gaps */
        bool places;              /* frames have begin_ns and end_ns, nested for each task */
        bool keeps_arguments;     /* frames have the arguments of their calls */
        bool keeps_contexts;      /* calls know whose request they are of (calls/stacks.h) */
        const OwnWorks *own_work; /* when ftraced changed what is hooked; NULL: it is not known */
        /* Beside a filter (calls/filter.h) one that sees all steps, before, and is finished with this one.  It knows what
         * does not depend on what is shown: how long what has no end was seen, what tracing costs, and who wakes whom:
         * without the calls that wake a task that wakes another in a softirq of its own would be taken for an
         * interrupt.  NULL: nothing is left out. */
        struct Pairing *all;
        bool is_whole; /* it is another one's `all` */
        const uint64_t *
                from_ns; /* likewise: who wakes whom before that is asked by nobody; NULL: any may be */
        /* Is told of tasks that are in no call, and left the CPU without wanting to; of none where events were lost
         * meanwhile, or calls were left out before.  NULL: nobody is. */
        PairingWait between;
        void *between_userdata;
        /* If it places, of the one sink: whether it needs more of whole trees, which were, with all waits in them, from
         * @from_ns to @to_ns, than that the last one ended at @end_ns.  0, 1 or -errno.  NULL: it needs all. */
        int (*wants)(void *userdata, const Stack *stack, uint64_t from_ns, uint64_t to_ns,
                     uint64_t end_ns);
        PairingWays find_ways; /* frames have the ways of their calls; NULL: they have not */
        void *ways_userdata;

        /* To be read: */
        bool has_sched;      /* there were sched_switch events */
        uint64_t n_calls;    /* that have been told of */
        uint64_t total_ns;   /* durations of outermost calls added up: 100 % */
        uint64_t n_own_work; /* outermost calls that overlap own_work */

        /* The pairing's own: */
        struct PairingSink {
                PairingBegin begin;
                PairingEnd end;
                PairingTrees trees;
                void *userdata;
        } sinks[PAIRING_SINKS_MAX];
        size_t n_sinks;
        PairingWait wait;
        void *wait_userdata;
        Stacks stacks; /* their data: what is held of the task, a Held; NULL: nothing */
        struct Held
                *spare[16]; /* empty ones for the next tasks: those that run beside each other */
        size_t n_spare;
        uint64_t n_held, n_held_max;
        Hash roles;               /* plus 1, by function */
        const Function **callees; /* of one call, for find_ways() */
        const CallWay **ways;
        size_t n_callees_room, n_ways_room;
        CallSums *sums; /* of one task's calls, for sinks of trees */
        void **room;    /* likewise */
        size_t n_sums_room, n_room;
        Hash ends;      /* if it places: of each task's last tree, by the key of its stack */
        SchedSeen seen; /* if is_whole, like the next two */
        Hash cuts;      /* indices plus 1, of n_cuts */
        struct PairingCut {
                int64_t task;
                uint64_t start_ns, duration_ns, most_ns;
                int32_t depth;
        } * cut;
        size_t n_cuts, n_cuts_room;
        uint64_t sum_ns, away_ns, n_begun, n_trees;
        uint64_t lag_ns; /* from a leaf's reading to its record, if has_lag */
        uint32_t epoch;  /* how many losses were met */
        bool has_lag;
        bool is_moved; /* readings are not of the moment of the call: nosleep-time, another clock */
        Sched sched;
} Pairing;

int pairing_new(Pairing **ret);
/* @begin may be NULL.  At most PAIRING_SINKS_MAX, before the first step; only one may use a frame's
 * `is_nested`, and likewise its `user`, `data`, `more` and `row`. */
void pairing_add_sink(Pairing *p, PairingBegin begin, PairingEnd end, void *userdata);
/* The same, of a sink that may be told of whole trees instead: as long as all sinks may, that costs a third.  It looks at
 * their waits itself: if it is not told of them, who is told of waits is told of all by frames. */
void pairing_add_sink_of_trees(Pairing *p, PairingBegin begin, PairingEnd end, PairingTrees trees,
                               void *userdata);
/* One only is told of waits. */
void pairing_set_wait(Pairing *p, PairingWait wait, void *userdata);
/* Who wakes in @step, an event that wakes, by the calls that are open before it is added. */
Waker pairing_waker(const Pairing *p, const Step *step);
/* 0 or -errno. */
int pairing_step(Pairing *p, const Step *step);
/* As pairing_step(), of one that is_whole, for a FilterSpec. */
int pairing_see(void *whole, const Step *step);
/* Tells of what has ended, for somebody who does not wait.  0 or -errno. */
int pairing_tell(Pairing *p);
/* Of one task all that has ended; nothing, if something that has not is in the way. */
int pairing_tell_task(Pairing *p, Stack *stack);
/* Ends what is open.  No more steps after this. */
int pairing_finish(Pairing *p);
Pairing *pairing_free(Pairing *p);
DEFINE_CLEANUP(Pairing *, pairing_free);
