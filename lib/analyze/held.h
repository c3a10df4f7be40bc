/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Held: the calls of a task until all of their tree is known
 *
 * Which call is whose, and what a call's own time is, an end may change that comes long afterwards:
 *
 *      an end without beginning    the calls before it, which stood below it, are its own
 *      an interrupt that a call    has a greater depth than the call, and comes before it, since the
 *      met in its entry hook       kernel counts the depth, and reads the clock, before it writes the
 *                                  entry: it is within the call, whose duration has it, too
 *      an interrupt that a call    stands below the call (6.11 on), although that took its time
 *      met in its return hook      before: it is the caller's
 *
 *      depth 0   a() {             a                              10.000
 *      depth 2     irq();            b                             9.000
 *      depth 1     b() {               irq                         3.523
 *      depth 2       c();              c                           0.500
 *
 * So calls are put down as nodes of a tree as they begin, and moved when they end.  A duration that an
 * end tells is never changed.  What a call and those below it have of the outermost one's time is its
 * share: the duration, unless calls overlap, as where a text rounds or losses hide who called; then it
 * is what is left, taken from calls whose duration is not known first, and from the last ones.
 *
 * Source: linux 6.1 and 6.12 kernel/trace/fgraph.c, function_graph_enter(), ftrace_push_return_trace(),
 * __ftrace_return_to_handler().
 */

#include "analyze/sched.h"
#include "base/array.h"
#include "calls/stacks.h"

/* linux 6.12 include/linux/trace_events.h: TRACE_FLAG_HARDIRQ, TRACE_FLAG_SOFTIRQ */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

#define HELD_TASK 0 /* the call that all outermost calls are below; also: none */
/* So many calls may come before an end that interrupts overtook, of which each has some three. */
#define HELD_OVERTAKING_MAX 16

typedef struct HeldCall {
        const Function *function;
        const CallWay *way;
        const Callers *callers, *program;
        const Owner *owner;
        uint64_t
                start_ns; /* of its entry's record; of an end alone: when that was, less what it took */
        uint64_t duration_ns; /* known, or what was seen of it */
        uint64_t share_ns;    /* once it has ended */
        uint64_t below_ns;    /* durations of the calls directly below that have ended; after
                               * held_settle() their shares */
        uint64_t told_ns;     /* of that, of calls that are held no more */
        uint64_t calltime_ns; /* local clock, if has_readings */
        uint64_t seen_ns;     /* if is_unsure: when it was certainly not over yet */
        uint64_t over_ns;     /* 0: the text has no times */
        uint64_t most_ns;     /* if is_cut: it took no more; 0: nobody knows */
        uint64_t recorded_ns; /* its end, if that is a record of its own; else 0 */
        uint64_t retval;
        uint64_t n_line;     /* where a text has it */
        uint64_t n_left_out; /* calls below it that a filter has not passed on */
        uint64_t tree;       /* the one that it began in; these count by their beginnings, from 1 */
        char *args;          /* its own; NULL: none */
        Object *object;      /* likewise */
        TraceContext context; /* of an outermost one */
        uint32_t parent;      /* HELD_TASK: nobody was seen who called it */
        uint32_t last;        /* of the calls directly below; 0: none */
        uint32_t prev;        /* its elder sibling; 0: none */
        uint32_t waits;       /* the last one, from 1; 0: none */
        uint32_t epoch;       /* how many losses there were before it */
        uint32_t seen_epoch;  /* likewise before seen_ns */
        uint32_t begin_cpu, end_cpu;
        int32_t depth;
        uint8_t role, input;
        uint8_t n_overtaking;  /* calls that came at its depth since: it is over then, at over_ns */
        uint8_t preempt_depth; /* when it began: how often preemption was switched off */
        bool in_softirq;       /* likewise: by what the kernel wrote down */
        bool releases_lock;    /* role_releases_lock() */
        bool in_irq;
        bool is_open;
        bool is_unsure;    /* events were lost since seen_ns, or it is over */
        bool is_begun;     /* whoever wants to know was told that it begins */
        bool is_late;      /* its beginning was not seen */
        bool is_cut;       /* its duration is not known */
        bool has_end;      /* end_cpu and retval are there */
        bool has_readings; /* clock readings that are its own */
        bool has_retval;
        bool is_text;  /* a text has it, which rounds */
        bool has_gaps; /* calls between others were left out: depths do not tell who was met */
        bool has_orphans; /* calls of greater depths came before it: it may have been entered already */
} HeldCall;

typedef struct HeldWait {
        SchedWait wait;
        uint64_t away_ns;
        uint32_t cpu;
        uint32_t prev; /* of the same call, from 1; 0: none */
} HeldWait;

typedef struct Held {
        HeldCall *calls; /* the first is HELD_TASK; in the order in which they came */
        uint32_t n, n_room;
        uint32_t *open; /* of them, their depths never descending */
        uint32_t n_open, n_open_room;
        uint32_t epoch; /* at the task's last step */
        HeldWait *waits;
        uint32_t n_waits, n_waits_room;
        uint32_t *order; /* after held_settle(), if it is tangled: callers before what they call;
                          * HELD_TASK first */
        uint32_t n_order_room;
        bool is_tangled; /* the order is not the one in which they came */
        bool has_args;   /* calls may have arguments, or objects */
        bool has_excess; /* somewhere more is below than there is time for */
} Held;

int held_new(Held **ret);
/* An open call that a step at @depth proves to have ended, one after the other; HELD_TASK: none is
 * left.  If the step @is_new, and ends nothing that is open, so have those that too many have overtaken. */
uint32_t held_ended_by(const Held *h, int32_t depth, bool is_new);
/* What is not open came at @depth, at @over_ns: those that are open there call nothing any more.  @seen_ns: the step
 * before. */
void held_overtake(Held *h, int32_t depth, uint64_t seen_ns, uint64_t over_ns);
/* Events were lost behind the task's last step, at @seen_ns: what is open may be over. */
void held_doubt(Held *h, uint64_t seen_ns, uint32_t epoch);
/* @call has ended: it was in those that were seen when it began, and so they were not over. */
void held_trust(Held *h, uint32_t call);
/* A call without an end, directly below @call, or a sibling of it, was not seen to begin: elder
 * siblings of @call that lie within it are its own from now on. */
void held_adopt(Held *h, uint32_t call);
/* @call was not seen to end: what came behind a loss, and waits that ended there, are not its own. */
void held_let_go(Held *h, uint32_t call);
/* @call has ended: what came after its end follows it. */
void held_expel(Held *h, uint32_t call);
int held_wait(Held *h, uint32_t call, const HeldWait *wait);
/* Whom @h's task wakes with @step is woken by @ret; @h may be NULL. */
void held_waker(const Held *h, const Step *step, Waker *ret);
/* Adds to @w what @h's task waited for, if no task woke it. */
void held_tell_waker(const Held *h, Waker *w);
/* Final shares, and the order of all calls.  0 or -ENOMEM. */
int held_settle(Held *h);
/* True if those that are open call each other, and nothing has come behind them. */
bool held_is_chain(const Held *h);
/* One of the open calls that are over; HELD_TASK: none is. */
uint32_t held_overtaken(const Held *h);
/* Forgets all that is not open; those that are must be a chain. */
void held_drop(Held *h);
Held *held_free(Held *h);
DEFINE_CLEANUP(Held *, held_free);

/* --- what is done for each call --------------------------------------------------------------- */

/* A new call that is open, below @parent, which is open or HELD_TASK; the last one in the array.
 * What is known of it is for the caller to fill in; the rest is zero.  NULL without memory. */
static inline HeldCall *held_begin(Held *h, uint32_t parent, int32_t depth) {
        HeldCall *c;

        if (!ARRAY_ROOM(h->calls, h->n_room, h->n + 1) ||
            !ARRAY_ROOM(h->open, h->n_open_room, h->n_open + 1))
                return NULL;
        c = &h->calls[h->n];
        *c = (HeldCall){
                .parent = parent, .prev = h->calls[parent].last, .depth = depth, .is_open = true
        };
        c->has_orphans = c->prev != 0 && h->calls[c->prev].depth > depth;
        h->calls[parent].last = h->n;
        h->open[h->n_open++] = h->n++;
        return c;
}

/* That it is closed is all: what it took is in @call. */
static inline void held_close(Held *h, uint32_t call) {
        HeldCall *c = &h->calls[call];
        uint32_t i = --h->n_open;

        /* Usually it is the last one. */
        if (_unlikely_(h->open[i] != call)) {
                while (h->open[i] != call)
                        i--;
                memmove(&h->open[i], &h->open[i + 1], (h->n_open - i) * sizeof(*h->open));
        }
        c->is_open = false;
        c->share_ns = c->duration_ns;
        h->calls[c->parent].below_ns += c->duration_ns;
        h->has_excess |= c->below_ns > c->duration_ns;
}

/* Who calls what begins at @depth: the nearest that is open, and not over. */
static inline uint32_t held_caller(const Held *h, int32_t depth) {
        for (uint32_t i = h->n_open; i > 0; i--) {
                const HeldCall *c = &h->calls[h->open[i - 1]];

                if (c->depth < depth && c->n_overtaking == 0)
                        return h->open[i - 1];
        }
        return HELD_TASK;
}

/* Returns what a return of @function at @depth ends, of what is open; NULL: of any.  HELD_TASK: nothing. */
static inline uint32_t held_find(const Held *h, int32_t depth, const Function *function) {
        for (uint32_t i = h->n_open; i > 0 && h->calls[h->open[i - 1]].depth >= depth; i--) {
                const HeldCall *c = &h->calls[h->open[i - 1]];

                if (c->depth == depth && (!function || c->function == function))
                        return h->open[i - 1];
        }
        return HELD_TASK;
}
