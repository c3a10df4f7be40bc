/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each line of a call or return is a step.  Which task it is of is in the line,
 * if that has the column, else it is the one that the CPU's last change of tasks
 * has named.  What a text says of changes, and markers of interrupts, are kept for
 * the step behind them, so that they are drawn as they were.  A marker of an
 * interrupt's end belongs to the call before it, for which the next line is looked at.
 */

#include "base/array.h"
#include "import/text-private.h"

static TextCpu *text_cpu(TextTrace *t, uint32_t cpu) {
        return ARRAY_REACH(t->cpus, t->n_cpus, cpu) ? &t->cpus[cpu] : NULL;
}

static void set_task(TextCpu *cpu, const TextTask *task) {
        cpu->known = true;
        cpu->pid = task->pid;
        (void) plain_undo(cpu->comm, sizeof(cpu->comm), task->comm, task->n_comm);
}

static void keep_above(TextAbove *above, const Line *line) {
        if (above->n + line->n_text + 1 > sizeof(above->text))
                return;
        memcpy(above->text + above->n, line->text, line->n_text);
        above->n += (uint32_t) line->n_text;
        above->text[above->n++] = '\n';
}

/* A STEP_TASK if nobody knew who ran here. */
static int change_task(TextTrace *t, const Line *line, const TextLine *l, Step *ret) {
        TextCpu *cpu = text_cpu(t, l->cpu);
        int r = 0;

        if (!cpu)
                return -ENOMEM;
        t->count.n_switches++;
        t->count.n_switch_lines++;
        keep_above(&t->change, line);
        if (t->has_layout && t->layout.columns.proc && !t->layout.columns.cpu)
                return 0;
        if (!cpu->known) {
                set_task(cpu, &l->task);
                cpu->has_step = true;
                cpu->step_pid = cpu->pid;
                memcpy(t->comm, cpu->comm, sizeof(t->comm));
                *ret = (Step){ .kind = STEP_TASK,
                               .cpu = l->cpu,
                               .pid = cpu->pid,
                               .timestamp_ns = cpu->clock_ns,
                               .comm = t->comm };
                r = stacks_name_task(&t->stacks, ret);
                r = r < 0 ? r : 1;
        } else if (cpu->pid != l->task.pid)
                r = text_note(t, TEXT_TASK_MISSED, line->number, line->text, line->n_text);
        if (r >= 0)
                set_task(cpu, &l->next);
        return r;
}

/* memmem(3) begins slowly, and no line of most texts has the first byte. */
static bool has(const char *text, size_t n, const char *word) {
        const char *at = memchr(text, *word, n);

        return at && memmem(at, n - (size_t) (at - text), word, strlen(word));
}

/* The line that belongs to this one and follows it. */
static void look_ahead(TextTrace *t, const Line *line, Step *step) {
        const char *end = line->n_next > 0 ? memchr(line->next, '\n', line->n_next) : NULL;
        size_t n_next = end ? (size_t) (end - line->next) : line->n_next;
        TextLine l;
        Line next;

        if (_likely_(!has(line->next, n_next, "<===") && !has(line->next, n_next, "Overruns")) ||
            !envelope_peek(&t->envelope, line, &next))
                return;
        graph_line_parse(&l, next.text, next.n_text, &t->layout.columns);
        if (l.kind == LINE_OVERRUNS) {
                t->said.has_overrun = true;
                t->n_marked = line->number + 1;
                step->overrun = (uint32_t) l.number;
        } else if (l.kind == LINE_IRQ_OUT) {
                t->said.irq_end = true;
                t->said.end_marker = next.text;
                t->said.n_end_marker = (uint32_t) next.n_text;
                t->n_marked = line->number + 1;
        }
}

/* What stands above the step.  A change of tasks is for the next line of its CPU, which is the next
 * line of all, unless lines are missing. */
static void say_above(TextTrace *t, TextCpu *cpu, const Step *step) {
        bool has_changed = cpu->has_step && cpu->step_pid != step->pid;
        StepText *said = &t->said;

        cpu->has_step = true;
        cpu->step_pid = step->pid;
        said->n_change = TAKE(t->change.n, 0);
        said->change = said->n_change > 0 ? t->change.text : NULL;
        said->n_begin_marker = TAKE(t->marker.n, 0);
        said->begin_marker = said->n_begin_marker > 0 ? t->marker.text : NULL;
        said->cpu_untold = !t->layout.columns.cpu;
        if (said->cpu_untold)
                return;
        said->change_odd = said->change && !has_changed;
        said->change_untold = !said->change && has_changed;
}

