/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Steps: what renderers and counters are fed with
 *
 * The events of a stream, with a function's entry and its exit joined into a
 * LEAF where the kernel's own drawing joins them: if the exit is the very next
 * event of the same CPU, with the same task and function, and nothing was lost
 * in between (linux 6.1 kernel/trace/trace_functions_graph.c,
 * get_return_for_leaf()).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "calls/function.h"

typedef enum StepKind {
        STEP_ENTER, /* a function begins */
        STEP_LEAF,  /* a function begins and ends, calling nothing that was recorded */
        STEP_LEAVE, /* a function ends */
        STEP_LOST,  /* here events of this CPU are missing */
        STEP_OTHER, /* an event of another kind */
} StepKind;

typedef struct Step {
        StepKind kind;
        uint32_t cpu;
        int32_t pid;
        int32_t depth; /* 0: the first function that any user of function_graph saw in this task */
        uint64_t timestamp_ns;      /* trace clock; a leaf's is its entry's */
        const Function *function;   /* ENTER, LEAF, LEAVE */
        const char *comm;           /* the task's name; valid until the steps are freed */
        uint64_t calltime, rettime; /* LEAF, LEAVE: local clock [ns] */
        uint32_t overrun;           /* LEAF, LEAVE */
        uint32_t n_args;            /* ENTER, LEAF: 0 unless they were recorded */
        const uint64_t *args; /* in the order of the machine's registers; until the next step */
        uint64_t retval;      /* LEAF, LEAVE, if has_retval */
        bool has_retval;
        uint8_t flags, preempt_count;
        uint16_t event_id; /* OTHER */
        const char *text;  /* OTHER: "NAME: FIELDS", until the next step; NULL: its format is not
                            * there */
        uint64_t n_lost;   /* LOST: how many events; 0: the kernel did not say */
} Step;

static inline uint64_t step_duration_ns(const Step *s) {
        return s->rettime - s->calltime;
}
