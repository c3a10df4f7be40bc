/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One line of a text of events:
 *
 *      cat-412   [001] d..2.    10.001234: funcgraph_entry:        1.302 us   |      netif_rx();
 *      task      CPU   flags    time       event                    duration     depth, call
 *
 * `trace-cmd report` prints such lines of a function_graph recording, with the
 * events that were recorded beside it.  Without flags, with the latency format's
 * columns ("cat-412     1d..2.    10.001234:"), with "-0x1" instead of flags (-R), a
 * task group behind the task, nanoseconds (-t), a difference behind the time
 * (--ts-diff), the recording's name before the task (several with -i).
 *
 * A call is drawn, or said in words where its event is not drawn:
 *
 *      funcgraph_entry:      ! 129.316 us |      irq_enter_rcu(); (ret=0x0)
 *      funcgraph_entry:      --> irq_enter_rcu (2)                                         -N
 *      funcgraph_exit:       <-- irq_enter_rcu (2) (start: a105  end: a106) over: 2
 *      funcgraph_entry:      func=irq_enter_rcu depth=2                                    -R
 *      funcgraph_exit:       func=irq_enter_rcu depth=2 overrun=0 calltime=a105 rettime=a106
 *
 * Where the task ends is the only thing that is not plain to see, since a comm may
 * hold anything: at the first dash behind which a number, a CPU, a time and an event
 * follow.  What an event's text is, is the kernel's, or somebody's who wrote to
 * trace_marker, and is not looked into but of calls.
 *
 * Source: trace-cmd 3.3, tracecmd/trace-read.c, trace_show_data(), and
 * lib/trace-cmd/trace-ftrace.c; linux 6.12 kernel/trace/trace_entries.h.
 */

#include "import/text-private.h"

#define COMM_COLUMNS 16
#define COMM_COLUMNS_SHORT 8 /* the latency format's */
#define FLAGS_MAX 8
#define EVENT_NAME_MAX ((size_t) 64)

static const char *word_end(const Scan *s) {
        const char *p = s->p;

        while (s->end > p && *p > ' ' && *p < 0x7f)
                p++;
        return p;
}

/* "d..2.": interrupts off, a need to switch, in what of an interrupt, preemption off how often.
 * Source: linux 6.12 kernel/trace/trace_output.c, trace_print_lat_fmt(). */
static void parse_flags(TextLine *l, const char *p, size_t n) {
        char in = n > 2 ? p[2] : '.';

        if (in == 'h' || in == 'H' || in == 'z' || in == 'Z')
                l->flags |= 0x08;
        if (in == 's' || in == 'H' || in == 'Z')
                l->flags |= 0x10;
        if (n > 3 && p[3] >= '1' && p[3] <= '9')
                l->preempt_depth = (uint8_t) (p[3] - '0');
}

/* "[001] d..2.", "  1d..2.", and both with "-0x1". */
static bool parse_cpu(Scan *s, TextLine *l, bool *ret_short) {
        bool bracket;
        uint64_t cpu;
        size_t n;
        Scan t;

        if (scan_blanks(s) == 0)
                return false;
        bracket = scan_text(s, "[");
        if (!scan_number(s, LINE_CPU_MAX, &cpu) || (bracket && !scan_text(s, "]")))
                return false;
        l->cpu = (uint32_t) cpu;
        *ret_short = !bracket;
        t = *s;
        if (scan_blanks(&t) > 0 && !bracket)
                return false;
        n = (size_t) (word_end(&t) - t.p);
        if (n == 0 || n > FLAGS_MAX || t.p[n - 1] == ':')
                return bracket;
        if (bracket && t.p[0] >= '0' && t.p[0] <= '9')
                return true;
        parse_flags(l, t.p, n);
        s->p = t.p + n;
        return true;
}

