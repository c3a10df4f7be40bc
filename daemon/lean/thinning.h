/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Thinning: what is not hooked, so that others pay no more than they may
 *
 * Each call of a hooked function outside the roots costs whoever makes it a hook.  Over the budget go, of each of these
 * classes the most called first, until the rest costs less:
 *
 *      leaves without a part in the roots' time, and where tasks wait if the roots are not known to call it
 *      what only the scheduler calls
 *      other leaves
 *      what calls others, as long as there is one more at its depth below the roots
 *      where tasks wait below the roots, and where interrupts begin
 */

#include "daemon/lean/lean-tree.h"

/*
 * How often functions were called during some time.  Each call of a hooked function outside the roots costs whoever calls
 * it a hook, about as long as the cheapest system call, and brings nothing: function_graph needs some 200 instructions for
 * a call that it does not record (linux 6.12), such a system call some more.
 */
typedef struct CallRate {
        char *name;
        uint64_t n;
} CallRate;

typedef struct CallRates {
        CallRate *items; /* n of them, sorted by name, unique */
        size_t n;
} CallRates;

/* Names are added in the order of strcmp().  0 or -ENOMEM. */
int call_rates_add(CallRates *r, const char *name, uint64_t n);
enum { CALL_RATES_E_INVALID = 1 };
/* The answer of a worker that counted in one window (daemon/lean/learner.h).  0, CALL_RATES_E_INVALID, -ENOMEM. */
int call_rates_read(CallRates *ret, const char *counts);
void call_rates_done(CallRates *r);
#define _cleanup_call_rates_ _cleanup_(call_rates_done)
/* What is in @own, too, was called below the roots: what is left are others' calls. */
void call_rates_subtract(CallRates *all, const CallRates *own);
/* How often @name was called. */
uint64_t call_rates_get(const CallRates *r, const char *name);
/* What @n of them cost in millionths of a CPU's time. */
double call_rates_cost_ppm(double n, uint64_t window_ns, uint64_t hook_ns);

/* Calls of others, counted for a moment. */
typedef struct Load {
        CallRates rates; /* none: nobody has counted */
        Strv counted;    /* whose calls were, sorted */
        Strv out;        /* what was counted before, and is not hooked any more, sorted */
        uint64_t window_ns, hook_ns; /* in which; what a hook takes */
        bool is_work; /* while the roots are called: what counts is this, and not what other work might call */
} Load;

/* What was counted @before but not @now is out; how often it would be called now nobody knows.  0 or -ENOMEM. */
int load_keep(Load *now, const Load *before);
void load_done(Load *l);

/* What would be hooked, by class and depth; names are borrowed. */
typedef struct Rank Rank;
typedef struct Ranks {
        Rank *items;
        size_t n;
} Ranks;

/* @hooked, @roots: sorted; roots stay.  0 or -ENOMEM. */
int thinning_rank(Ranks *ret, const LeanTree *tree, const Strv *hooked, const Strv *roots);
void ranks_done(Ranks *r);
/* @ret: what is left out already, and what is to be besides, sorted.  0 or -ENOMEM. */
int thinning_choose(const Ranks *ranks, const Load *load, uint64_t budget_ppm, Strv *ret);
/*
 * As thinning_choose(), so that none of the usual kinds of work (daemon/lean/loads) pays more: where thinning begins while
 * nobody has looked at what this host does, for work may come at any moment, and is over before it is looked at.  Those that
 * call a root walk the roots' own way, and do not count.
 */
int usual_loads_thin(const Ranks *ranks, const Strv *roots, uint64_t budget_ppm, Strv *ret);

/*
 * The functions where tasks wait or spin, and those of interrupts: whatever is asked for, they are hooked, as long as others
 * do not call them often, for they are the answer.  daemon/lean/waiting-functions has them by subsystem, each with its
 * reason.
 */
typedef enum WaitingKind {
        WAITING_OTHER,
        WAITING_INTERRUPT, /* what a timer or a device brings into the task that it meets */
        WAITING_SCHEDULER, /* below these is the scheduler's inside */
} WaitingKind;

/* Adds those that this kernel has, sorted.  0 or -ENOMEM. */
int waiting_find(const Functions *f, Strv *ret);
/* Whether it is one, and of that kind. */
bool waiting_is(const char *name, WaitingKind kind);
bool waiting_is_interrupt(const char *name);
