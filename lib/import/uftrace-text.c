/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lines are in the order of time and say which thread they are of, and nothing of
 * CPUs.  A name behind a brace is of the call that it ends, whatever library it is
 * printed with.
 */

#include "import/text-trace-private.h"

static void parse(TextTrace *t, const Line *line, TextLine *ret) {
        uftrace_line_parse(ret, line->text, line->n_text, &t->fields);
}

/* Its time is lost, and others have theirs: somebody has cut the text there. */
static bool is_torn(TextTrace *t, const Line *line, const TextLine *l) {
        TextLine next;

        return !l->has_time && text_look_ahead(t, TEXT_UFTRACE, line, LINE_OPEN, &next) &&
               next.has_time;
}

static TextProbe probe(TextTrace *t, const Line *line, const TextLine *l) {
        if (l->kind == LINE_HEADING)
                return TEXT_PROBE_HEADING;
        if (l->kind < LINE_OPEN)
                return TEXT_PROBE_FOREIGN;
        if (is_torn(t, line, l))
                return TEXT_PROBE_TORN;
        t->layout.columns =
                (GraphColumns){ .proc = l->has_task, .duration = true, .abstime = l->has_time };
        t->layout.has_times = l->has_time;
        t->layout.has_header = true;
        return TEXT_PROBE_CALL;
}

static int next_step(TextTrace *t, const Line *line, TextLine *l, Step *ret) {
        int32_t pid = l->has_task ? l->task.pid : STEP_PID_UNKNOWN(0);

        switch (l->kind) {
        case LINE_HEADING:
                t->count.n_headers++;
                t->fields = l->fields;
                return 0;
        case LINE_EMPTY:
                return 0;
        case LINE_LOST:
                return text_lost(t, line, 0, t->now_ns, l->number, ret);
        default:
                break;
        }
        if (text_begins_another(t, l, 0, pid))
                return text_another(t, line, ret);
        if (t->layout.has_times && !l->has_time)
                return text_damaged(t, line, "it has no time");
        text_note_time(t, l->timestamp_ns);
        t->said = l->said;
        t->said.line = line->number;
        t->said.cpu_untold = l->has_task;
        *ret = (Step){
                .pid = pid,
                .timestamp_ns = l->timestamp_ns,
                .comm = "<...>",
                .said = &t->said,
        };
        if (l->kind != LINE_EVENT)
                return text_call(t, line, l, NULL, ret);
        memcpy(t->event, l->text, l->n_text);
        return text_event(t, l, l->n_text, ret);
}

const TextKindOps uftrace_text = { parse, probe, next_step };