/* "  10.001234: ", "  10.001234567: ", "  10001234567: " */
static bool parse_time(Scan *s, TextLine *l) {
        uint64_t whole, fraction = 0;
        size_t n = 0;

        (void) scan_blanks(s);
        if (!scan_number(s, UINT64_MAX, &whole))
                return false;
        if (scan_text(s, ".")) {
                n = scan_number(s, 999999999, &fraction);
                if (n == 0 || n > 9 || whole > UINT64_MAX / 1000000000 - 1)
                        return false;
                whole *= 1000000000;
                for (; n < 9; n++)
                        fraction *= 10;
        }
        l->timestamp_ns = whole + fraction;
        return scan_text(s, ": ");
}

/* All before the event, of which the task ends at @dash. */
static bool parse_place(Scan *s, TextLine *l, const char *dash) {
        size_t n = (size_t) (dash - s->p), n_columns;
        Scan t = { dash + 1, s->end };
        bool is_short;
        uint64_t pid;

        if (!scan_number(&t, LINE_PID_MAX, &pid))
                return false;
        /* A task group's, of which whoever has none has dashes. */
        (void) scan_like(&t, "^(^&)");
        if (!parse_cpu(&t, l, &is_short) || !parse_time(&t, l))
                return false;
        (void) scan_blanks(&t);
        (void) scan_like(&t, "(+9)^");
        n_columns = is_short ? COMM_COLUMNS_SHORT : COMM_COLUMNS;
        l->task.comm = n > n_columns ? dash - n_columns : s->p;
        while (l->task.comm < dash && *l->task.comm == ' ')
                l->task.comm++;
        l->task.n_comm = (uint32_t) (dash - l->task.comm);
        l->task.pid = (int32_t) pid;
        *s = t;
        return l->task.n_comm > 0 && s->p < s->end;
}

static bool find_place(Scan *s, TextLine *l) {
        const char *p = s->p;

        while (p < s->end && (p = memchr(p, '-', (size_t) (s->end - p)))) {
                if (parse_place(s, l, p))
                        return true;
                p++;
        }
        return false;
}

/* What trace-cmd says of a recording before its events, and of what is missing among them; at the line's beginning, or
 * behind the recording's name. */
static bool parse_words(const Scan *s, TextLine *l) {
        static const struct {
                const char *begin, *pattern;
                TextLineKind kind;
        } words[] = {
                { "CPU:", "CPU:9 [9 EVENTS DROPPED]$", LINE_LOST },
                { "CPU:", "CPU:9 [EVENTS DROPPED]$", LINE_LOST },
                { "cpus=", "cpus=9$", LINE_HEADING },
                { "CPU ", "CPU 9 is empty$", LINE_HEADING },
                { "version", "version = 9$", LINE_HEADING },
        };
        uint64_t v[2] = {};

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                const char *at = scan_find(s, words[i].begin);

                if (!at || (at > s->p && at[-1] != ' ') ||
                    !scan_read(&(Scan){ at, s->end }, words[i].pattern, v) ||
                    v[0] > LINE_CPU_MAX + (*at == 'c'))
                        continue;
                l->kind = words[i].kind;
                l->cpu = (uint32_t) v[0];
                l->number = l->kind == LINE_LOST ? v[1] : *at == 'c' ? v[0] : 0;
                return true;
        }
        return false;
}

/* What stands behind a call in parentheses: " (ret=0x0)", " (12)" of the plugin's option fgraph:depth */
static void take_behind(Scan *s, TextLine *l) {
        const char *at = memrchr(s->p, '(', scan_left(s));
        Scan t = { at, s->end };

        if (!at || at == s->p || at[-1] != ' ')
                return;
        if (scan_text(&t, "(ret=") && scan_value(&t, &l->retval) && scan_like(&t, ")$"))
                l->has_retval = true;
        else if (t.p != at || !scan_like(&t, "(9)$"))
                return;
        s->end = at - 1;
}

/* The comment "<-f" behind the call. */
static void take_caller(Scan *s, TextLine *l) {
        const char *at = scan_find(s, " /* <-");

        if (!at || !scan_has_suffix(s, " */"))
                return;
        l->said.note = at + 3;
        l->said.n_note = (uint32_t) (s->end - at - 6);
        s->end = at;
}

