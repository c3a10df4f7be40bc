/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Headings are known by what is in them: a prompt of root's begins with a "#", too. */

#include "base/cleanup.h"
#include "import/latency-line.h"

#define CPU_MAX 8191

bool latency_line_is_heading(const Scan *s) {
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

bool latency_line_take_time(Scan *s, uint64_t *ret_ns) {
        uint64_t us, cpu;
        Scan t = *s, u;

        (void) scan_blanks(&t);
        if (!scan_number(&t, UINT64_MAX / 1000, &us) || !scan_text(&t, " us |"))
                return false;
        u = t;
        (void) scan_blanks(&u);
        if (!scan_number(&u, CPU_MAX, &cpu) || !scan_text(&u, ")"))
                return false;
        (void) scan_text(&t, "  ");
        *ret_ns = us * 1000;
        *s = t;
        return true;
}
