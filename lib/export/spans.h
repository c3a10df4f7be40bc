/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spans: a task's calls as timelines want them
 *
 * Viewers nest what lies inside something else in time, so beginnings and ends must be exact and
 * nest strictly.  A call's duration is of other clock readings than its record's time, and a late
 * return comes after an interrupt that it does not contain.  So outermost calls are held until they
 * have ended, when all readings are known: a span has exactly its call's duration, unless what it
 * calls takes longer or, its end having been lost, what follows it begins sooner.
 *
 * Of all that a listener gets it holds, whatever was recorded or lost:
 *
 *      - a span's parent comes before it, and all between them is below the parent
 *      - a span lies within its parent, and begins when the sibling before it has ended or later
 *      - the outermost spans of a task follow each other, also from one time to the next
 *      - start_ns <= end_ns <= SPANS_END_NS
 *
 * Each call becomes one span.  Memory is in proportion to the largest outermost call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/pairing.h"

#define SPANS_END_NS ((uint64_t) INT64_MAX) /* 292 years; what is later is then */

typedef struct Span {
        const Function *function;
        uint64_t number, parent;   /* as of the frame */
        uint64_t start_ns, end_ns; /* trace clock */
        uint64_t calltime_ns;      /* local clock, if has_calltime */
        size_t i_parent;           /* SIZE_MAX: none */
        uint32_t cpu;              /* where it ended */
        bool has_calltime, has_cpu, is_cut, has_retval;
        bool is_sure,
                is_late; /* its calltime is of the call that began; its beginning was not seen */
        bool begins_irq; /* an interrupt begins with it */
        int64_t retval;
} Span;

/* A task as a listener knows it; the first three are as of now. */
typedef struct SpansTask {
        const char *comm; /* empty: not known */
        int32_t pid;      /* negative: not known, STEP_PID_UNKNOWN() */
        uint32_t cpu;     /* of an idle or an unknown task */
        size_t index;     /* tasks are counted from 0 */
        bool is_new;      /* there were no spans of it yet */
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
/* Beginnings and ends in the order of time; -EINVAL: a parent is not one that is open, which spans of
 * a listener never are. */
int spans_walk(const Span *spans, size_t n, SpansVisitor visitor, void *userdata);