/* "! 129.316 us |      irq_enter_rcu();", ") {" of what trace-cmd knows no name */
static bool parse_drawn(Scan s, TextLine *l) {
        static const char unknown[] = "[unknown]";
        const char *bar = memchr(s.p, '|', scan_left(&s));

        if (!bar || bar - s.p > 48)
                return false;
        take_behind(&s, l);
        take_caller(&s, l);
        take_behind(&s, l);
        graph_drawn_parse(s, l);
        if (l->columns.duration && scan_like(&(Scan){ bar + 1, s.end }, "^) {$")) {
                l->kind = LINE_OPEN;
                l->label = unknown;
                l->n_label = sizeof(unknown) - 1;
        }
        if (l->kind == LINE_EVENT)
                line_damaged(l, "it has neither a call nor a return");
        if (l->kind >= LINE_OPEN && l->has_duration != (l->kind != LINE_OPEN))
                line_damaged(l, l->has_duration ? "a call that goes on has a duration"
                                                : "it has no duration");
        /* Of a return in a comment only the name is the kernel's. */
        l->said.closing = CLOSING_COMPUTED;
        if (l->said.n_note == 0)
                l->said.note = NULL;
        return true;
}

static bool take_label(Scan *s, TextLine *l) {
        return graph_label_parse(s, l) && (s->p == s->end || *s->p == ' ');
}

static bool set_times(TextLine *l, uint64_t begin_ns, uint64_t end_ns) {
        l->duration_ns = end_ns - MIN(begin_ns, end_ns);
        l->has_duration = true;
        return true;
}

/* "--> f (2)", "<-- f (2) (start: a105  end: a106) over: 2" */
static bool parse_arrow(Scan s, TextLine *l) {
        bool is_call = scan_text(&s, "--> ");
        uint64_t depth, times[2];

        if (!is_call && !scan_text(&s, "<-- "))
                return false;
        l->kind = is_call ? LINE_OPEN : LINE_CLOSE;
        if (!take_label(&s, l) || !scan_read(&s, " (9)", &depth) || depth > STEP_DEPTH_MAX)
                return line_damaged(l, "it has neither a call nor a return"), true;
        l->depth = (int32_t) depth;
        if (!is_call && !scan_read(&s, " (start: % ^end: %)", times))
                return line_damaged(l, "it has no duration"), true;
        return is_call || set_times(l, times[0], times[1]);
}

/* "func=f depth=2 overrun=0 calltime=a105 rettime=a106" */
static bool parse_fields(Scan s, TextLine *l, bool is_call) {
        uint64_t depth, begin, end;

        if (!scan_text(&s, "func="))
                return false;
        l->kind = is_call ? LINE_OPEN : LINE_CLOSE;
        if (!take_label(&s, l) || !scan_read(&(Scan){ s.p, s.end }, "* depth=9", &depth) ||
            depth > STEP_DEPTH_MAX)
                return line_damaged(l, "it has neither a call nor a return"), true;
        l->depth = (int32_t) depth;
        l->has_retval = scan_read(&(Scan){ s.p, s.end }, "* retval=0x%", &l->retval) ||
                        scan_read(&(Scan){ s.p, s.end }, "* retval=%", &l->retval);
        if (is_call)
                return true;
        if (!scan_read(&(Scan){ s.p, s.end }, "* calltime=%", &begin) ||
            !scan_read(&(Scan){ s.p, s.end }, "* rettime=%", &end))
                return line_damaged(l, "it has no duration"), true;
        return set_times(l, begin, end);
}

/* What a terminal pads its lines with. */
static void drop_blanks(Scan *s) {
        size_t n = scan_left(s);

        while (n > 0 && (s->p[n - 1] == ' ' || s->p[n - 1] == '\t'))
                n--;
        s->end = s->p + n;
}

