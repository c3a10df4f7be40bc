/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spans: a task's calls as timelines want them
 *
 * Viewers nest what lies inside something else in time, so beginnings and ends must be exact and nest
 * strictly.  A call's duration is of other clock readings than its record's time, and a Pairing puts
 * calls where both allow (analyze/held.h): a span has exactly its call's duration, unless calls
 * overlap.  Here the trees of a task are put behind each other.
 *
 * Of all that a listener gets it holds, whatever was recorded or lost:
 *
 *      - what began last, of a task, ends first
 *      - times of a task never go back
 *      - all are SPANS_END_NS at most
 *
 * Each call becomes one span.  Memory is in proportion to the tasks.
 */

#include "analyze/pairing.h"

#define SPANS_END_NS ((uint64_t) INT64_MAX) /* 292 years; what is later is then */

/* A task as a listener knows it; the first three are as of now. */
typedef struct SpansTask {
        const char *comm; /* NULL, empty: not known */
        int32_t pid;      /* negative: not known, STEP_PID_UNKNOWN() */
        uint32_t cpu;     /* of an idle or an unknown task */
        size_t index;     /* tasks are counted from 0 */
} SpansTask;

/* A span begins, or ends with @call, unless that is NULL; of @frame neither times nor the user mean anything.
 * 0 or -errno. */
typedef int (*SpansListener)(void *userdata, const SpansTask *task, const Frame *frame,
                             uint64_t at_ns, const Call *call);

typedef struct Spans Spans;

/* A sink of @pairing, which must outlive its last step; what uses a frame's user.  0 or -ENOMEM. */
int spans_new(Spans **ret, Pairing *pairing, SpansListener listener, void *userdata);
Spans *spans_free(Spans *s);
DEFINE_CLEANUP(Spans *, spans_free);