static int step_of(TextTrace *t, const Line *line, const TextLine *l, Step *ret) {
        TextCpu *cpu = text_cpu(t, l->cpu);
        int r;

        if (!cpu)
                return -ENOMEM;
        if (!graph_columns_equal(&l->columns, &t->layout.columns) ||
            l->columns.n_cpu_digits != t->layout.columns.n_cpu_digits) {
                r = text_note(t, TEXT_COLUMNS_CHANGED, line->number, line->text, line->n_text);
                if (r < 0)
                        return r;
        }
        if (l->columns.proc)
                set_task(cpu, &l->task);
        t->said = l->said;
        t->said.line = line->number;
        *ret = (Step){
                .cpu = l->cpu,
                .pid = cpu->known ? cpu->pid : STEP_PID_UNKNOWN(l->cpu),
                .timestamp_ns = l->has_time ? l->timestamp_ns : cpu->clock_ns,
                .comm = cpu->known ? cpu->comm : "<...>",
                .said = &t->said,
        };
        say_above(t, cpu, ret);
        if (l->kind == LINE_EVENT) {
                memcpy(t->event, l->text, l->n_text);
                return text_event(t, l, l->n_text, ret);
        }
        if (l->kind != LINE_OPEN)
                look_ahead(t, line, ret);
        return text_call(t, line, l, cpu, ret);
}

/* Of lines without any column only those are tried that stand below a heading. */
static void parse(TextTrace *t, const Line *line, TextLine *ret) {
        static const GraphColumns none = {};

        graph_line_parse(ret, line->text, line->n_text,
                         t->has_layout ? &t->layout.columns
                         : t->is_bare  ? &none
                                       : NULL);
        if (_unlikely_(t->is_numbered && ret->columns.cpu))
                ret->cpu = t->list_cpu;
}

/* True if Markdown has made a list of the lines, which it numbers from the first one's CPU on: each CPU is the one
 * behind the line before it, but the calls nest as one task's do. */
static bool is_numbered_list(TextTrace *t, const Line *line, const TextLine *l) {
        int n = 0, n_nested = 0;
        TextLine before = *l;
        Line next = *line;

        for (; n < TEXT_PROBE_LINES && envelope_peek(&t->envelope, &next, &next); n++) {
                TextLine m;

                parse(t, &next, &m);
                if (m.kind < LINE_EVENT)
                        break;
                if (!m.columns.cpu || m.cpu != before.cpu + 1 ||
                    (m.kind != LINE_EVENT && before.kind != LINE_EVENT &&
                     m.depth + (m.kind == LINE_CLOSE) != before.depth + (before.kind == LINE_OPEN)))
                        return false;
                n_nested += m.depth != before.depth || m.kind == LINE_CLOSE;
                before = m;
        }
        return n >= 2 && n_nested > 0;
}

/* Behind "0) " it may be one in a program's source. */
static bool is_any_comment(const TextTrace *t, const TextLine *l) {
        const GraphColumns *c = &l->columns;

        return l->kind == LINE_EVENT && !c->abstime && !c->proc && !c->duration &&
               !t->layout.has_header && !memmem(l->text, l->n_text, ": ", 2);
}

static bool has_columns_of(const GraphColumns *all, const GraphColumns *some) {
        return all->abstime >= some->abstime && all->cpu >= some->cpu && all->proc >= some->proc &&
               all->latency >= some->latency && all->duration >= some->duration;
}

/* Where a line's time has fewer digits than the next one's, and is so much earlier as if it had lost
 * the first ones: "12.000001 |" of "5412.000001 |". */
static bool has_lost_digits(const Line *line, const TextLine *l, const Line *next,
                            const TextLine *m) {
        const char *point = memchr(line->text, '.', line->n_text);
        const char *next_point = memchr(next->text, '.', next->n_text);
        uint64_t unit_ns = 1000000000;

        if (!l->columns.abstime || !point || !next_point ||
            point - line->text >= next_point - next->text)
                return false;
        for (const char *p = point; p > line->text && p[-1] >= '0' && p[-1] <= '9'; p--)
                unit_ns *= 10;
        return m->timestamp_ns > l->timestamp_ns &&
               m->timestamp_ns - l->timestamp_ns >= unit_ns / 2;
}

/* Two calls behind it have what it has, and more, or are another tracer's, which ends its lines as
 * this one does: somebody has cut the text there. */
static bool is_torn(TextTrace *t, const Line *line, const TextLine *l) {
        const GraphColumns *c = &l->columns;
        bool is_bare = !c->abstime && !c->cpu && !c->proc;
        unsigned n = 0, n_others = 0;
        Line next = *line;

        for (int i = 0; i < TEXT_PROBE_LINES && envelope_peek(&t->envelope, &next, &next); i++) {
                TextLine m;

                parse(t, &next, &m);
                if (m.kind < LINE_EVENT) {
                        n_others += is_bare && text_is_of_another_kind(t, &next);
                        if (n_others == 2)
                                return true;
                        continue;
                }
                if (!has_columns_of(&m.columns, &l->columns) ||
                    (graph_columns_equal(&m.columns, &l->columns) &&
                     !has_lost_digits(line, l, &next, &m)))
                        return false;
                if (++n == 2)
                        return true;
        }
        return false;
}

static TextProbe probe(TextTrace *t, const Line *line, const TextLine *l) {
        if (l->kind < LINE_EVENT || is_any_comment(t, l))
                return TEXT_PROBE_FOREIGN;
        if (is_torn(t, line, l))
                return TEXT_PROBE_TORN;
        t->layout.columns = l->columns;
        t->layout.has_times = l->has_time;
        t->is_numbered = l->columns.cpu && is_numbered_list(t, line, l);
        t->list_cpu = l->cpu;
        return TEXT_PROBE_CALL;
}

