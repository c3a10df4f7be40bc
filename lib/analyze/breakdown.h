/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Breakdown: where time went, added up while the steps go by
 *
 * A call's total is its duration, its self what is left of that without the calls
 * directly below it.  A row is what is counted together: a function, a module, a
 * task, a CPU, or a function that calls stand below (a root).  A row's total
 * leaves out calls that stand below another one of the same row, so that
 * recursion counts once.
 *
 * What was cut off by the beginning, the end or a loss is counted with what it
 * took at least, and not in the quantiles.  Memory is in proportion to the rows,
 * the functions, and the tasks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/spread.h"
#include "base/cleanup.h"
#include "calls/stacks.h"

typedef struct Breakdown Breakdown;

typedef enum BreakdownBy {
        BREAKDOWN_BY_FUNCTION,
        BREAKDOWN_BY_MODULE, /* "[kernel]" is one */
        BREAKDOWN_BY_TASK,   /* a process id and its name */
        BREAKDOWN_BY_CPU,
        BREAKDOWN_BY_ROOT, /* the outermost function that was recorded */
} BreakdownBy;

typedef struct BreakdownRow {
        const Function *function; /* FUNCTION, ROOT; NULL */
        const char *name;         /* the function's without its module; the module's; the task's */
        uint32_t n_name;
        const char *module; /* FUNCTION, ROOT, MODULE; NULL: none */
        uint32_t n_module;
        int32_t pid;    /* TASK */
        uint32_t cpu;   /* CPU */
        uint64_t n;     /* calls; ROOT: trees */
        uint64_t n_cut; /* of them, those with lower bounds */
        uint64_t self_ns;
        uint64_t self_irq_ns;     /* of it, in interrupts */
        uint64_t self_blocked_ns; /* of it, waited */
        uint64_t total_ns;
        uint64_t irq_ns;     /* of the total, in interrupts below */
        uint64_t blocked_ns; /* of the total, waited */
        Spread spread;       /* of durations: of all calls; TASK, CPU, ROOT: of trees */
} BreakdownRow;

/* A call that has ended. */
typedef struct BreakdownCall {
        const Frame *frame; /* its function, depth, number, what was below */
        Stack *stack;       /* as it is now: its callers; the listener's counter */
        const Step *step;   /* that ended it, or proved that it had */
        uint64_t duration_ns, self_ns;
        uint64_t blocked_ns; /* of its own time */
        uint64_t irq_ns;     /* of interrupts, itself included */
        bool is_cut;         /* the durations are lower bounds */
        bool is_root;        /* nobody was seen who called it */
} BreakdownCall;

typedef void (*BreakdownListener)(void *userdata, const BreakdownCall *call);

int breakdown_new(Breakdown **ret, BreakdownBy by);
/* Is told of each call when it ends; @call is valid meanwhile. */
void breakdown_set_listener(Breakdown *p, BreakdownListener listener, void *userdata);
/* 0 or -ENOMEM. */
int breakdown_step(Breakdown *p, const Step *step);
/* Ends what is open.  No more steps after this. */
int breakdown_finish(Breakdown *p);
/* Sorted by self time, the most first; valid until the breakdown is freed. */
const BreakdownRow *const *breakdown_rows(Breakdown *p, size_t *ret_n);
/* Durations of trees added up: 100 %. */
uint64_t breakdown_total_ns(const Breakdown *p);
uint64_t breakdown_n_calls(const Breakdown *p);
Breakdown *breakdown_free(Breakdown *p);
DEFINE_CLEANUP(Breakdown *, breakdown_free);

/* "module"; -1 if there is none of that name. */
int breakdown_by_from_name(const char *name);
