/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One line of a SystemTap script that prints thread_indent():
 *
 *         117 client(16140):      -> udp_sendmsg
 *      microseconds, task, depth, direction, function
 *
 * A script that prints no blank around the arrow ("->f args", as
 * para-callgraph.stp does) is understood, too; what follows the function is its
 * arguments or its return value.
 *
 * A comm may hold anything, an arrow and a colon, too; so the "):" before the arrow is looked for
 * that is followed by blanks and an arrow.
 *
 * Source: SystemTap 4.8, tapset/indent.stp.
 */

#include "import/text-private.h"

#define COMM_MAX 15

/* "(16140" up to @end. */
static bool ends_with_tid(const char *begin, const char *end) {
        const char *p = end;

        while (p > begin && p[-1] >= '0' && p[-1] <= '9')
                p--;
        return p < end && p > begin && p[-1] == '(';
}

/* Where "):" is with only blanks between it and an arrow; NULL: nowhere.  The first one behind a
 * task's number, or, without one, the last. */
static const char *find_colon(const Scan *s, TextLineKind *ret_kind, const char **ret_arrow) {
        const char *found = NULL;

        for (const char *p = s->p; (p = memmem(p, (size_t) (s->end - p), "):", 2)); p += 2) {
                Scan t = { p + 2, s->end };

                while (t.p < t.end && (*t.p == ' ' || *t.p == '\t'))
                        t.p++;
                if (scan_left(&t) < 2 || (memcmp(t.p, "->", 2) != 0 && memcmp(t.p, "<-", 2) != 0))
                        continue;
                *ret_kind = *t.p == '-' ? LINE_OPEN : LINE_CLOSE;
                *ret_arrow = t.p;
                found = p;
                if (ends_with_tid(s->p, p))
                        break;
        }
        return found;
}

/* "netlbl_sock_setat=", of a mailer, "sys_closeroot@host:/root#", "f</pre>", "f[/code]", "f```"; but not "A::operator==". */
static bool is_broken_name(const char *begin, const char *end) {
        const char *p = begin;

        while (p < end && !memchr("/`{]\"", *p, 5))
                p++;
        return end > begin && (p < end || end[-1] == '=') &&
               !memmem(begin, (size_t) (end - begin), "operator", 8);
}

static bool parse_task(TextLine *l, const char *begin, const char *end) {
        const char *paren = end;
        uint64_t tid;
        Scan t;

        while (paren > begin && paren[-1] != '(')
                paren--;
        if (paren <= begin + 1)
                return false;
        t = (Scan){ paren, end };
        if (!scan_number(&t, LINE_PID_MAX, &tid) || t.p != end)
                return false;
        l->task.comm = begin;
        l->task.n_comm = (uint32_t) (paren - 1 - begin);
        l->task.pid = (int32_t) tid;
        return scan_is_comm(l->task.comm, l->task.n_comm, COMM_MAX);
}

/* "10 ftp(7223):    ", which was broken before the arrow */
static void parse_beginning(TextLine *l, Scan s) {
        while (s.end > s.p && s.end[-1] == ' ')
                s.end--;
        if (scan_like(&s, "9 ") && scan_has_suffix(&s, "):") && ends_with_tid(s.p, s.end - 2))
                line_damaged(l, "it ends before the arrow");
}

