/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each line of a call or return is a step.  Which task it is of is in the line,
 * if that has the column, else it is the one that the CPU's last change of tasks
 * has named.  Where lines say the task and not the CPU, nobody can tell whose
 * change comes next, so the ones in the text are kept for the step behind them.  A marker of an interrupt belongs to the call behind or before it,
 * for which the beginning of the next line is looked at.
 */

#include "import/graph-line.h"
#include "import/scan.h"
#include "import/text-trace-private.h"

/* A kernel that has stamped a return before its call prints such a duration. */
#define IS_NONSENSE(ns) ((ns) > (uint64_t) INT64_MAX)

static TextCpu *text_cpu(TextTrace *t, uint32_t cpu) {
        if (_unlikely_(cpu >= t->n_cpus)) {
                size_t n = MAX((size_t) cpu + 1, t->n_cpus * 2);
                TextCpu *p = realloc(t->cpus, n * sizeof(*p));

                if (!p)
                        return NULL;
                memset(p + t->n_cpus, 0, (n - t->n_cpus) * sizeof(*p));
                t->cpus = p;
                t->n_cpus = n;
        }
        return &t->cpus[cpu];
}

static void set_task(TextCpu *cpu, const GraphTask *task) {
        size_t n = MIN((size_t) task->n_comm, sizeof(cpu->comm) - 1);

        cpu->known = true;
        cpu->pid = task->pid;
        memcpy(cpu->comm, task->comm, n);
        cpu->comm[n] = 0;
}

static bool is_task(const TextCpu *cpu, const GraphTask *task) {
        return cpu->known && cpu->pid == task->pid;
}

static void keep_change(TextTrace *t, const Line *line, uint32_t cpu) {
        t->change_cpu = cpu;
        t->n_change = (uint32_t) MIN(line->n_text, sizeof(t->change));
        memcpy(t->change, line->text, t->n_change);
}

static bool is_cpu_untold(const GraphColumns *c) {
        return c->proc && !c->cpu;
}

/* A STEP_TASK if nobody knew who ran here. */
static int change_task(TextTrace *t, const Line *line, const GraphLine *l, Step *ret) {
        TextCpu *cpu = text_cpu(t, l->cpu);
        int r = 0;

        if (!cpu)
                return -ENOMEM;
        t->count.n_switches++;
        t->count.n_switch_lines++;
        keep_change(t, line, l->cpu);
        if (t->has_layout && is_cpu_untold(&t->layout.columns))
                return 0;
        if (!cpu->known) {
                set_task(cpu, &l->task);
                memcpy(t->comm, cpu->comm, sizeof(t->comm));
                *ret = (Step){ .kind = STEP_TASK,
                               .cpu = l->cpu,
                               .pid = cpu->pid,
                               .timestamp_ns = cpu->clock_ns,
                               .comm = t->comm };
                r = stacks_name_task(t->stacks, ret);
                r = r < 0 ? r : 1;
        } else if (!is_task(cpu, &l->task))
                r = text_note(t, TEXT_TASK_MISSED, line->number, line->text, line->n_text);
        if (r >= 0)
                set_task(cpu, &l->next);
        return r;
}

static int lost(TextTrace *t, const Line *line, const GraphLine *l, Step *ret) {
        int r = text_note(t, TEXT_LOSS, line->number, line->text, line->n_text);
        TextCpu *cpu = text_cpu(t, l->cpu);

        t->count.n_losses++;
        t->count.n_lost += l->number;
        if (r < 0 || !cpu)
                return -ENOMEM;
        *ret = (Step){
                .kind = STEP_LOST, .cpu = l->cpu, .timestamp_ns = cpu->clock_ns, .n_lost = l->number
        };
        return 1;
}