/* One line with other columns may be anything, two are a text of another kind. */
static bool has_other_columns(TextTrace *t, const Line *line, const TextLine *l) {
        TextLine m;
        Line next;

        if (graph_columns_equal(&l->columns, &t->layout.columns))
                return false;
        if (t->after_talk || !envelope_peek(&t->envelope, line, &next))
                return true;
        graph_line_parse(&m, next.text, next.n_text, &l->columns);
        return m.kind >= LINE_EVENT && graph_columns_equal(&l->columns, &m.columns);
}

static void keep_heading(TextTrace *t, const Line *line) {
        if (t->has_layout || t->has_shown || t->n_heading + line->n_text + 2 > sizeof(t->heading))
                return;
        memcpy(t->heading + t->n_heading, line->text, line->n_text);
        t->n_heading += (uint32_t) line->n_text;
        t->heading[t->n_heading++] = '\n';
        t->heading[t->n_heading] = 0;
}

/* One that cannot be read is that of the CPU's task if it has the same name, else of one that has the CPU and this name. */
static int32_t find_pid(const TextTrace *t, const TextLine *l) {
        const TextCpu *cpu = l->cpu < t->n_cpus ? &t->cpus[l->cpu] : NULL;
        char comm[sizeof(cpu->comm)];

        (void) plain_undo(comm, sizeof(comm), l->task.comm, l->task.n_comm);
        return cpu && cpu->known && streq(cpu->comm, comm)
                       ? cpu->pid
                       : -1 - (int32_t) (hash_bytes(l->cpu, comm, strlen(comm)) % INT32_MAX / 2);
}

static int call_line(TextTrace *t, const Line *line, TextLine *l, Step *ret) {
        const TextCpu *cpu = l->cpu < t->n_cpus ? &t->cpus[l->cpu] : NULL;
        int32_t pid;
        int r;

        if (_unlikely_(l->columns.proc && l->task.pid == LINE_PID_UNTOLD))
                l->task.pid = find_pid(t, l);
        pid = l->columns.proc     ? l->task.pid
              : cpu && cpu->known ? cpu->pid
                                  : STEP_PID_UNKNOWN(l->cpu);
        if (t->has_layout &&
            _unlikely_(has_other_columns(t, line, l) || text_begins_another(t, l, l->cpu, pid)))
                return text_another(t, line, ret);
        r = text_go_on(t, line);
        if (r >= 0)
                r = step_of(t, line, l, ret);
        if (!l->columns.abstime)
                return r;
        text_note_time(t, l->timestamp_ns);
        if (l->cpu < t->n_cpus)
                t->cpus[l->cpu].last_ns = l->timestamp_ns;
        return r;
}

static int next_step(TextTrace *t, const Line *line, TextLine *l, Step *ret) {
        const TextCpu *cpu;

        switch (l->kind) {
        case LINE_EMPTY:
                if (!t->is_below_rule)
                        return text_note(t, TEXT_NOT_TRACE, line->number, "", 0);
                t->count.n_switch_lines++;
                keep_above(&t->change, line);
                return 0;
        case LINE_HEADING:
                if (l->heading == GRAPH_HEADING_RULE && !t->layout.has_header)
                        return text_note(t, TEXT_NOT_TRACE, line->number, line->text, line->n_text);
                if (l->heading != GRAPH_HEADING_RULE && t->has_layout)
                        return text_another(t, line, ret); /* headings are above a trace */
                t->is_bare = l->heading == GRAPH_HEADING_BARE ||
                             (t->is_bare && l->heading == GRAPH_HEADING_RULE);
                t->layout.has_header = true;
                __attribute__((fallthrough));
        case LINE_STARTED:
                t->count.n_headers++;
                keep_heading(t, line);
                if (t->has_layout)
                        keep_above(&t->change, line);
                t->layout.has_header = t->layout.has_header || !t->has_layout;
                return 0;
        case LINE_RULE:
                t->after_rule = true;
                t->count.n_switch_lines++;
                keep_above(&t->change, line);
                return 0;
        case LINE_SWITCH:
                return change_task(t, line, l, ret);
        case LINE_LOST:
                cpu = text_cpu(t, l->cpu);
                return cpu ? text_lost(t, line, l->cpu, cpu->clock_ns, l->number, ret) : -ENOMEM;
        case LINE_IRQ_IN:
                t->irq_begin = true;
                __attribute__((fallthrough));
        case LINE_IRQ_OUT:
                t->count.n_markers++;
                if (l->kind == LINE_IRQ_IN || line->number != t->n_marked)
                        keep_above(&t->marker, line);
                return 0;
        case LINE_OVERRUNS:
                t->count.n_overruns++;
                if (line->number != t->n_marked)
                        keep_above(&t->marker, line);
                return 0;
        default:
                return call_line(t, line, l, ret);
        }
}

const TextKindOps graph_text = {
        { .name = "function_graph", .key = "graph", .format = "graph", .has_columns = true },
        parse,
        probe,
        next_step
};
