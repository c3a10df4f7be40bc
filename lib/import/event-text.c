/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each event is a step, at its own time.  A call whose event was not drawn is a leaf
 * if the next line is its return, as where it was drawn: so both are the same calls,
 * drawn alike.
 *
 * The events of several recordings (-i, instances) are one text in the order of time;
 * their tasks are told apart by their numbers alone.
 */

#include "base/plain-text.h"
#include "import/text-trace-private.h"

static uint32_t digits_of(uint64_t n) {
        uint32_t n_digits = 1;

        for (; n >= 10; n /= 10)
                n_digits++;
        return n_digits;
}

static void parse(TextTrace *t, const Line *line, TextLine *ret) {
        event_line_parse(ret, line->text, line->n_text);
}

/* Its task is lost, and others have theirs: somebody has cut the text there. */
static bool is_torn(TextTrace *t, const Line *line, const TextLine *l) {
        TextLine next;

        return !l->has_task && text_look_ahead(t, TEXT_EVENTS, line, LINE_EVENT, &next) &&
               next.has_task;
}

static TextProbe probe(TextTrace *t, const Line *line, const TextLine *l) {
        GraphColumns *columns = &t->layout.columns;

        if (l->kind == LINE_HEADING || l->kind == LINE_LOST)
                return TEXT_PROBE_HEADING;
        if (l->kind < LINE_OPEN)
                return TEXT_PROBE_FOREIGN;
        if (is_torn(t, line, l))
                return TEXT_PROBE_TORN;
        t->is_cut = !l->has_task;
        t->pid = STEP_PID_UNKNOWN(0);
        memcpy(t->comm, "<...>", 6);
        columns->cpu = columns->duration = true;
        columns->n_cpu_digits = MAX(columns->n_cpu_digits, digits_of(l->cpu));
        t->layout.has_header = true;
        t->layout.has_times = l->timestamp_ns > 0;
        return TEXT_PROBE_CALL;
}

/* Names are padded to a width of 20: "sched_switch:         prev_comm=" */
static int event(TextTrace *t, TextLine *l, Step *ret) {
        const char *fields = memchr(l->text, ':', l->n_text);
        size_t n_name = (size_t) (fields + 1 - l->text), n_fields;

        for (fields++; fields < l->text + l->n_text && *fields == ' '; fields++)
                ;
        n_fields = (size_t) (l->text + l->n_text - fields);
        memcpy(t->event, l->text, n_name);
        t->event[n_name] = ' ';
        memcpy(t->event + n_name + 1, fields, n_fields);
        return text_event(t, l, n_name + 1 + n_fields, ret);
}

/* Whether the next line is the return of @l; @ret: it. */
static bool is_next_return(TextTrace *t, const Line *line, const TextLine *l, TextLine *ret) {
        Line next;

        if (!envelope_peek(&t->envelope, line, &next))
                return false;
        event_line_parse(ret, next.text, next.n_text);
        return ret->kind == LINE_CLOSE && ret->cpu == l->cpu && ret->task.pid == l->task.pid &&
               ret->depth == l->depth &&
               (!ret->label ||
                (ret->n_label == l->n_label && memcmp(ret->label, l->label, l->n_label) == 0));
}

static int call(TextTrace *t, const Line *line, TextLine *l, Step *ret) {
        StepText *said = &t->said;
        TextLine next;

        if (l->kind == LINE_OPEN && l->is_spelled && is_next_return(t, line, l, &next)) {
                l->kind = LINE_LEAF;
                l->has_duration = true;
                l->duration_ns = next.duration_ns;
                l->has_retval = next.has_retval;
                l->retval = next.retval;
                t->n_joined = line->number + 1;
        }
        *said = l->said;
        said->line = line->number;
        if (!said->note && l->has_retval) {
                said->note = t->value;
                said->n_note = (uint32_t) snprintf(t->value, sizeof(t->value), " ret=0x%llx",
                                                   (unsigned long long) l->retval);
        }
        ret->said = said;
        return text_call(t, line, l, NULL, ret);
}

static int next_step(TextTrace *t, const Line *line, TextLine *l, Step *ret) {
        switch (l->kind) {
        case LINE_HEADING:
                t->count.n_headers++;
                if (l->number > 0)
                        t->layout.columns.n_cpu_digits = digits_of(l->number - 1);
                return 0;
        case LINE_EMPTY:
                return 0;
        case LINE_LOST:
                return text_lost(t, line, l->cpu, t->now_ns, l->number, ret);
        default:
                break;
        }
        if (l->kind >= LINE_OPEN) {
                if (text_begins_another(t, l, l->has_task ? l->cpu : t->cpu,
                                        l->has_task ? l->task.pid : t->pid))
                        return text_another(t, line, ret);
                text_note_time(t, l->timestamp_ns);
        }
        if (t->is_cut && l->has_task)
                return text_damaged(t, line, "it says its task, and the first call does not");
        if (l->has_task) { /* else it is of the task of the line before */
                (void) plain_undo(t->comm, sizeof(t->comm), l->task.comm, l->task.n_comm);
                t->cpu = l->cpu;
                t->pid = l->task.pid;
        }
        *ret = (Step){
                .cpu = t->cpu,
                .pid = t->pid,
                .comm = t->comm,
                .timestamp_ns = l->timestamp_ns,
        };
        /* An event is drawn where it happened. */
        return l->kind == LINE_EVENT ? event(t, l, ret) : call(t, line, l, ret);
}

const TextKindOps event_text = { parse, probe, next_step };
