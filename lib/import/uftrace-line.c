/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One line that "uftrace replay" prints:
 *
 *      # DURATION     TID     FUNCTION
 *         1.302 us [  4422] |   netif_rx(1, "lo") = 0;
 *      duration    thread       depth, call
 *
 * Which fields there are, and in which order, is an option (-f), and told by the
 * heading: also the time, the address, the task, the module, and two more that look
 * like durations.  An opening brace has no duration.
 *
 * Fields are known by their shape, so that a text whose heading was not pasted is
 * read, too; a thread in brackets is enough.  Names are those of any language, and
 * arguments may be strings with anything in them, so that the parenthesis that ends
 * them is found by counting.
 *
 * Source: uftrace 0.13, cmds/replay.c, print_graph_rstack(), and utils/field.c.
 */

#include "calls/step.h"
#include "import/scan.h"
#include "import/text-line.h"

/* Blanks that are none, "\xc2\xa0" or "&nbsp;": they would hide a field. */
static bool is_encoded(const char *begin, const char *end) {
        for (const char *p = begin; p < end; p++)
                if (*p == '&' || (unsigned char) *p >= 0x80)
                        return true;
        return false;
}

/* "# DURATION     TID     FUNCTION", also with " [SOURCE]" */
static bool parse_heading(Scan s, TextLine *l) {
        static const char *const alike[] = { "TIMEDELTA", "ELAPSED" };
        const char *duration, *at;

        (void) scan_blanks(&s);
        if (!scan_text(&s, "# "))
                return false;
        at = scan_find(&s, " FUNCTION [SOURCE]");
        if (at)
                s.end = at + 9;
        if (!scan_has_suffix(&s, " FUNCTION") || is_encoded(s.p, s.end))
                return false;
        duration = scan_find(&s, "DURATION");
        l->fields = (UftraceFields){
                .known = true,
                .tid = scan_find(&s, " TID "),
                .duration = duration,
                .time = scan_find(&s, "TIMESTAMP"),
                .words = scan_find(&s, " TASK NAME ") || scan_find(&s, " MODULE NAME "),
        };
        for (size_t i = 0; duration && i < 2; i++) {
                at = scan_find(&s, alike[i]);
                l->fields.n_before += at && at < duration;
        }
        if (!l->fields.tid && !duration && !l->fields.time)
                return false;
        l->kind = LINE_HEADING;
        return true;
}

/* "[  4422]" */
static bool take_tid(Scan *s, TextLine *l) {
        Scan t = *s;
        uint64_t tid;

        if (!scan_text(&t, "["))
                return false;
        (void) scan_blanks(&t);
        if (!scan_number(&t, LINE_PID_MAX, &tid) || !scan_text(&t, "]"))
                return false;
        l->task.pid = (int32_t) tid;
        l->has_task = true;
        *s = t;
        return true;
}

/* "1220.654979501" */
static bool take_time(Scan *s, TextLine *l) {
        uint64_t seconds, ns;
        Scan t = *s;

        if (!scan_number(&t, UINT64_C(10000000000), &seconds) || !scan_text(&t, ".") ||
            scan_number(&t, 999999999, &ns) != 9)
                return false;
        l->timestamp_ns = seconds * 1000000000 + ns;
        l->has_time = true;
        *s = t;
        return true;
}

/* "55d2a1b0c1a9", "0x1149" */
static bool take_address(Scan *s) {
        uint64_t address;
        Scan t = *s;

        (void) scan_text(&t, "0x");
        if (!scan_hex(&t, &address) || (t.p < t.end && *t.p != ' '))
                return false;
        *s = t;
        return true;
}

/* What stands before the bar.  False: also what no heading has told of, so that it is another
 * tracer's line. */
static bool parse_fields(Scan s, TextLine *l, const UftraceFields *fields) {
        uint32_t n_alike = 0;

        for (; (void) scan_blanks(&s), s.p < s.end;) {
                uint64_t ns;

                if (take_tid(&s, l) || take_time(&s, l))
                        continue;
                if (scan_duration(&s, &ns)) {
                        if (n_alike++ == fields->n_before && (!fields->known || fields->duration)) {
                                l->duration_ns = ns;
                                l->has_duration = true;
                        }
                        continue;
                }
                if (take_address(&s) || scan_text(&s, "backtrace "))
                        continue;
                if (!fields->words)
                        return false;
                while (s.p < s.end && *s.p != ' ')
                        s.p++;
        }
        return true;
}

/* Behind the parenthesis that ends what begins at @s; false: none does. */
static bool skip_args(Scan *s) {
        int n_open = 1;
        char quote = 0;

        for (const char *p = s->p; p < s->end; p++) {
                if (quote) {
                        if (*p == '\\')
                                p++;
                        else if (*p == quote)
                                quote = 0;
                } else if (*p == '"' || (*p == '\'' && s->end - p > 2 && p[1] && p[2] == '\''))
                        quote = *p;
                else if (*p == '(')
                        n_open++;
                else if (*p == ')' && --n_open == 0) {
                        s->p = p + 1;
                        return true;
                }
        }
        return false;
}

