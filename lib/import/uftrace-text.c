/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lines are in the order of time and say which thread they are of, and nothing of
 * CPUs.  A name behind a brace is of the call that it ends, whatever library it is
 * printed with.
 */

#include "import/graph-line.h"
#include "import/text-trace-private.h"

static int heading(TextTrace *t, const UftraceLine *l) {
        t->count.n_headers++;
        t->fields = l->fields;
        return 0;
}

/* Its time is lost, and others have theirs: somebody has cut the text there. */
static bool is_torn(TextTrace *t, const Line *line, const UftraceLine *l) {
        Line next = *line;

        for (int i = 0;
             !l->has_time && i < TEXT_PROBE_LINES && envelope_peek(t->envelope, &next, &next);
             i++) {
                UftraceLine m;

                uftrace_line_parse(&m, next.text, next.n_text, &t->fields);
                if (m.kind >= UFTRACE_OPEN)
                        return m.has_time;
        }
        return false;
}

TextProbe uftrace_text_probe(TextTrace *t, const Line *line) {
        UftraceLine l;

        uftrace_line_parse(&l, line->text, line->n_text, &t->fields);
        if (l.kind == UFTRACE_HEADING)
                return TEXT_PROBE_HEADING;
        if (l.kind < UFTRACE_OPEN)
                return TEXT_PROBE_FOREIGN;
        if (is_torn(t, line, &l))
                return TEXT_PROBE_TORN;
        t->layout.columns =
                (GraphColumns){ .proc = l.has_tid, .duration = true, .abstime = l.has_time };
        t->layout.has_times = l.has_time;
        t->layout.has_header = true;
        return TEXT_PROBE_CALL;
}

static int event(TextTrace *t, const UftraceLine *l, Step *ret) {
        memcpy(t->event, l->text, l->n_text);
        t->event[l->n_text] = 0;
        t->count.n_comments++;
        ret->kind = STEP_OTHER;
        ret->text = t->event;
        if (t->layout.has_times)
                t->now_ns = ret->timestamp_ns;
        else
                ret->timestamp_ns = t->now_ns;
        return 1;
}

static const StepKind kinds[] = {
        [UFTRACE_OPEN] = STEP_ENTER,
        [UFTRACE_LEAF] = STEP_LEAF,
        [UFTRACE_CLOSE] = STEP_LEAVE,
        [UFTRACE_COMMENT] = STEP_OTHER,
};

static int call(TextTrace *t, const Line *line, const UftraceLine *l, Step *ret) {
        uint64_t duration_ns = l->has_duration ? l->duration_ns : TEXT_UNTIMED;

        ret->kind = kinds[l->kind];
        if (l->n_args > 0 && !memmem(l->args, l->n_args, "/*", 2)) {
                t->said.args = l->args;
                t->said.n_args = l->n_args;
        }
        t->said.note = l->value;
        t->said.n_note = l->n_value;
        ret->has_retval = l->value && graph_note_retval(l->value, l->n_value, &ret->retval);
        return text_call(t, line, l->label, l->n_label, duration_ns, ret);
}

static bool is_of_another_trace(TextTrace *t, const UftraceLine *l) {
        const Step step = {
                .kind = kinds[l->kind],
                .pid = l->has_tid ? l->tid : STEP_PID_UNKNOWN(0),
                .depth = l->depth,
                .timestamp_ns = l->timestamp_ns,
                .rettime = l->has_duration ? l->duration_ns : 0,
        };

        return t->layout.has_times && !l->has_time ? text_was_ended(t)
                                                   : text_begins_another(t, &step, TEXT_BACK_NS);
}

TextShape uftrace_text_shape(TextTrace *t, const Line *line) {
        UftraceLine l;

        uftrace_line_parse(&l, line->text, line->n_text, &t->fields);
        return l.kind == UFTRACE_NONE      ? TEXT_SHAPE_NONE
               : l.kind == UFTRACE_DAMAGED ? TEXT_SHAPE_HALF
                                           : TEXT_SHAPE_WHOLE;
}

int uftrace_text_next(TextTrace *t, const Line *line, Step *ret) {
        UftraceLine l;

        uftrace_line_parse(&l, line->text, line->n_text, &t->fields);
        switch (l.kind) {
        case UFTRACE_NONE:
                return text_note(t, TEXT_NOT_TRACE, line->number, line->text, line->n_text);
        case UFTRACE_DAMAGED:
                return text_damaged(t, line, l.problem);
        case UFTRACE_HEADING:
                return heading(t, &l);
        case UFTRACE_EMPTY:
                return 0;
        case UFTRACE_LOST:
                return text_lost(t, line, 0, t->now_ns, l.number, ret);
        default:
                break;
        }
        if (is_of_another_trace(t, &l))
                return text_another(t, line, ret);
        if (t->layout.has_times && !l.has_time)
                return text_damaged(t, line, "it has no time");
        text_note_time(t, l.timestamp_ns);
        t->said = (StepText){ .line = line->number, .cpu_untold = l.has_tid };
        *ret = (Step){
                .pid = l.has_tid ? l.tid : STEP_PID_UNKNOWN(0),
                .depth = l.depth,
                .timestamp_ns = l.timestamp_ns,
                .comm = "<...>",
                .said = &t->said,
        };
        return l.kind == UFTRACE_COMMENT ? event(t, &l, ret) : call(t, line, &l, ret);
}