void indent_line_parse(TextLine *ret, const char *text, size_t n_text) {
        const char *colon, *arrow, *begin;
        Scan s = { text, text + n_text };
        TextLineKind kind;
        size_t n_digits, depth;
        uint64_t us;

        *ret = (TextLine){ .kind = LINE_NONE };
        (void) scan_blanks(&s);
        colon = find_colon(&s, &kind, &arrow);
        if (!colon)
                return parse_beginning(ret, s);
        n_digits = scan_number(&s, UINT64_MAX / 1000000, &us);
        if (n_digits == 0 || !scan_text(&s, " "))
                return line_damaged(ret, "it does not begin with a number of microseconds");
        /* It is a line's number, and the microseconds are behind it. */
        if (scan_like(&(Scan){ s.p, colon }, " ") || scan_like(&(Scan){ s.p, colon }, "9 "))
                return line_damaged(ret, "there are two numbers before the task");
        if (!parse_task(ret, s.p, colon))
                return line_damaged(ret, "there is no task before the colon");
        depth = (size_t) (arrow - colon - 2);
        if (memchr(colon, '\t', depth + 2))
                return line_damaged(ret, "it is indented with tabs, and nobody knows how wide");
        s.p = arrow + 2;
        if (scan_blanks(&s) > 0 &&
            depth > 0) /* of which one is the script's, unless blanks are lost */
                depth--;
        if (depth > STEP_DEPTH_MAX)
                return line_damaged(ret, "it is indented deeper than any kernel's stack");
        begin = s.p;
        while (scan_left(&s) > 0 && *s.p > ' ' && *s.p < 0x7f && *s.p != '(')
                s.p++;
        if (is_broken_name(begin, s.p))
                return line_damaged(ret, "its name is broken");
        if (s.p == begin || s.p - begin > LINE_LABEL_MAX)
                return line_damaged(ret, "there is no function behind the arrow");
        ret->kind = kind;
        ret->timestamp_ns = us * 1000;
        ret->depth = (int32_t) depth;
        ret->label = begin;
        ret->n_label = (uint32_t) (s.p - begin);
        ret->said.args = s.p;
        ret->said.n_args = (uint32_t) scan_left(&s);
}

/* --- steps ---------------------------------------------------------------------------------- */

/*
 * What thread_indent() does is done again, so as to know what it would print:
 * for each thread a counter of open calls, from which the indentation follows,
 * and the time at which the counter was 0, since which microseconds are counted.
 * Where a line says something else, lines are missing, and the counter is set
 * anew.  Each return has a name, so that calls are matched by that.
 *
 * Times of different threads are related by nothing but the order of lines: an
 * outermost call begins when the latest line before it was printed.
 *
 * Source: SystemTap 4.8, tapset/indent.stp.
 */

#define FLAT_LINES_MAX 256

static void set_time(TextTrace *t, Stack *stack, const TextLine *l) {
        uint64_t since_ns = l->timestamp_ns;

        if (stack->counter == 0 || stack->base_ns + since_ns < stack->last_ns)
                stack->base_ns = t->now_ns - MIN(t->now_ns, since_ns);
        stack->last_ns = stack->base_ns + since_ns;
        t->now_ns = MAX(t->now_ns, stack->last_ns);
}

/* The counter before this line; -1 is one that an unmatched return has left behind. */
static bool set_counter(Stack *stack, const TextLine *l) {
        int32_t printed = stack->counter - (l->kind == LINE_CLOSE);

        if (MAX(printed, 0) == l->depth)
                return true;
        stack->counter = l->depth + (l->kind == LINE_CLOSE);
        return false;
}

static int call(TextTrace *t, Stack *stack, const Line *line, TextLine *l, Step *ret,
                bool is_expected) {
        uint32_t n = stack->n;
        int r = 0;

        if (is_expected && n > 0)
                l->depth = stack->frames[n - 1].depth + 1;
        while (n > 0 && stack->frames[n - 1].depth >= l->depth)
                n--;
        if (!is_expected && n == 0 && l->depth > 0 && stack->floor != INT32_MAX)
                r = text_note(t, TEXT_LEVEL_MISSING, line->number, ret->function->label,
                              ret->function->n_label);
        while (r >= 0 && stack->n > n)
                r = text_note_frame(t, &stack->frames[--stack->n]);
        if (r < 0)
                return r;
        if (l->depth > STEP_DEPTH_MAX)
                return text_damaged(t, line, "more calls are open than any kernel's stack holds");
        stack->counter++;
        return text_call(t, line, l, NULL, ret);
}

