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
#include "import/event-line.h"
#include "import/text-trace-private.h"

static uint32_t digits_of(uint64_t n) {
        uint32_t n_digits = 1;

        for (; n >= 10; n /= 10)
                n_digits++;
        return n_digits;
}

static int heading(TextTrace *t, const EventLine *l) {
        t->count.n_headers++;
        if (l->number > 0)
                t->layout.columns.n_cpu_digits = digits_of(l->number - 1);
        return 0;
}

/* Its task is lost, and others have theirs: somebody has cut the text there. */
static bool is_torn(TextTrace *t, const Line *line, const EventLine *l) {
        Line next = *line;

        for (int i = 0;
             !l->has_task && i < TEXT_PROBE_LINES && envelope_peek(t->envelope, &next, &next);
             i++) {
                EventLine m;

                event_line_parse(&m, next.text, next.n_text);
                if (m.kind >= EVENT_OTHER)
                        return m.has_task;
        }
        return false;
}

TextProbe event_text_probe(TextTrace *t, const Line *line) {
        GraphColumns *columns = &t->layout.columns;
        EventLine l;

        event_line_parse(&l, line->text, line->n_text);
        if (l.kind == EVENT_HEADING || l.kind == EVENT_LOST)
                return TEXT_PROBE_HEADING;
        if (l.kind < EVENT_OPEN)
                return TEXT_PROBE_FOREIGN;
        if (is_torn(t, line, &l))
                return TEXT_PROBE_TORN;
        t->is_cut = !l.has_task;
        t->pid = STEP_PID_UNKNOWN(0);
        memcpy(t->comm, "<...>", 6);
        columns->cpu = columns->duration = true;
        columns->n_cpu_digits = MAX(columns->n_cpu_digits, digits_of(l.cpu));
        t->layout.has_header = true;
        t->layout.has_times = l.timestamp_ns > 0;
        return TEXT_PROBE_CALL;
}

static int event(TextTrace *t, const EventLine *l, Step *ret) {
        const char *fields = memchr(l->event, ':', l->n_event);
        size_t n_name = (size_t) (fields + 1 - l->event), n_fields;

        /* Names are padded to a width of 20: "sched_switch:         prev_comm=" */
        for (fields++; fields < l->event + l->n_event && *fields == ' '; fields++)
                ;
        n_fields = (size_t) (l->event + l->n_event - fields);
        memcpy(t->event, l->event, n_name);
        t->event[n_name] = ' ';
        memcpy(t->event + n_name + 1, fields, n_fields);
        t->event[n_name + 1 + n_fields] = 0;
        t->count.n_comments++;
        ret->kind = STEP_OTHER;
        ret->text = t->event;
        if (t->layout.has_times)
                t->now_ns = ret->timestamp_ns;
        else
                ret->timestamp_ns = t->now_ns;
        return 1;
}

/* Whether the next line is the return of @l; @ret: it. */
static bool is_next_return(TextTrace *t, const Line *line, const EventLine *l, EventLine *ret) {
        Line next;

        if (!envelope_peek(t->envelope, line, &next))
                return false;
        event_line_parse(ret, next.text, next.n_text);
        return ret->kind == EVENT_CLOSE && ret->cpu == l->cpu && ret->pid == l->pid &&
               ret->depth == l->depth &&
               (!ret->label ||
                (ret->n_label == l->n_label && memcmp(ret->label, l->label, l->n_label) == 0));
}

static void say(TextTrace *t, const Line *line, const EventLine *l) {
        StepText *said = &t->said;

        *said = (StepText){ .line = line->number, .args = l->args, .n_args = l->n_args };
        if (l->caller) {
                said->note = l->caller;
                said->n_note = l->n_caller;
        } else if (l->has_retval) {
                said->note = t->value;
                said->n_note = (uint32_t) snprintf(t->value, sizeof(t->value), " ret=0x%llx",
                                                   (unsigned long long) l->retval);
        }
}

