/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Trace contexts: whose request a task works at, as it has said itself
 *
 * A program that is traced by OpenTelemetry, or by anything else that speaks W3C Trace Context, says so in
 * a marker (trace_marker) or in an event that it emits and the recording has (a uprobe, a user event):
 *
 *      traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01     anywhere in its text
 *                  |  trace id                         span id          flags
 *                  version
 *      traceparent=        or  traceparent=-                                   no request any more
 *
 * The value may stand in double quotes, as the kernel prints a string of a uprobe.  It is read by the letter, and what
 * is not read ends the context: no request is better than a wrong one.  The first of several in a text counts.
 *
 * A context is its thread's alone, and holds until the thread says another one, or exits (if the recording
 * has sched:sched_process_exit), or until events are lost, on whatever CPU: it may have said another one there.  Events in an interrupt do not count, nor does what stands behind "comm=": a
 * task's name, which another task's event may show.
 *
 * Source: W3C Recommendation "Trace Context", 3.2 traceparent header; linux 6.12 kernel/trace/trace.c,
 * tracing_mark_write().
 */

#include "calls/step.h"

#define TRACE_ID_CHARS 32

/* A trace id, whose first digits are the high ones; zeroes, which none has: there is no context. */
typedef struct TraceContext {
        uint64_t high, low;
} TraceContext;

/* True if the step says whose request its task works at, or that it does at none.  Its text is hostile. */
bool trace_context_is_said(const Step *step);
/* What it says. */
TraceContext trace_context_of(const Step *step);
static inline bool trace_context_is_set(const TraceContext *c) {
        return c->high != 0 || c->low != 0;
}
