/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "calls/stacks.h"

#define COUNT_BORROWED 0xff
#define VALUE_CHARS 55 /* without what may follow */
#define FLAGS_OF_INTERRUPTS                                                                        \
        0x58 /* linux 6.12 include/linux/trace_events.h: NMI, HARDIRQ, SOFTIRQ */

static const char key_text[] = "traceparent=";

static bool is_of_word(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '-';
}

static TraceContext read_value(const char *p) {
        char version[3], high[17], low[17], span_id[17], flags[3];
        TraceContext c;
        int n = 0;

        p += *p == '"';
        if (sscanf(p, "%2[0-9a-f]-%16[0-9a-f]%16[0-9a-f]-%16[0-9a-f]-%2[0-9a-f]%n", version, high,
                   low, span_id, flags, &n) < 5 ||
            n != VALUE_CHARS || streq(version, "ff"))
                return (TraceContext){};
        if (is_of_word(p[n]) && (streq(version, "00") || p[n] != '-'))
                return (TraceContext){};
        c = (TraceContext){ strtoull(high, NULL, 16), strtoull(low, NULL, 16) };
        return span_id[strspn(span_id, "0")] ? c : (TraceContext){};
}

/* Behind the key; NULL: there is none. */
static const char *find_value(const char *text) {
        const char *key = strstr(text, key_text), *comm;

        /* "X-traceparent=", "prev_comm=traceparent=" are other words. */
        while (key && key > text && (is_of_word(key[-1]) || key[-1] == '='))
                key = strstr(key + 1, key_text);
        if (!key)
                return NULL;
        comm = strstr(text, "comm=");
        return comm && comm < key ? NULL : key + strlen(key_text);
}

/*
 * Of a uprobe, which is met in the task, flags are no flags: the kernel takes one off the count for
 * tracepoints, which disable preemption, and what had been 0 borrows from the flags (linux 6.12
 * kernel/trace/trace_events.c, trace_event_buffer_reserve(); include/linux/trace_events.h,
 * tracing_gen_ctx_dec()).
 */
static bool is_of_interrupt(const Step *step) {
        return step->preempt_count != COUNT_BORROWED && (step->flags & FLAGS_OF_INTERRUPTS) != 0;
}

static bool is_exit(const Step *step) {
        return startswith(step->text, "sched_process_exit: ");
}

bool trace_context_is_said(const Step *step) {
        return step->kind == STEP_OTHER && step->text && !is_of_interrupt(step) &&
               (find_value(step->text) || is_exit(step));
}

TraceContext trace_context_of(const Step *step) {
        return is_exit(step) ? (TraceContext){} : read_value(find_value(step->text));
}
