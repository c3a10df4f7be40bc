/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The most telling mark of each kind.  Nobody asks of a text that has calls, so
 * that a mark may be weak if it is not one of a kind that stands before it.
 */

#include "base/cleanup.h"
#include "import/text-line.h"
#include "import/foreign-text.h"
#include "import/scan.h"

static bool has(Scan s, const char *text) {
        return scan_find(&s, text);
}

static bool begins(Scan s, const char *text) {
        (void) scan_blanks(&s);
        return scan_text(&s, text);
}

static bool scan_word(Scan *s) {
        const char *begin = s->p;

        while (s->p<s->end && * s->p> ' ' && *s->p < 0x7f)
                s->p++;
        return s->p > begin;
}

/* "[001] d..2. 304.088551: do_nanosleep", without the option print-parent */
static bool is_function_alone(Scan s) {
        const char *colon = memrchr(s.p, ':', scan_left(&s));
        Scan t = { colon ? colon + 1 : s.end, s.end };

        if (!has(s, " [") || !scan_text(&t, " ") || colon - s.p < 8 || colon[-7] != '.')
                return false;
        for (const char *p = colon - 6; p < colon; p++)
                if (*p < '0' || *p > '9')
                        return false;
        return scan_word(&t) && t.p == t.end;
}

/* ": do_nanosleep <-hrtimer_nanosleep", "function:   do_nanosleep <-- hrtimer_nanosleep", and its
 * heading */
static bool is_function(Scan s) {
        const char *arrow = scan_find(&s, " <-");
        Scan t = s;

        (void) scan_blanks(&t);
        if (scan_text(&t, "# tracer: function") && (t.p == t.end || *t.p <= ' '))
                return true;
        if (!arrow)
                return is_function_alone(s);
        if (!memmem(s.p, (size_t) (arrow - s.p), ": ", 2))
                return false;
        t = (Scan){ arrow + 3, s.end };
        (void) scan_text(&t, "- ");
        return arrow[-1] > ' ' && scan_word(&t);
}

/* "# tracer: irqsoff" */
static bool is_tracer(Scan s) {
        return begins(s, "# tracer: ") && !has(s, "function_graph");
}

static bool is_event(Scan s) {
        TextLine l;

        event_line_parse(&l, s.p, scan_left(&s));
        return l.kind == LINE_EVENT;
}

/* "ls 31244 [001] 10418.334513:  250000 cycles:", of perf script */
static bool is_perf_script(Scan s) {
        const char *bracket = scan_find(&s, " [");
        uint64_t n;
        Scan t;

        for (t.p = bracket; t.p && t.p > s.p && t.p[-1] >= '0' && t.p[-1] <= '9'; t.p--)
                ;
        if (!bracket || t.p == bracket || t.p == s.p || t.p[-1] != ' ')
                return false;
        t = (Scan){ bracket + 2, s.end };
        return scan_number(&t, 8191, &n) && scan_text(&t, "] ") && (scan_blanks(&t), true) &&
               scan_number(&t, UINT64_MAX, &n) && scan_text(&t, ".") &&
               scan_number(&t, UINT64_MAX, &n) && scan_text(&t, ": ");
}

/* "     0.065 ( 0.008 ms): ls/31244 openat(", of perf trace */
static bool is_perf_trace(Scan s) {
        uint64_t n;

        (void) scan_blanks(&s);
        return scan_number(&s, UINT64_MAX, &n) && scan_text(&s, ".") &&
               scan_number(&s, UINT64_MAX, &n) && scan_text(&s, " (") && has(s, " ms): ");
}

/* "openat(AT_FDCWD, "/etc") = 3", behind a process or a time, or both */
static bool is_syscall(Scan s) {
        const char *paren = scan_find(&s, "("), *p = paren, *value;
        Scan t;

        if (!paren)
                return false;
        while (p > s.p && p[-1] > ' ')
                p--;
        for (const char *q = p; q < paren; q++)
                if (!((*q | 0x20) >= 'a' && (*q | 0x20) <= 'z') && !(*q >= '0' && *q <= '9') &&
                    *q != '_' && *q != '-' && *q != '>' && *q != '.')
                        return false;
        t = (Scan){ paren, s.end };
        value = scan_find(&t, ") ");
        if (p == paren || !value || p - s.p > 40)
                return scan_has_suffix(&s, "<unfinished ...>");
        t.p = value + 1;
        (void) scan_blanks(&t);
        return scan_text(&t, "= ") && t.p < t.end &&
               (*t.p == '-' || *t.p == '?' || (*t.p >= '0' && *t.p <= '9'));
}

