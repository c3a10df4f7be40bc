/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Breakdown: where time went, added up while calls end
 *
 * A row is what is counted together.  Its total leaves out calls that stand below another one of the same row, so that
 * recursion counts once.  What was cut off is counted with what it took at least (analyze/pairing.h), and not in the
 * quantiles.
 */

#include "analyze/pairing.h"
#include "analyze/quantiles.h"

typedef struct Breakdown Breakdown;

typedef enum BreakdownBy {
        BREAKDOWN_BY_FUNCTION,
        BREAKDOWN_BY_MODULE, /* "[kernel]" is one */
        BREAKDOWN_BY_TASK,   /* a process id and its name */
        BREAKDOWN_BY_CPU,
        BREAKDOWN_BY_ROOT,   /* the outermost function that was recorded */
        BREAKDOWN_BY_CALLER, /* who had called that, as far as it was recorded */
        BREAKDOWN_BY_STACK,  /* likewise, of the program */
        BREAKDOWN_BY_WHAT, /* the object of the call, or of who called it; breakdown_set_field(): a field of that */
        BREAKDOWN_BY_UNIT, /* whose the task was, this and the next three in the order of OwnerWord */
        BREAKDOWN_BY_CONTAINER,
        BREAKDOWN_BY_PROCESS,
        BREAKDOWN_BY_USER,
        BREAKDOWN_BY_FILE, /* where its source is, as breakdown_set_place() says */
        BREAKDOWN_BY_DIR,
        BREAKDOWN_BY_LAYER,
} BreakdownBy;

#define BREAKDOWN_OBJECTS_MAX 65536 /* rows; further ones are counted together, as "(others)" */

/* True if a row counts trees, whole, and not calls. */
static inline bool breakdown_counts_trees(BreakdownBy by) {
        return by >= BREAKDOWN_BY_ROOT && by <= BREAKDOWN_BY_WHAT;
}

static inline bool breakdown_is_of_owners(BreakdownBy by) {
        return by >= BREAKDOWN_BY_UNIT && by <= BREAKDOWN_BY_USER;
}

typedef struct BreakdownRow {
        const Function *function; /* FUNCTION, ROOT; NULL */
        const char *
                name; /* the function's without its module; the module's; the task's; the place's */
        uint32_t n_name;
        const char *module; /* FUNCTION, ROOT, MODULE; NULL: none */
        uint32_t n_module;
        int32_t n_unhooked; /* FUNCTION, MODULE: what else its self may be (calls/function.h), the most of its functions */
        int32_t pid;           /* TASK */
        uint32_t cpu;          /* CPU */
        uint64_t n;            /* calls; ROOT: trees */
        uint64_t n_cut;        /* of them, those with lower bounds */
        uint64_t n_calls;      /* calls that the self is of */
        uint64_t n_open;       /* calls that have begun and not ended, of any task */
        uint64_t nested_until; /* of trees: what comes before that is below one of this row */
        uint64_t n_children;   /* calls directly below them */
        uint64_t self_ns;
        uint64_t self_irq_ns;     /* of it, in interrupts */
        uint64_t self_blocked_ns; /* of it, waited */
        uint64_t n_outer;         /* calls that the total is of */
        uint64_t n_below;         /* calls anywhere below these */
        uint64_t total_ns;
        uint64_t irq_ns;     /* of the total, in interrupts below */
        uint64_t softirq_ns; /* in softirqs */
        uint64_t wake_ns;    /* waking others */
        uint64_t aside_ns;   /* in any of the three */
        uint64_t blocked_ns; /* of the total, waited */
        Quantiles quantiles; /* of durations: of all calls; TASK, CPU, ROOT: of trees */
} BreakdownRow;

/* A sink of @pairing, which must outlive its last step.  0 or -ENOMEM. */
int breakdown_new(Breakdown **ret, BreakdownBy by, Pairing *pairing);
/* @place: what is counted together of FILE and those behind it: the same text for the same place, not ended, that lives as long.
 * Before the first call. */
typedef const char *(*BreakdownPlace)(void *userdata, const Function *f, size_t *ret_n);
void breakdown_set_place(Breakdown *p, BreakdownPlace place, void *userdata);
/* WHAT: rows are of what is in the field @name, borrowed, of objects.  Before the first call. */
void breakdown_set_field(Breakdown *p, const char *name);
/* Sorted by self time, the most first; valid until more calls come, as they may. */
const BreakdownRow *const *breakdown_rows(Breakdown *p, size_t *ret_n);
Breakdown *breakdown_free(Breakdown *p);
DEFINE_CLEANUP(Breakdown *, breakdown_free);

/* "module"; -EINVAL: there is none of that name. */
int breakdown_by_from_name(const char *name);
