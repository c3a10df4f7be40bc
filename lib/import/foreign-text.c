/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The most telling marks of each kind.  Nobody asks of a text that has calls, so that a mark may be weak if it is not
 * one of a kind that stands before it.
 *
 * A pattern begins behind the line's blanks, and need not reach its end.  In it "*" is anything; see also scan_sign().
 */

#include "import/text-private.h"

#define LOOKED_AT ((size_t) 512) /* bytes of a line */

static const struct {
        ForeignText text;
        const char *patterns[13];
} kinds[] = {
        { {}, { "# tracer: function_graph", "*: funcgraph_e" } },
        { { "the text of the function tracer",
            "it says when a function begins and not when it ends, so that there are no calls with "
            "durations in it; record with function_graph" },
          { "# tracer: function^$", "*: * <-~", "* [9] *9.9: ~^$" } },
        { { "the text of uftrace",
            "that is not read; record the kernel with \"ftracectl run\", trace-cmd or perf "
            "ftrace" },
          { "*[^9] | ", "# *DURATION* FUNCTION$", "# *TIMESTAMP* FUNCTION$", "# *TID* FUNCTION$",
            "# Function Call Graph for ", "*= FUNCTION CALL GRAPH =", "# TOTAL TIME ",
            "Total time *Self time ", "uftrace file header:", "[*] ==> *: ip (", "[*] <== *: ip (",
            "*: [e*] * depth: " } },
        { { "what \"perf trace\" prints",
            "these are system calls, and not what the kernel calls for them" },
          { "9.9 (^9.9 ms): " } },
        { { "what \"perf script\" prints", "these are samples and events, and not calls" },
          { "* 9 [9] ^9.9: " } },
        { { "what \"perf report\" prints", "these are samples, and not calls" },
          { "# Overhead ", "# Samples: " } },
        { { "a text of events", "none of them is a call (funcgraph_entry or funcgraph_exit)" },
          { "*-9 *9.9:^&:" } },
        { { "a histogram", "the calls that it counts are not in it" },
          { "* : count * distribution", "*DURATION *COUNT *GRAPH" } },
        { { "what bpftrace prints", "the calls that it counts, or speaks of, are not in it" },
          { "Attaching 9 probe", "@*[" } },
        { { "the trace of OP-TEE's functions", "its calls have no returns of their own" },
          { "*| ^9 | *()" } },
        { { "what strace or ltrace prints",
            "these are calls of the kernel or of libraries, and not what they call" },
          { "*(*) ^= 9", "*(*) ^= -", "*(*) ^= ?", "*<unfinished ...>$" } },
        { { "a flame graph's folded stacks", "these are sums, without the calls" }, { "&;* 9$" } },
        { { "a kernel's report with a call trace",
            "a stack at one moment has no calls with durations" },
          { "*Call Trace:", "*Call trace:", "*Backtrace:" } },
        { { "the text of another tracer than function_graph",
            "it has no calls with durations; a latency tracer draws them with the option "
            "display-graph" },
          { "# tracer: " } },
};

/* Where @pattern may begin, at or behind @p; NULL: nowhere. */
static const char *place_of(const char *pattern, const char *p, const char *end) {
        return memchr("98^~!&$", *pattern, 7) ? (p <= end ? p : NULL)
               : p < end                      ? memchr(p, *pattern, (size_t) (end - p))
                                              : NULL;
}

static bool matches(Scan s, const char *pattern) {
        const char *star = NULL;

        for (const char *at = s.p; *pattern;) {
                if (*pattern == '*') {
                        star = ++pattern;
                        at = place_of(star, s.p, s.end);
                } else if (scan_sign(&s, *pattern)) {
                        pattern++;
                        continue;
                } else if (star) {
                        pattern = star;
                        at = place_of(star, at + 1, s.end);
                } else
                        return false;
                if (!at)
                        return false;
                s.p = at;
        }
        return true;
}

const ForeignText *foreign_text_find(const char *text, size_t n_text) {
        Scan s = { text, text + MIN(n_text, LOOKED_AT) };

        (void) scan_blanks(&s);
        for (size_t i = 0; i < ELEMENTSOF(kinds); i++)
                for (const char *const *p = kinds[i].patterns; *p; p++)
                        if (matches(s, *p))
                                return i > 0 ? &kinds[i].text : NULL;
        return NULL;
}