static int leave(TextTrace *t, Stack *stack, const Line *line, TextLine *l, Step *ret) {
        uint32_t i = stack->n;
        int r;

        stack->counter--;
        while (i > 0 && stack->frames[i - 1].function != ret->function)
                i--;
        if (i > 0) {
                l->depth = stack->frames[i - 1].depth;
                l->has_duration = true;
                l->duration_ns =
                        ret->timestamp_ns - MIN(stack->frames[i - 1].start_ns, ret->timestamp_ns);
                return text_call(t, line, l, NULL, ret);
        }
        ret->kind = STEP_LEAVE;
        ret->depth = l->depth;
        t->count.n_close++;
        t->said.untimed = true;
        r = text_note_return(t, stack, NULL, ret, line->number);
        stack->floor = MIN(stack->floor, ret->depth);
        return r < 0 ? r : 1;
}

/* True if all lines from here on are as deep as this one, as far as can be seen. */
static bool is_level(TextTrace *t, const Line *line, const TextLine *first) {
        Line next = *line;

        for (int i = 0; i < FLAT_LINES_MAX && envelope_peek(&t->envelope, &next, &next); i++) {
                TextLine l;

                indent_line_parse(&l, next.text, next.n_text);
                if (l.kind >= LINE_OPEN && l.depth != first->depth)
                        return false;
        }
        return true;
}

/* Nesting is told by arrows alone where blanks were lost, or in scripts that print a thread's time
 * and not thread_indent(): there are calls inside calls, and all lines are equally deep. */
static void find_flatness(TextTrace *t, const Stack *stack, const Line *line, const TextLine *l) {
        if (t->level < 0)
                t->level = l->depth;
        if (l->depth != t->level)
                t->is_indented = true;
        if (t->is_indented)
                t->layout.is_flat = false;
        else if (!t->layout.is_flat && l->kind == LINE_OPEN && stack->n > 0)
                t->layout.is_flat = is_level(t, line, l);
}

static void parse(TextTrace *t, const Line *line, TextLine *ret) {
        indent_line_parse(ret, line->text, line->n_text);
}

static TextProbe probe(TextTrace *t, const Line *line, const TextLine *l) {
        if (l->kind < LINE_OPEN)
                return TEXT_PROBE_FOREIGN;
        t->level = -1;
        t->is_indented = false;
        return TEXT_PROBE_CALL;
}

static int next_step(TextTrace *t, const Line *line, TextLine *l, Step *ret) {
        bool is_expected;
        Stack *stack;
        int r;

        if (text_begins_another(t, l, 0, l->task.pid))
                return text_another(t, line, ret);
        r = text_go_on(t, line);
        if (r < 0)
                return r;
        (void) plain_undo(t->comm, sizeof(t->comm), l->task.comm, l->task.n_comm);
        *ret = (Step){
                .pid = l->task.pid,
                .comm = t->comm,
                .function = text_function(t, l),
                .said = &t->said,
        };
        if (!ret->function)
                return text_no_function(t, line);
        stack = stacks_get(&t->stacks, ret);
        if (!stack)
                return -ENOMEM;
        find_flatness(t, stack, line, l);
        if (t->layout.is_flat) {
                stack->counter = (int32_t) stack->n;
                l->depth = MAX(stack->counter - (l->kind == LINE_CLOSE), 0);
        }
        if (line->is_tabbed && MAX(stack->counter - (l->kind == LINE_CLOSE), 0) != l->depth)
                return text_damaged(t, line, "it is indented with tabs, and nobody knows how wide");
        is_expected = set_counter(stack, l);
        set_time(t, stack, l);
        t->said = l->said;
        t->said.line = line->number;
        t->said.text = line->text;
        t->said.n_text = (uint32_t) line->n_text;
        t->said.is_indented = true;
        ret->timestamp_ns = stack->last_ns;
        return l->kind == LINE_OPEN ? call(t, stack, line, l, ret, is_expected)
                                    : leave(t, stack, line, l, ret);
}

const TextKindOps indent_text = {
        { .name = "SystemTap's thread_indent()", .key = "indent", .format = "indent" },
        parse,
        probe,
        next_step
};