static int call(TextTrace *t, const Line *line, const GraphLine *l, TextCpu *cpu, Stack *stack,
                Step *ret) {
        Frame *caller;
        int r = text_make_way(t, stack, line, ret);

        stack->floor = MIN(stack->floor, ret->depth);
        t->count.max_depth = MAX(t->count.max_depth, ret->depth);
        if (r < 0)
                return r;
        t->said.irq_begin = TAKE(t->irq_begin, false);
        if (l->kind == GRAPH_OPEN) {
                t->count.n_open++;
                r = text_push(stack, ret, line->number);
                return r < 0 ? r : 1;
        }
        t->count.n_leaf++;
        ret->kind = STEP_LEAF;
        ret->calltime = ret->timestamp_ns;
        ret->rettime = ret->calltime + l->duration_ns;
        if (IS_NONSENSE(l->duration_ns))
                return 1;
        cpu->clock_ns += l->duration_ns;
        caller = stack_caller(stack, ret->depth);
        if (caller)
                caller->below_ns += l->duration_ns;
        return 1;
}

static void set_return_times(const GraphLine *l, TextCpu *cpu, Stack *stack, const Frame *frame,
                             Step *ret) {
        uint64_t duration_ns = l->duration_ns;
        Frame *caller = stack_caller(stack, ret->depth);

        if (!l->has_duration && l->columns.abstime && frame)
                duration_ns = ret->timestamp_ns - MIN(frame->start_ns, ret->timestamp_ns);
        if (l->columns.abstime)
                ret->calltime = ret->timestamp_ns - MIN(duration_ns, ret->timestamp_ns);
        else if (frame)
                ret->calltime = frame->start_ns;
        else
                ret->calltime = cpu->clock_ns - MIN(duration_ns, cpu->clock_ns);
        ret->rettime = ret->calltime + duration_ns;
        if (IS_NONSENSE(duration_ns))
                return;
        if (!l->columns.abstime) {
                cpu->clock_ns = MAX(cpu->clock_ns, ret->rettime);
                ret->timestamp_ns = cpu->clock_ns;
        }
        if (caller)
                caller->below_ns += duration_ns;
}

static int leave(TextTrace *t, const Line *line, const GraphLine *l, TextCpu *cpu, Stack *stack,
                 Step *ret) {
        Frame ended, *frame;
        int r;

        ret->kind = STEP_LEAVE;
        t->count.n_close++;
        r = text_end_call(t, stack, ret, &ended);
        if (r < 0)
                return r;
        frame = r > 0 ? &ended : NULL;
        set_return_times(l, cpu, stack, frame, ret);
        r = text_note_return(t, stack, frame, ret, line->number);
        stack->floor = MIN(stack->floor, ret->depth);
        return r < 0 ? r : 1;
}

/* Where blanks are lost, calls nest as their braces do. */
static int32_t depth_of_braces(const GraphLine *l, const Stack *stack) {
        int32_t open = stack->n > 0 ? stack->frames[stack->n - 1].depth : -1;

        if (l->kind != GRAPH_CLOSE)
                return MIN(open + 1, STEP_DEPTH_MAX);
        if (open >= 0)
                return open;
        return stack->floor > 0 && stack->floor != INT32_MAX ? stack->floor - 1 : 0;
}

/* The lines that belong to this one and follow it. */
static void look_ahead(TextTrace *t, const Line *line, Step *step) {
        const char *end = line->n_next > 0 ? memchr(line->next, '\n', line->n_next) : NULL;
        Scan s = { line->next, end ?: line->next + line->n_next };
        uint64_t n;

        t->said.irq_end = memchr(s.p, '<', scan_left(&s)) && scan_find(&s, "<==========");
        if (scan_text(&s, " (Overruns: ") && scan_number(&s, UINT32_MAX, &n)) {
                t->said.has_overrun = true;
                step->overrun = (uint32_t) n;
        }
}

static int event(TextTrace *t, const GraphLine *l, Step *ret) {
        t->count.n_comments++;
        ret->kind = STEP_OTHER;
        memcpy(t->event, l->text, l->n_text);
        t->event[l->n_text] = 0;
        ret->text = t->event;
        return 1;
}

static bool are_columns_equal(const GraphColumns *a, const GraphColumns *b) {
        return a->abstime == b->abstime && a->cpu == b->cpu && a->proc == b->proc &&
               a->latency == b->latency && a->duration == b->duration &&
               a->n_cpu_digits == b->n_cpu_digits;
}

