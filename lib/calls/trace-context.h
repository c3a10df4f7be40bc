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

typedef struct TraceContext {
        char trace_id[TRACE_ID_CHARS + 1]; /* digits in lower case */
} TraceContext;

/* What a text, hostile, says.  0: @ret is filled, a context begins; or one of the two. */
enum {
        TRACE_CONTEXT_E_SILENT = 1, /* the text has no traceparent */
        TRACE_CONTEXT_E_ENDS,       /* an empty one, or one that cannot be read */
};
int trace_context_parse(TraceContext *ret, const char *text);
/* Whether the step says whose request its task works at, or that it does at none. */
bool trace_context_is_said(const Step *step);

/*
 * TraceContexts: those of all tasks of a recording
 *
 * It is fed with steps as they come, and asked about calls, of which a Pairing tells later: so of each task
 * it knows some contexts that have ended, TRACE_CONTEXTS_MAX of all tasks together, besides the one of now.
 * Of what began before all that is known it says that there was none.
 */
#define TRACE_CONTEXTS_MAX 65536

typedef struct TraceContexts TraceContexts;

int trace_contexts_new(TraceContexts **ret);
/* A recording's next step.  0 or -ENOMEM. */
int trace_contexts_step(TraceContexts *c, const Step *step);
/* What a call belongs to; borrowed until the next call of anything here; NULL: nobody said.  @key: step_task_key() of its
 * task; @at_ns: when the outermost call began that it is below: no earlier than in the last question about this task,
 * else the answer may be that there was none. */
const TraceContext *trace_contexts_find(TraceContexts *c, int64_t key, uint64_t at_ns);
TraceContexts *trace_contexts_free(TraceContexts *c);
DEFINE_CLEANUP(TraceContexts *, trace_contexts_free);