static bool is_bpftrace(Scan s) {
        return (begins(s, "Attaching ") && has(s, " probe")) || (begins(s, "@") && has(s, "["));
}

/* "   1.302 us [  4422] |   f(1) = 3;", "# DURATION     TID     FUNCTION" */
static bool is_uftrace_replay(Scan s) {
        const char *bracket = scan_find(&s, "] | "), *p = bracket;

        if (begins(s, "# ") && scan_has_suffix(&s, " FUNCTION"))
                return has(s, " TID ") || has(s, "DURATION") || has(s, "TIMESTAMP");
        while (p && p > s.p && p[-1] >= '0' && p[-1] <= '9')
                p--;
        if (p == bracket)
                return false;
        while (p > s.p && p[-1] == ' ')
                p--;
        return p > s.p && p[-1] == '[';
}

static bool is_uftrace_sum(Scan s) {
        return begins(s, "# Function Call Graph for ") || has(s, "= FUNCTION CALL GRAPH =") ||
               begins(s, "# TOTAL TIME ") || (begins(s, "Total time ") && has(s, " Self time "));
}

static bool is_uftrace(Scan s) {
        return is_uftrace_replay(s) || is_uftrace_sum(s) || begins(s, "uftrace file header:") ||
               (begins(s, "[") && (has(s, "] ==> ") || has(s, "] <== ")) && has(s, ": ip (")) ||
               (has(s, " depth: ") && (has(s, ": [entry] ") || has(s, ": [exit ] ")));
}

static bool is_histogram(Scan s) {
        return (has(s, " : count ") && has(s, " distribution")) ||
               (has(s, " DURATION ") && has(s, " COUNT ") && has(s, " GRAPH"));
}

static bool is_perf_report(Scan s) {
        return begins(s, "# Overhead ") || begins(s, "# Samples: ");
}

/* "  166.256 us |   6 |       bget()", "             |   1 |  __ta_entry() {" */
static bool is_optee(Scan s) {
        const char *bar = scan_find(&s, " | ");
        uint64_t n;
        Scan t;

        if (!bar || bar - s.p > 20)
                return false;
        t = (Scan){ bar + 3, s.end };
        (void) scan_blanks(&t);
        return scan_number(&t, 1023, &n) && scan_text(&t, " | ") && has(t, "()");
}

static bool is_call_trace(Scan s) {
        return has(s, "Call Trace:") || has(s, "Call trace:") || has(s, "Backtrace:");
}

/* "main;f;g 12" */
static bool is_folded(Scan s) {
        const char *semicolon = scan_find(&s, ";"), *blank = memrchr(s.p, ' ', scan_left(&s));
        Scan t = { blank ? blank + 1 : s.end, s.end };
        uint64_t n;

        return semicolon && semicolon > s.p && semicolon[1] > ' ' && blank > semicolon &&
               scan_number(&t, UINT64_MAX, &n) && t.p == t.end;
}

static const struct {
        bool (*is)(Scan s);
        ForeignText text;
} kinds[] = {
        { is_function,
          { "the text of the function tracer",
            "it says when a function begins and not when it ends, so that there are no calls with "
            "durations in it; record with function_graph" } },
        { is_uftrace,
          { "the text of uftrace", "that is not read; record the kernel with \"ftracectl run\", "
                                   "trace-cmd or perf ftrace" } },
        { is_perf_trace,
          { "what \"perf trace\" prints",
            "these are system calls, and not what the kernel calls for them" } },
        { is_perf_script,
          { "what \"perf script\" prints", "these are samples and events, and not calls" } },
        { is_perf_report, { "what \"perf report\" prints", "these are samples, and not calls" } },
        { is_event,
          { "a text of events", "none of them is a call (funcgraph_entry or funcgraph_exit)" } },
        { is_histogram, { "a histogram", "the calls that it counts are not in it" } },
        { is_bpftrace,
          { "what bpftrace prints", "the calls that it counts, or speaks of, are not in it" } },
        { is_optee,
          { "the trace of OP-TEE's functions", "its calls have no returns of their own" } },
        { is_syscall,
          { "what strace or ltrace prints",
            "these are calls of the kernel or of libraries, and not what they call" } },
        { is_folded, { "a flame graph's folded stacks", "these are sums, without the calls" } },
        { is_call_trace,
          { "a kernel's report with a call trace",
            "a stack at one moment has no calls with durations" } },
        { is_tracer,
          { "the text of another tracer than function_graph",
            "it has no calls with durations; a latency tracer draws them with the option "
            "display-graph" } },
};

const ForeignText *foreign_text_find(const char *text, size_t n_text) {
        const Scan s = { text, text + n_text };

        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                if (kinds[i].is(s))
                        return &kinds[i].text;
        return NULL;
}