static const StepKind kinds[] = {
        [EVENT_OPEN] = STEP_ENTER,
        [EVENT_LEAF] = STEP_LEAF,
        [EVENT_CLOSE] = STEP_LEAVE,
};

static int call(TextTrace *t, const Line *line, EventLine *l, Step *ret) {
        EventLine next;

        if (l->kind == EVENT_OPEN && l->is_spelled && is_next_return(t, line, l, &next)) {
                l->kind = EVENT_LEAF;
                l->duration_ns = next.duration_ns;
                l->has_retval = next.has_retval;
                l->retval = next.retval;
                t->n_joined = line->number + line->n_more + 1;
        }
        say(t, line, l);
        ret->kind = kinds[l->kind];
        ret->depth = l->depth;
        if (l->is_depth_untold) {
                const Stack *stack = stacks_get(t->stacks, ret);

                if (!stack)
                        return -ENOMEM;
                ret->depth = text_depth_of_braces(stack, l->kind == EVENT_CLOSE);
        }
        ret->has_retval = l->has_retval;
        ret->retval = l->retval;
        return text_call(t, line, l->label, l->n_label, l->duration_ns, ret);
}

static int step_of(TextTrace *t, const Line *line, EventLine *l, Step *ret) {
        *ret = (Step){
                .cpu = t->cpu,
                .pid = t->pid,
                .comm = t->comm,
                .timestamp_ns = l->timestamp_ns,
        };
        if (l->kind == EVENT_OTHER)
                return event(t, l, ret); /* it is drawn where it happened */
        ret->said = &t->said;
        return call(t, line, l, ret);
}

static bool is_of_another_trace(TextTrace *t, const EventLine *l) {
        const Step step = {
                .kind = kinds[l->kind],
                .cpu = l->has_task ? l->cpu : t->cpu,
                .pid = l->has_task ? l->pid : t->pid,
                .depth = l->depth,
                .timestamp_ns = l->timestamp_ns,
                .rettime = l->kind == EVENT_CLOSE && l->duration_ns != TEXT_UNTIMED ? l->duration_ns
                                                                                    : 0,
        };

        return text_begins_another(t, &step, TEXT_BACK_NS);
}

/* What an event of another kind says has no end that is known: it is whole. */
TextShape event_text_shape(TextTrace *t, const Line *line) {
        EventLine l;

        (void) t;
        event_line_parse(&l, line->text, line->n_text);
        return l.kind == EVENT_NONE      ? TEXT_SHAPE_NONE
               : l.kind == EVENT_DAMAGED ? TEXT_SHAPE_HALF
                                         : TEXT_SHAPE_WHOLE;
}

int event_text_next(TextTrace *t, const Line *line, Step *ret) {
        EventLine l;

        if (line->number == t->n_joined)
                return 0;
        event_line_parse(&l, line->text, line->n_text);
        switch (l.kind) {
        case EVENT_NONE:
                return text_note(t, TEXT_NOT_TRACE, line->number, line->text, line->n_text);
        case EVENT_DAMAGED:
                return text_damaged(t, line, l.problem);
        case EVENT_HEADING:
                return heading(t, &l);
        case EVENT_MORE:
                return 0;
        case EVENT_LOST:
                return text_lost(t, line, l.cpu, t->now_ns, l.number, ret);
        default:
                break;
        }
        if (l.kind >= EVENT_OPEN) {
                if (is_of_another_trace(t, &l))
                        return text_another(t, line, ret);
                text_note_time(t, l.timestamp_ns);
        }
        if (t->is_cut && l.has_task)
                return text_damaged(t, line, "it says its task, and the first call does not");
        if (!l.has_task)
                return step_of(t, line, &l, ret); /* of the task of the line before */
        (void) plain_undo(t->comm, sizeof(t->comm), l.comm, l.n_comm);
        t->cpu = l.cpu;
        t->pid = l.pid;
        return step_of(t, line, &l, ret);
}
