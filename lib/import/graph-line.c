/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One line of the kernel's function_graph text:
 *
 *      10.001234 |   1)  server-412   |   1.302 us    |      netif_rx();
 *      abstime       cpu task             duration           depth, call
 *
 * Every column is optional (tracefs's options/funcgraph-*); which there are can
 * be seen in a line.  Blanks between columns may be more or fewer than the kernel's,
 * and stand behind the line: texts are pasted.  `trace`, `trace_pipe`, perf-tools' funcgraph and `perf
 * ftrace` print the same lines.
 *
 * From left to right: each column is there if the text at hand has its shape.
 * The task's column is the only one whose content is not the kernel's: a comm may
 * hold anything.  But the column is at least 14 wide, so that the bar
 * behind it is sought from the 14th on.
 *
 * Blanks are what a text loses first on its way (mails, web pages) and gets more
 * of (quoting).  So how many there are between columns does not matter; only those
 * behind the last column do, being the depth, and if not even the bar's own two
 * are there, nobody can tell it from the line (is_depth_untold).  Of a text that lacks one of them (is_short) braces tell it.
 *
 * Source: linux 6.1 kernel/trace/trace_functions_graph.c; return values and
 * their comments of 6.5, 6.13 and 7.2: print_graph_retval() there.
 */

#include "import/text-private.h"

#define PROC_COLUMNS 14
#define PROC_COMM_MAX 15 /* "%.7s"; longer ones are of who renamed a task */
#define PROC_RENAMED_MAX 64
#define SWITCH_COMM_MAX 16
#define LATENCY_MIN 4 /* linux 3.x; 5 since 5.12 */
#define LATENCY_MAX 8
#define CPU_DIGITS_MAX 4
#define FILL_FULL "              |  "
#define FILL_MIN 6        /* so many blanks before a bar make a column of durations */
#define RULE_BLANKS_MAX 1 /* the kernel's one may be lost */
#define RULE "------------------------------------------"

/* "   10.001234 |  " */
static bool parse_abstime(Scan *s, TextLine *l) {
        Scan t = *s;
        uint64_t seconds, us;

        (void) scan_blanks(&t);
        if (!scan_number(&t, UINT64_C(10000000000), &seconds) || !scan_text(&t, ".") ||
            scan_number(&t, 999999, &us) != 6)
                return false;
        (void) scan_blanks(&t);
        if (!scan_text(&t, "|"))
                return false;
        (void) (scan_text(&t, "  ") || scan_text(&t, " "));
        l->timestamp_ns = seconds * 1000000000 + us * 1000;
        l->columns.abstime = true;
        *s = t;
        return true;
}

/*
 * What a latency tracer, or the option latency-format, prints and the plain format does not
 *
 *      # irqsoff latency trace v1.1.5 on 6.1.0
 *      # --------------------------------------------------------------------
 *      # latency: 259 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
 *      #    -----------------
 *      #    | task: bash-1507 (uid:0 nice:0 policy:0 rt_prio:0)
 *      #    -----------------
 *      #  => started at: __lock_task_sighand
 *      #  => ended at:   _raw_spin_unlock_irqrestore
 *      #                                       _-----=> irqs-off
 *      #   REL TIME      CPU  TASK/PID       ||||     DURATION                  FUNCTION CALLS
 *               3 us |   0)   bash-1507    |  d..2 |   0.351 us    |              in_task_stack();
 *
 * With display-graph, irqsoff, preemptoff, preemptirqsoff, wakeup and wakeup_rt print the lines of
 * function_graph below such a heading, and before them the time since the latency began.  Headings
 * are known by what is in them: a prompt of root's begins with a "#", too.
 *
 * Source: linux 6.1 kernel/trace/trace.c, print_trace_header(), and
 * trace_functions_graph.c, print_graph_rel_time() and __print_graph_headers_flags().
 */
static bool is_latency_heading(const Scan *s) {
        static const char *const words[] = {
                " latency trace v1.", " latency: ",         "    | task: ",    "  => started at: ",
                "  => ended at: ",    "=> irqs-off",        "=> need-resched", "=> hardirq/softirq",
                "=> preempt-depth",   "=> migrate-disable",
        };
        Scan t = *s;
        const char *p;

        if (!scan_text(&t, "#"))
                return false;
        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (scan_find(&t, words[i]))
                        return true;
        /* "# -----", "#    ||| /     delay", "#||| /" where there are no columns */
        if (scan_blanks(&t) == 0 && (t.p == t.end || *t.p != '|'))
                return false;
        p = t.p;
        while (t.p < t.end && (*t.p == '-' || *t.p == '|' || *t.p == '/' || *t.p == ' '))
                t.p++;
        return t.p - p > 3 && (t.p == t.end || scan_text(&t, "delay"));
}

/* The time before the CPU: "  12 us |   0) " */
static bool parse_latency_time(Scan *s, TextLine *l) {
        uint64_t us;
        Scan t = *s;

        (void) scan_blanks(&t);
        if (!scan_number(&t, UINT64_MAX / 1000, &us) || !scan_text(&t, " us |") ||
            !scan_like(&(Scan){ t.p, t.end }, "^9)"))
                return false;
        (void) scan_text(&t, "  ");
        l->timestamp_ns = us * 1000;
        l->columns.abstime = true;
        *s = t;
        return true;
}

/* " 15) ", as far to the right as a kernel for thousands of CPUs has it, or farther. */
static bool parse_cpu(Scan *s, TextLine *l) {
        size_t n_blanks, n_digits;
        Scan t = *s;
        uint64_t cpu;

        n_blanks = scan_blanks(&t);
        n_digits = scan_number(&t, LINE_CPU_MAX, &cpu);
        if (n_digits == 0 || n_digits > CPU_DIGITS_MAX || !scan_text(&t, ")"))
                return false;
        if (t.p < t.end && !scan_text(&t, " "))
                return false;
        l->cpu = (uint32_t) cpu;
        l->columns.cpu = true;
        n_blanks -= n_blanks > 0;
        l->columns.n_cpu_digits =
                (uint32_t) (n_blanks + n_digits <= CPU_DIGITS_MAX ? n_blanks + n_digits : n_digits);
        *s = t;
        return true;
}

/* "comm-pid" of which blanks around it were taken. */
static bool parse_task(TextTask *ret, const char *begin, const char *end, size_t n_max) {
        const char *dash = end;
        uint64_t pid;
        Scan t;

        while (begin < end && *begin == ' ')
                begin++;
        while (begin < end && end[-1] == ' ')
                end--;
        for (dash = end; dash > begin && dash[-1] != '-'; dash--)
                ;
        if (dash <= begin + 1)
                return false;
        t = (Scan){ dash, end };
        if (!scan_number(&t, LINE_PID_MAX, &pid) || t.p != end)
                return false;
        *ret = (TextTask){ begin, (uint32_t) (dash - 1 - begin), (int32_t) pid };
        /* "<idle>" in HTML is nobody's name. */
        return scan_is_comm(ret->comm, ret->n_comm, n_max) &&
               !memmem(ret->comm, ret->n_comm, "&lt;", 4);
}

static bool parse_proc(Scan *s, TextLine *l) {
        Scan t = *s;
        const char *bar;

        if (scan_left(s) >= PROC_COLUMNS + 3)
                t.p += PROC_COLUMNS;
        bar = scan_find(&t, " | ");
        if (!bar || !parse_task(&l->task, s->p, bar, PROC_COMM_MAX)) {
                /* Blanks may be lost. */
                bar = scan_find(s, " | ");
                if (!bar || !parse_task(&l->task, s->p, bar, PROC_COMM_MAX))
                        return false;
        }
        l->columns.proc = true;
        s->p = bar + 3;
        return true;
}

/* " d..1. | " */
static bool parse_latency(Scan *s, TextLine *l) {
        const char *begin = s->p + 1, *end = begin;

        if (scan_left(s) < LATENCY_MIN + 4 || *s->p != ' ' || *begin == ' ')
                return false;
        while (end<s->end && * end> ' ' && *end < 0x7f && *end != '|')
                end++;
        if (end - begin < LATENCY_MIN || end - begin > LATENCY_MAX || s->end - end < 3 ||
            memcmp(end, " | ", 3) != 0)
                return false;
        l->columns.latency = true;
        s->p = end + 3;
        return true;
}

typedef enum Found { FOUND_NOT, FOUND, FOUND_BROKEN } Found;

/* The bar behind the column of durations, and the two blanks that belong to it. */
static bool parse_bar(Scan *s, TextLine *l) {
        if (!scan_text(s, "|"))
                return false;
        if (!scan_text(s, "  ")) {
                l->is_depth_untold = s->p < s->end;
                l->columns.is_short = l->is_depth_untold && *s->p == ' ';
        }
        l->columns.duration = true;
        return true;
}

/* No number before the bar. */
static bool parse_fill(Scan *s, TextLine *l, const GraphColumns *expected) {
        bool is_column = l->columns.abstime || l->columns.cpu || l->columns.proc;
        Scan t = *s;

        if (scan_blanks(&t) < FILL_MIN && !is_column && !(expected && expected->duration))
                return false;
        if (!parse_bar(&t, l))
                return false;
        l->said.untimed = true;
        *s = t;
        return true;
}

static Found parse_duration(Scan *s, TextLine *l, const GraphColumns *expected) {
        static const char marks[] = "+!#*@$";
        char mark = ' ';
        Scan t = *s;

        if (scan_text(&t, FILL_FULL)) {
                l->columns.duration = true;
                l->said.untimed = true;
                *s = t;
                return FOUND;
        }
        (void) scan_blanks(&t);
        if (scan_left(&t) > 1 && memchr(marks, *t.p, sizeof(marks) - 1)) {
                mark = *t.p++;
                (void) scan_blanks(&t);
        }
        if (!scan_duration(&t, &l->duration_ns)) {
                if (parse_fill(s, l, expected))
                        return FOUND;
                /* The bar tells where a number should be. */
                return scan_left(s) > 17 && s->p[0] == ' ' && s->p[14] == '|' && mark == ' '
                               ? FOUND_BROKEN
                               : FOUND_NOT;
        }
        scan_blanks(&t);
        if (!parse_bar(&t, l))
                return FOUND_BROKEN;
        l->has_duration = true;
        *s = t;
        return FOUND;
}

/* "kworker/u16:3+events_unbound-4242  |", "cat-<pid>  |": what somebody has renamed, or made unreadable, if a column of
 * durations and a call follow it. */
static bool parse_renamed_proc(Scan *s, TextLine *l) {
        const char *bar = scan_find(s, "|"), *begin = s->p, *end = bar, *dash;
        TextLine drawn = {};
        TextTask task;

        if (!bar || !l->columns.cpu || memmem(begin, (size_t) (bar - begin), "&lt;", 4))
                return false;
        while (begin < end && *begin == ' ')
                begin++;
        while (end > begin && end[-1] == ' ')
                end--;
        if (!parse_task(&task, begin, end, PROC_RENAMED_MAX)) {
                dash = memrchr(begin, '-', (size_t) (end - begin));
                if (!dash || dash == begin || dash + 1 == end || dash - begin > PROC_RENAMED_MAX ||
                    memchr(dash, ' ', (size_t) (end - dash)))
                        return false;
                task = (TextTask){ begin, (uint32_t) (dash - begin), LINE_PID_UNTOLD };
        }
        graph_drawn_parse((Scan){ bar + 1, s->end }, &drawn);
        if (drawn.kind < LINE_EVENT)
                return false;
        l->task = task;
        l->columns.proc = true;
        s->p = bar + 1;
        return true;
}

static bool parse_marker(Scan *s, TextLine *l) {
        Scan t = *s;
        bool is_in;

        (void) scan_blanks(&t);
        is_in = scan_text(&t, "==========>");
        if ((!is_in && !scan_text(&t, "<==========")) ||
            (!scan_like(&t, "^|^$") && !scan_like(&t, "^$")))
                return false;
        l->kind = is_in ? LINE_IRQ_IN : LINE_IRQ_OUT;
        l->columns.duration = true;
        return true;
}

/* What is printed but for what follows a name or cannot be in one: (){};|"'= */
static const bool is_in_name[256] = {
        ['!'] = true, ['#' ... '&'] = true, ['*' ... ':'] = true,
        ['<'] = true, ['>' ... 'z'] = true, ['~'] = true,
};

bool graph_label_parse(Scan *s, TextLine *l) {
        const char *begin = s->p, *p = begin, *name_end;

        while (p < s->end && is_in_name[(unsigned char) *p])
                p++;
        if (p == begin || memchr("-<>", *begin, 3)) /* an arrow */
                return false;
        name_end = p;
        if (s->end - p >= 4 && p[0] == ' ' && p[1] == '[' && p[2] != ']') {
                for (p += 2; p<s->end && * p> ' ' && *p < 0x7f && *p != ']' && *p != '['; p++)
                        ;
                if (p == s->end || *p != ']')
                        p = name_end;
                else
                        p++;
        }
        if (p - begin > LINE_LABEL_MAX)
                return false;
        l->label = begin;
        l->n_name = (uint32_t) (name_end - begin);
        l->n_label = (uint32_t) (p - begin);
        s->p = p;
        return true;
}

/* The comment behind a call or a return: "<-caller ret=0x0". */
static bool parse_note(Scan *s, TextLine *l) {
        Scan t = *s;

        if (s->p == s->end)
                return true;
        if (scan_blanks(&t) == 0)
                return false;
        if (scan_left(&t) > 1 && (scan_text(&t, "//") || scan_text(&t, "#") || scan_text(&t, "<") ||
                                  (unsigned char) *t.p >= 0x80))
                return true; /* somebody's annotation */
        if (!scan_text(&t, "/*") || !scan_has_suffix(&t, "*/"))
                return false;
        if (!scan_has_suffix(&t, " */"))
                return true;
        l->said.note = t.p;
        l->said.n_note = (uint32_t) (scan_left(&t) - 3);
        /* "ret=0x0", "<-caller", "= 0x0" are the kernel's, and one blank before them. */
        l->is_remark = l->kind == LINE_CLOSE
                               ? t.p - s->p > 3
                               : l->said.n_note > 1 && is_letter(t.p[1]) && !scan_text(&t, " ret=");
        return true;
}

static bool parse_close(Scan *s, TextLine *l) {
        Scan t;

        l->kind = LINE_CLOSE;
        l->said.closing = CLOSING_PLAIN;
        if (!parse_note(s, l))
                return false;
        if (!l->said.note)
                return true;
        t = (Scan){ l->said.note, l->said.note + l->said.n_note };
        if (!scan_text(&t, " "))
                return false;
        if (scan_left(&t) > 0 && *t.p != ' ' && *t.p != '<' && graph_label_parse(&t, l)) {
                if (t.p < t.end && *t.p == '=' && l->n_label == 3 &&
                    memcmp(l->label, "ret", 3) == 0) {
                        l->label = NULL; /* "ret=0x0" alone */
                        return true;
                }
                (void) scan_text(&t, "()"); /* of who writes names so */
                if (t.p < t.end && !scan_like(&(Scan){ t.p, t.end }, " <") &&
                    !scan_like(&(Scan){ t.p, t.end }, " ret=") &&
                    !scan_like(&(Scan){ t.p, t.end }, " = ")) {
                        l->label = NULL; /* somebody's words */
                        return *t.p == ' ';
                }
                l->said.closing = CLOSING_NAMED;
                l->said.note = t.p;
                l->said.n_note = (uint32_t) scan_left(&t);
                return true;
        }
        l->label = NULL;
        return true;
}

/* Where the blanks before a call's comment begin; NULL: there is none. */
static const char *before_comment(const Scan *s) {
        for (Scan t = *s; (t.p = scan_find(&t, " /*")); t.p++) {
                const char *p = t.p;

                while (p > s->p && p[-1] == ' ')
                        p--;
                if (p > s->p && (p[-1] == ';' || p[-1] == '{'))
                        return p;
        }
        return NULL;
}

/* Where what somebody has written behind a call begins: "f(); // slow", "f() { <--"; or the end. */
static const char *annotation(const Scan *s) {
        static const char *const ends[] = { "); ", ") { " };
        static const char opening[] = "#<-=(!";

        for (size_t i = 0; i < ELEMENTSOF(ends); i++) {
                const char *at = scan_find(s, ends[i]);
                Scan t;

                if (!at)
                        continue;
                t = (Scan){ at + strlen(ends[i]), s->end };
                scan_blanks(&t);
                if (scan_text(&t, "//") || (scan_has_suffix(&t, "*/") && scan_text(&t, "/*")) ||
                    (scan_left(&t) > 0 &&
                     (memchr(opening, *t.p, sizeof(opening) - 1) || (unsigned char) *t.p >= 0x80)))
                        return at + strlen(ends[i]) - 1;
        }
        return s->end;
}

/* "f [m](x=1) {", "f(); // slow", with what stands behind it. */
static bool parse_call(Scan *s, TextLine *l) {
        const char *end = s->end;
        Scan t;

        if (!graph_label_parse(s, l) || !scan_text(s, "("))
                return false;
        if (scan_has_suffix(s, " */ {")) { /* trace-cmd's, which has the comment before the brace */
                end = scan_find(s, ") /*");
                if (!end)
                        return false;
                l->kind = LINE_OPEN;
                l->said.args = s->p;
                l->said.n_args = (uint32_t) (end - s->p);
                l->said.note = end + 4;
                l->said.n_note = (uint32_t) (s->end - 5 - l->said.note);
                return true;
        }
        if (scan_has_suffix(s, " */")) {
                end = before_comment(s);
                if (!end)
                        return false;
                t = (Scan){ end, s->end };
                if (!parse_note(&t, l))
                        return false;
        } else if (!scan_has_suffix(s, ");") && !scan_has_suffix(s, ") {"))
                end = annotation(s);
        l->said.args = s->p;
        if (end - s->p >= 2 && memcmp(end - 2, ");", 2) == 0) {
                l->kind = LINE_LEAF;
                l->said.n_args = (uint32_t) (end - 2 - s->p);
        } else if (end - s->p >= 3 && memcmp(end - 3, ") {", 3) == 0) {
                l->kind = LINE_OPEN;
                l->said.n_args = (uint32_t) (end - 3 - s->p);
        } else
                return false;
        return true;
}

static bool parse_comment(Scan *s, TextLine *l) {
        if (!scan_text(s, "/* ") || !scan_has_suffix(s, " */"))
                return false;
        l->kind = LINE_EVENT;
        l->text = s->p;
        l->n_text = (uint32_t) (scan_left(s) - 3);
        return true;
}

/* What is behind the columns. */
static void parse_body(Scan *s, TextLine *l, const GraphColumns *expected) {
        size_t n_blanks = scan_blanks(s);

        if (n_blanks / 2 > STEP_DEPTH_MAX)
                return line_damaged(l, "it is indented deeper than any kernel's stack");
        l->is_depth_untold |= n_blanks % 2 && expected && expected->is_short;
        l->depth = l->is_depth_untold ? 0 : (int32_t) (n_blanks / 2);
        if (n_blanks % 2 && !l->is_depth_untold)
                return line_damaged(l, "its indentation is an odd number of blanks");
        if (s->p == s->end)
                return line_damaged(l, "it ends before the call");
        if (*s->p == '}') {
                s->p++;
                if (!parse_close(s, l))
                        return line_damaged(l, "something other than a name follows the brace");
        } else if (!parse_comment(s, l) && !parse_call(s, l))
                return line_damaged(l, "it has neither a call nor a return");
}

void graph_drawn_parse(Scan s, TextLine *l) {
        static const GraphColumns expected = { .duration = true };

        if (parse_duration(&s, l, &expected) != FOUND)
                return line_damaged(l, "its duration is not a number");
        parse_body(&s, l, &expected);
}

/* What stands between calls. */
static bool parse_words(Scan s, TextLine *l) {
        static const struct {
                const char *pattern;
                TextLineKind kind;
        } words[] = {
                { "CPU:9 [LOST 9 EVENTS]$", LINE_LOST },
                { "CPU:9 [LOST EVENTS]$", LINE_LOST },
                /* kernel/trace/trace.c, test_cpu_buff_start() */
                { "##### CPU 9 buffer started ####", LINE_STARTED },
                { " (Overruns: 9)$", LINE_OVERRUNS },
        };
        uint64_t v[2] = {};

        for (size_t i = 0; i < ELEMENTSOF(words); i++)
                if (scan_read(&s, words[i].pattern, v)) {
                        l->kind = words[i].kind;
                        l->cpu = (uint32_t) v[0];
                        l->number = l->kind == LINE_OVERRUNS ? v[0] : v[1];
                        return v[0] <= (l->kind == LINE_OVERRUNS ? UINT32_MAX : LINE_CPU_MAX) ||
                               (l->kind = LINE_NONE);
                }
        return false;
}

/* The lines that print_graph_headers() makes. */
static bool is_header(const Scan *s, GraphHeading *ret) {
        Scan t = *s;

        if (!scan_text(&t, "#"))
                return false;
        *ret = GRAPH_HEADING_TRACER;
        if (scan_text(&t, " tracer: "))
                return true;
        /* "#     TIME        CPU  DURATION                  FUNCTION CALLS", and bars below it */
        if (scan_has_suffix(&t, "FUNCTION CALLS")) {
                scan_blanks(&t);
                *ret = scan_text(&t, "FUNCTION CALLS") ? GRAPH_HEADING_BARE : GRAPH_HEADING_COLUMNS;
                return true;
        }
        *ret = GRAPH_HEADING_RULE;
        for (; t.p < t.end; t.p++)
                if (*t.p != ' ' && *t.p != '|')
                        return false;
        return true;
}

/* Lines that have none of the columns, or not all. */
static bool parse_without_columns(Scan *s, TextLine *l) {
        Scan t = *s;

        if (s->p == s->end)
                l->kind = LINE_EMPTY;
        else if (scan_blanks(&t) <= RULE_BLANKS_MAX && scan_text(&t, RULE) && t.p == t.end)
                l->kind = LINE_RULE;
        else if (is_header(s, &l->heading))
                l->kind = LINE_HEADING;
        else if (is_latency_heading(s)) {
                l->heading = GRAPH_HEADING_TRACER;
                l->kind = LINE_HEADING;
        } else
                return t.p < t.end && memchr("C#(", *t.p, 3) && parse_words(*s, l);
        return true;
}

/* "  cat-123   =>   bash-9  ", behind the CPU.  A task may have an arrow in its name. */
static bool parse_switch(Scan *s, TextLine *l) {
        Scan rest = *s;
        const char *arrow;

        for (size_t i = 0; i < SWITCH_COMM_MAX && (arrow = scan_find(&rest, " => ")); i++) {
                if (parse_task(&l->task, s->p, arrow, SWITCH_COMM_MAX) &&
                    parse_task(&l->next, arrow + 4, s->end, SWITCH_COMM_MAX)) {
                        l->kind = LINE_SWITCH;
                        return true;
                }
                rest.p = arrow + 1;
        }
        return false;
}

static bool has_any(const GraphColumns *c) {
        return c->abstime || c->cpu || c->proc || c->latency || c->duration;
}

/* Where a column of durations should be, prose begins with a letter and has no bar. */
static bool is_prose(const Scan *s) {
        Scan t = *s;

        (void) scan_blanks(&t);
        return scan_left(&t) > 0 && (*t.p | 0x20) >= 'a' && (*t.p | 0x20) <= 'z' &&
               !memchr(t.p, '|', scan_left(&t));
}

/* "...", "[...]", or that in a comment: somebody has left something out. */
static bool is_mark(const Scan *s) {
        for (const char *p = s->p; p < s->end; p++)
                if (is_letter(*p) || is_digit(*p) || *p == '}')
                        return false;
        return s->p < s->end;
}

/* "ret=3D0x7", in quoted-printable, would be a 3. */
static bool is_coded(const char *text, size_t n) {
        return n > 0 && memmem(text, n, "=3D", 3);
}

void graph_line_parse(TextLine *ret, const char *text, size_t n_text,
                      const GraphColumns *expected) {
        Scan s = { text, text + n_text };
        Found duration;

        *ret = (TextLine){ .kind = LINE_NONE };
        ret->said.text = text;
        ret->said.n_text = (uint32_t) n_text;
        while (s.end > s.p && (s.end[-1] == ' ' || s.end[-1] == '\t'))
                s.end--;
        if (parse_without_columns(&s, ret))
                return;
        ret->has_time = parse_abstime(&s, ret) || parse_latency_time(&s, ret);
        if (parse_cpu(&s, ret) && !ret->columns.abstime && parse_switch(&s, ret))
                return;
        if (parse_marker(&s, ret))
                return;
        duration = parse_duration(&s, ret, expected);
        if (duration != FOUND) {
                bool proc = parse_proc(&s, ret) || parse_renamed_proc(&s, ret),
                     latency = parse_latency(&s, ret);

                if ((proc || latency) && parse_marker(&s, ret))
                        return;
                if (proc || latency)
                        duration = parse_duration(&s, ret, expected);
        }
        if (duration != FOUND && is_mark(&s))
                return;
        if (duration == FOUND_BROKEN) {
                /* "100 us: that is slow" */
                if (ret->columns.cpu || ret->columns.abstime || ret->columns.proc)
                        line_damaged(ret, "its duration is not a number");
                return;
        }
        if (duration == FOUND_NOT)
                ret->said.untimed = true;
        if (!has_any(&ret->columns) && (!expected || has_any(expected)))
                return;
        if (expected && expected->duration && duration == FOUND_NOT)
                return ret->columns.cpu == expected->cpu && ret->columns.cpu && !is_prose(&s)
                               ? line_damaged(ret, "it has no column of durations")
                               : (void) 0;
        if (is_mark(&s))
                return;
        parse_body(&s, ret, expected);
        /* "1) first item" is a list's, if nothing else says that it is a trace's. */
        if (ret->kind == LINE_DAMAGED && duration == FOUND_NOT && (!expected || !has_any(expected)))
                ret->kind = LINE_NONE;
        /* And a bar is a table's. */
        if (ret->kind == LINE_DAMAGED && !ret->has_duration && !ret->columns.cpu &&
            !ret->columns.abstime && !ret->columns.proc)
                ret->kind = LINE_NONE;
        if (_unlikely_(is_coded(ret->said.note, ret->said.n_note) ||
                       is_coded(ret->said.args, ret->said.n_args)))
                return line_damaged(ret, "its values are encoded");
        if (ret->said.note)
                ret->has_retval = scan_retval(
                        (Scan){ ret->said.note, ret->said.note + ret->said.n_note }, &ret->retval);
}