/* A comment at the end, with the blanks before it. */
static void drop_comment(Scan *s, Scan *ret) {
        const char *p = s->p, *at = NULL;

        *ret = (Scan){ s->end, s->end };
        if (!scan_has_suffix(s, " */"))
                return;
        for (; (p = memmem(p, (size_t) (s->end - p), "/* ", 3)); p++)
                at = p;
        if (!at || s->end - at < 6)
                return;
        *ret = (Scan){ at + 3, s->end - 3 };
        s->end = at;
        while (s->end > s->p && s->end[-1] == ' ')
                s->end--;
}

/* " = 0", before the semicolon */
static void take_value(Scan s, TextLine *l) {
        if (scan_left(&s) <= 4 || memcmp(s.p, " = ", 3) != 0)
                return;
        l->said.note = s.p;
        l->said.n_note = (uint32_t) (scan_left(&s) - 1);
        l->has_retval = scan_retval(s, &l->retval);
}

static bool is_label(const char *p, size_t n) {
        if (n == 0 || n > LINE_LABEL_MAX || p[0] == ' ' || p[n - 1] == ' ')
                return false;
        for (size_t i = 0; i < n; i++)
                if ((unsigned char) p[i] < ' ' || p[i] == 0x7f || p[i] == ';' || p[i] == '|')
                        return false;
        return true;
}

/* "netif_rx(1, "lo") = 0;", "std::fn::operator()() {" */
static bool parse_call(Scan s, TextLine *l) {
        const char *paren = memchr(s.p, '(', scan_left(&s));
        Scan comment;

        if (paren && paren - s.p >= 8 && memcmp(paren - 8, "operator", 8) == 0 &&
            s.end - paren > 2 && paren[1] == ')' && paren[2] == '(')
                paren += 2;
        if (!paren || !is_label(s.p, (size_t) (paren - s.p)))
                return false;
        l->label = s.p;
        l->n_label = (uint32_t) (paren - s.p);
        s.p = paren + 1;
        if (!skip_args(&s))
                return false;
        if (!memmem(paren + 1, (size_t) (s.p - paren - 2), "/*", 2)) {
                l->said.args = paren + 1;
                l->said.n_args = (uint32_t) (s.p - paren - 2);
        }
        drop_comment(&s, &comment);
        if (scan_has_suffix(&s, " {") && scan_left(&s) == 2)
                l->kind = LINE_OPEN;
        else if (scan_has_suffix(&s, ";")) {
                l->kind = LINE_LEAF;
                take_value(s, l);
                return l->said.note || scan_left(&s) == 1;
        } else
                return false;
        return true;
}

/* "}", with a name in a comment, with a value, or both: "} = 0;" */
static bool parse_close(Scan s, TextLine *l) {
        Scan comment;

        drop_comment(&s, &comment);
        if (scan_left(&comment) > 0) {
                if (!is_label(comment.p, scan_left(&comment)))
                        return false;
                l->label = comment.p;
                l->n_label = (uint32_t) scan_left(&comment);
        }
        l->kind = LINE_CLOSE;
        if (scan_has_suffix(&s, ";"))
                take_value(s, l);
        return l->said.note || s.p == s.end;
}

static bool parse_comment(Scan s, TextLine *l) {
        if (!scan_text(&s, "/* ") || !scan_has_suffix(&s, " */") || scan_left(&s) < 4)
                return false;
        l->kind = LINE_EVENT;
        l->text = s.p;
        l->n_text = (uint32_t) (scan_left(&s) - 3);
        if (scan_text(&s, "LOST ")) {
                l->kind = LINE_LOST;
                (void) scan_number(&s, UINT64_MAX, &l->number);
        }
        return true;
}

void uftrace_line_parse(TextLine *ret, const char *text, size_t n_text,
                        const UftraceFields *fields) {
        Scan s = { text, text + n_text };
        const char *bar;
        size_t n_blanks;

        *ret = (TextLine){ .kind = LINE_NONE };
        if (parse_heading(s, ret))
                return;
        bar = memchr(s.p, '|', scan_left(&s));
        if (!bar || bar == s.p || bar[-1] != ' ' || is_encoded(s.p, bar))
                return;
        if (!parse_fields((Scan){ s.p, bar }, ret, fields) ||
            (!ret->has_task && (!fields->known || fields->tid)))
                return;
        s.p = bar + 1;
        while (s.end > s.p && s.end[-1] == ' ')
                s.end--;
        n_blanks = scan_blanks(&s);
        if (s.p == s.end) {
                ret->kind = LINE_EMPTY;
                return;
        }
        if (n_blanks % 2 == 0 || n_blanks / 2 > STEP_DEPTH_MAX)
                return line_damaged(ret, "its indentation is not a depth");
        ret->depth = (int32_t) (n_blanks / 2);
        if (!(scan_text(&s, "}") ? parse_close(s, ret)
                                 : parse_comment(s, ret) || parse_call(s, ret)))
                line_damaged(ret, "it has neither a call nor a return");
}
