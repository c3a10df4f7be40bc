/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spans: a task's calls as timelines want them
 *
 * Viewers nest what lies inside something else in time, so beginnings and ends must be exact and
 * nest strictly.  A call's duration is of other clock readings than its record's time, and a late
 * return comes after an interrupt that it does not contain.  So outermost calls are held until they
 * have ended, when all readings are known: a span has exactly its call's duration, and spans of one
 * task never overlap by halves.
 *
 * Memory is in proportion to the largest outermost call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/pairing.h"

typedef struct Span {
        const Function *function;
        uint64_t number, parent;   /* as of the frame */
        uint64_t start_ns, end_ns; /* trace clock */
        uint64_t calltime_ns;      /* local clock, if has_calltime */
        size_t i_parent;           /* SIZE_MAX: none */
        uint32_t cpu;              /* where it ended */
        bool has_calltime, has_cpu, is_cut, has_retval;
        bool begins_irq; /* an interrupt begins with it */
        int64_t retval;
} Span;

/* A task as a listener knows it; the first three are as of now. */
typedef struct SpansTask {
        const char *comm; /* empty: not known */
        int32_t pid;      /* negative: not known, STEP_PID_UNKNOWN() */
        uint32_t cpu;     /* of an idle or an unknown task */
        size_t index;     /* tasks are counted from 0 */
} SpansTask;

/* @spans: @n of them, callers before what they call, siblings in order; may be changed.  0 or
 * -errno. */
typedef int (*SpansListener)(void *userdata, const SpansTask *task, Span *spans, size_t n);

typedef struct Spans Spans;

int spans_new(Spans **ret, SpansListener listener, void *userdata);
/* Each call of a Pairing, when it ends.  0 or -errno. */
int spans_call(Spans *s, const Call *call);
/* A STEP_TASK.  0 or -ENOMEM. */
int spans_name_task(Spans *s, const Step *step);
Spans *spans_free(Spans *s);
DEFINE_CLEANUP(Spans *, spans_free);

/* @begins, or ends.  0 or -errno. */
typedef int (*SpansVisitor)(void *userdata, const Span *span, bool begins);
/* Beginnings and ends in the order of time. */
int spans_walk(const Span *spans, size_t n, SpansVisitor visitor, void *userdata);