static int step_of(TextTrace *t, const Line *line, const GraphLine *l, Step *ret) {
        TextCpu *cpu = text_cpu(t, l->cpu);
        Stack *stack;
        int r;

        if (!cpu)
                return -ENOMEM;
        if (!are_columns_equal(&l->columns, &t->layout.columns)) { /* only the CPU's width */
                r = text_note(t, TEXT_COLUMNS_CHANGED, line->number, line->text, line->n_text);
                if (r < 0)
                        return r;
        }
        if (l->columns.proc)
                set_task(cpu, &l->task);
        t->said = l->said;
        t->said.line = line->number;
        t->said.cpu_untold = is_cpu_untold(&l->columns);
        if (t->n_change > 0 && (t->said.cpu_untold || t->change_cpu == l->cpu)) {
                t->said.change = t->change;
                t->said.n_change = t->n_change;
        }
        t->n_change = 0;
        *ret = (Step){
                .kind = STEP_ENTER,
                .cpu = l->cpu,
                .pid = cpu->known ? cpu->pid : STEP_PID_UNKNOWN(l->cpu),
                .depth = l->depth,
                .timestamp_ns = l->columns.abstime ? l->timestamp_ns : cpu->clock_ns,
                .comm = cpu->known ? cpu->comm : "<...>",
                .said = &t->said,
        };
        if (l->kind == GRAPH_COMMENT)
                return event(t, l, ret);
        if (l->label) {
                ret->function = labels_get(t->labels, l->label, l->n_label, l->n_name);
                if (!ret->function)
                        return labels_n(t->labels) < LABELS_MAX
                                       ? -ENOMEM
                                       : text_damaged(t, line,
                                                      "more functions than any kernel has");
        }
        ret->has_retval =
                l->said.note && graph_note_retval(l->said.note, l->said.n_note, &ret->retval);
        stack = stacks_get(t->stacks, ret);
        if (!stack)
                return -ENOMEM;
        if (l->is_depth_untold)
                ret->depth = depth_of_braces(l, stack);
        if (l->kind != GRAPH_OPEN)
                look_ahead(t, line, ret);
        return l->kind == GRAPH_CLOSE ? leave(t, line, l, cpu, stack, ret)
                                      : call(t, line, l, cpu, stack, ret);
}

/* Of lines without any column only those are tried that stand below a heading. */
static const GraphColumns *expected(const TextTrace *t) {
        static const GraphColumns none = {};

        return t->has_layout ? &t->layout.columns : t->is_bare ? &none : NULL;
}

TextProbe graph_text_probe(TextTrace *t, const Line *line) {
        GraphLine l;

        graph_line_parse(&l, line->text, line->n_text, expected(t));
        if (l.kind < GRAPH_OPEN)
                return TEXT_PROBE_FOREIGN;
        t->layout.columns = l.columns;
        t->layout.has_times = l.columns.abstime;
        return TEXT_PROBE_CALL;
}

static bool has_same_columns(const GraphColumns *a, const GraphColumns *b) {
        return a->abstime == b->abstime && a->cpu == b->cpu && a->proc == b->proc &&
               a->latency == b->latency && a->duration == b->duration;
}

/* One line with other columns may be anything, two are a text of another kind. */
static bool has_other_columns(TextTrace *t, const Line *line, const GraphLine *l) {
        GraphLine m;
        Line next;

        if (has_same_columns(&l->columns, &t->layout.columns))
                return false;
        if (t->after_talk || !envelope_peek(t->envelope, line, &next))
                return true;
        graph_line_parse(&m, next.text, next.n_text, &l->columns);
        return m.kind >= GRAPH_OPEN && has_same_columns(&l->columns, &m.columns);
}