/* Calls are "funcgraph_entry", "funcgraph_exit", "fgraph_retaddr_entry". */
static void parse_event(Scan *s, TextLine *l) {
        const char *end = memchr(s->p, ':', MIN(scan_left(s), EVENT_NAME_MAX));
        Scan name, t;
        bool is_call;

        l->text = s->p;
        l->n_text = (uint32_t) scan_left(s);
        if (!end && word_end(s) == s->end)
                return line_damaged(l, "it ends before the event");
        if (!end || end == s->p || word_end(s) <= end)
                return;
        l->kind = LINE_EVENT;
        name = (Scan){ s->p, end };
        is_call = scan_has_suffix(&name, "_entry");
        if ((!is_call && !scan_has_suffix(&name, "_exit")) || !scan_find(&name, "graph_"))
                return;
        t = (Scan){ end + 1, s->end };
        drop_blanks(&t);
        if (parse_drawn(t, l))
                return;
        (void) scan_blanks(&t);
        l->is_spelled = true;
        if (!parse_arrow(t, l) && !parse_fields(t, l, is_call))
                line_damaged(l, "it has neither a call nor a return");
}

void event_line_parse(TextLine *ret, const char *text, size_t n_text) {
        Scan s = { text, text + n_text };

        *ret = (TextLine){ .kind = LINE_NONE };
        if (find_place(&s, ret)) {
                ret->has_time = true;
                return parse_event(&s, ret);
        }
        *ret = (TextLine){ .kind = LINE_NONE };
        drop_blanks(&s);
        if (parse_words(&s, ret))
                return;
        (void) scan_text(&s, "\t");
        if (scan_blanks(&s) < 8 && scan_text(&s, "=> ")) /* of a stack */
                ret->kind = LINE_EMPTY;
}

/* --- steps ---------------------------------------------------------------------------------- */

/*
 * Each event is a step, at its own time.  A call whose event was not drawn is a leaf
 * if the next line is its return, as where it was drawn: so both are the same calls,
 * drawn alike.
 *
 * The events of several recordings (-i, instances) are one text in the order of time;
 * their tasks are told apart by their numbers alone.
 */

static void parse(TextTrace *t, const Line *line, TextLine *ret) {
        event_line_parse(ret, line->text, line->n_text);
}

static TextProbe probe(TextTrace *t, const Line *line, const TextLine *l) {
        GraphColumns *columns = &t->layout.columns;

        if (l->kind == LINE_HEADING || l->kind == LINE_LOST)
                return TEXT_PROBE_HEADING;
        if (l->kind < LINE_OPEN)
                return TEXT_PROBE_FOREIGN;
        columns->cpu = columns->duration = true;
        columns->n_cpu_digits = MAX(columns->n_cpu_digits, (uint32_t) count_digits(l->cpu));
        t->layout.has_header = t->layout.has_times = true;
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

/* True if the next line is the return of @l; @ret: it. */
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
        int r;

        switch (l->kind) {
        case LINE_HEADING:
                t->count.n_headers++;
                if (l->number > 0)
                        t->layout.columns.n_cpu_digits = (uint32_t) count_digits(l->number - 1);
                return 0;
        case LINE_EMPTY:
                return 0;
        case LINE_LOST:
                return text_lost(t, line, l->cpu, t->now_ns, l->number, ret);
        default:
                break;
        }
        if (l->kind >= LINE_OPEN) {
                if (text_begins_another(t, l, l->cpu, l->task.pid))
                        return text_another(t, line, ret);
                text_note_time(t, l->timestamp_ns);
        }
        r = text_go_on(t, line);
        if (r < 0)
                return r;
        (void) plain_undo(t->comm, sizeof(t->comm), l->task.comm, l->task.n_comm);
        *ret = (Step){
                .cpu = l->cpu,
                .pid = l->task.pid,
                .comm = t->comm,
                .timestamp_ns = l->timestamp_ns,
        };
        /* An event is drawn where it happened. */
        return l->kind == LINE_EVENT ? event(t, l, ret) : call(t, line, l, ret);
}

const TextKindOps event_text = {
        { .name = "trace-cmd report", .key = "events", .format = "graph", .has_columns = true },
        parse,
        probe,
        next_step
};
