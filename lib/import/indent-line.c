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

#include "base/cleanup.h"
#include "import/text-line.h"
#include "import/scan.h"

#define USEC_COLUMNS 6
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

/* "0 " */
static bool is_number(const char *begin, const char *end) {
        const char *p = begin;

        while (p < end && *p >= '0' && *p <= '9')
                p++;
        return p > begin && p < end && *p == ' ';
}

/* "f</pre>", "f[/code]", "f```" */
static bool has_mark(const char *begin, const char *end) {
        static const char *const marks[] = { "</", "[/", "{", "```", "~~~", "]]>", "\"" };
        const char *p = begin;

        while (p < end && (*p == '_' || *p == '.' || (*p >= '0' && *p <= ':') ||
                           ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')))
                p++;
        if (_likely_(p == end))
                return false;
        for (size_t i = 0; i < ELEMENTSOF(marks); i++)
                if (memmem(begin, (size_t) (end - begin), marks[i], strlen(marks[i])))
                        return true;
        return false;
}

/* "netlbl_sock_setat=", of a mailer, "sys_closeroot@host:/root#"; but not "A::operator==". */
static bool is_broken_name(const char *begin, const char *end) {
        size_t n = (size_t) (end - begin);

        return n > 0 && (end[-1] == '=' || memchr(begin, '/', n)) &&
               !memmem(begin, n, "operator", 8);
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
        uint64_t us;

        while (s.end > s.p && s.end[-1] == ' ')
                s.end--;
        if (scan_number(&s, UINT64_MAX, &us) && scan_text(&s, " ") && scan_has_suffix(&s, "):") &&
            ends_with_tid(s.p, s.end - 2))
                line_damaged(l, "it ends before the arrow");
}

void indent_line_parse(TextLine *ret, const char *text, size_t n_text) {
        const char *colon, *arrow, *begin;
        Scan s = { text, text + n_text };
        TextLineKind kind;
        size_t n_blanks, n_digits, depth;
        uint64_t us;

        *ret = (TextLine){ .kind = LINE_NONE };
        n_blanks = scan_blanks(&s);
        colon = find_colon(&s, &kind, &arrow);
        if (!colon)
                return parse_beginning(ret, s);
        n_digits = scan_number(&s, UINT64_MAX / 1000000, &us);
        if (n_digits == 0 || !scan_text(&s, " "))
                return line_damaged(ret, "it does not begin with a number of microseconds");
        /* It is a line's number, and the microseconds are behind it. */
        if (s.p < colon && (*s.p == ' ' || is_number(s.p, colon)))
                return line_damaged(ret, "there are two numbers before the task");
        if (!parse_task(ret, s.p, colon))
                return line_damaged(ret, "there is no task before the colon");
        depth = (size_t) (arrow - colon - 2);
        if (memchr(colon, '\t', depth + 2))
                return line_damaged(ret, "it is indented with tabs, and nobody knows how wide");
        s.p = arrow + 2;
        if (scan_blanks(&s) == 0)
                ret->is_tight = true;
        else if (depth > 0) /* of which one is the script's, unless blanks are lost */
                depth--;
        if (depth > STEP_DEPTH_MAX)
                return line_damaged(ret, "it is indented deeper than any kernel's stack");
        begin = s.p;
        while (s.p<s.end && * s.p> ' ' && *s.p < 0x7f && *s.p != '(')
                s.p++;
        if (has_mark(begin, s.p))
                return line_damaged(ret, "there is a page's mark behind the function");
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
        ret->said.trimmed = n_blanks + n_digits < USEC_COLUMNS;
}