/* Clocks of several CPUs are not quite the same, one CPU's goes on. */
static bool has_gone_back(TextTrace *t, const GraphLine *l) {
        const TextCpu *cpu;

        if (!l->columns.abstime)
                return false;
        if (t->after_talk && l->timestamp_ns < t->latest_ns)
                return true;
        cpu = l->cpu < t->n_cpus ? &t->cpus[l->cpu] : NULL;
        return cpu && l->timestamp_ns + TEXT_BACK_NS < cpu->last_ns;
}

static void note_time(TextTrace *t, const GraphLine *l) {
        t->latest_ns = MAX(t->latest_ns, l->timestamp_ns);
        if (l->cpu < t->n_cpus)
                t->cpus[l->cpu].last_ns = l->timestamp_ns;
}

static void keep_heading(TextTrace *t, const Line *line) {
        if (t->has_layout || t->has_shown || t->n_heading + line->n_text + 2 > sizeof(t->heading))
                return;
        memcpy(t->heading + t->n_heading, line->text, line->n_text);
        t->n_heading += (uint32_t) line->n_text;
        t->heading[t->n_heading++] = '\n';
        t->heading[t->n_heading] = 0;
}

static int call_line(TextTrace *t, const Line *line, const GraphLine *l, Step *ret) {
        int r;

        if (t->has_layout && _unlikely_(has_other_columns(t, line, l) || has_gone_back(t, l))) {
                r = text_another(t, line);
                return r < 0 ? r : text_take_line(t, line, ret);
        }
        r = step_of(t, line, l, ret);
        if (l->columns.abstime)
                note_time(t, l);
        return r;
}

static int graph_line(TextTrace *t, const Line *line, const GraphLine *l, Step *ret) {
        bool after_rule = TAKE(t->after_rule, false);

        switch (l->kind) {
        case GRAPH_OTHER:
                return text_note(t, TEXT_NOT_TRACE, line->number, line->text, line->n_text);
        case GRAPH_BLANK:
                t->count.n_switch_lines += after_rule;
                return after_rule ? 0 : text_note(t, TEXT_NOT_TRACE, line->number, "", 0);
        case GRAPH_DAMAGED:
                return text_damaged(t, line, l->problem);
        case GRAPH_HEADER:
                if (l->heading == GRAPH_HEADING_RULE && !t->layout.has_header)
                        return text_note(t, TEXT_NOT_TRACE, line->number, line->text, line->n_text);
                t->is_bare = l->heading == GRAPH_HEADING_BARE ||
                             (t->is_bare && l->heading == GRAPH_HEADING_RULE);
                t->layout.has_header = true;
                __attribute__((fallthrough));
        case GRAPH_STARTED:
                t->count.n_headers++;
                keep_heading(t, line);
                t->layout.has_header = t->layout.has_header || !t->has_layout;
                return 0;
        case GRAPH_RULE:
                t->after_rule = true;
                t->count.n_switch_lines++;
                return 0;
        case GRAPH_SWITCH:
                return change_task(t, line, l, ret);
        case GRAPH_LOST:
                return lost(t, line, l, ret);
        case GRAPH_IRQ_IN:
                t->irq_begin = true;
                t->count.n_markers++;
                return 0;
        case GRAPH_IRQ_OUT:
                t->count.n_markers++;
                return 0;
        case GRAPH_OVERRUNS:
                t->count.n_overruns++;
                return 0;
        default:
                return call_line(t, line, l, ret);
        }
}

TextShape graph_text_shape(TextTrace *t, const Line *line) {
        GraphLine l;

        graph_line_parse(&l, line->text, line->n_text, expected(t));
        if (l.kind != GRAPH_DAMAGED && l.kind != GRAPH_OTHER)
                return TEXT_SHAPE_WHOLE;
        return l.columns.abstime || l.columns.cpu || l.columns.proc || l.has_duration ||
                               l.columns.duration
                       ? TEXT_SHAPE_HALF
                       : TEXT_SHAPE_NONE;
}

int graph_text_next(TextTrace *t, const Line *line, Step *ret) {
        GraphLine l;

        graph_line_parse(&l, line->text, line->n_text, expected(t));
        return graph_line(t, line, &l, ret);
}
