/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Trace Event Format, as chrome://tracing, Perfetto and speedscope read it: a beginning ("B") and an
 * end ("E") for each call, in order and strictly nested, for "X" events with fractions of
 * microseconds are put into each other by rounding errors.  Times count from the first event, as
 * numbers are doubles; they have three digits behind the point, which is the nanosecond.  Nothing is
 * put into args, which speedscope makes part of a name.  What is cut is so by its category, of which
 * an event may have several.
 *
 * Source: the document "Trace Event Format" of the Chromium project's catapult.
 */

#include "export/escape.h"
#include "export/exporter.h"
#include "export/spans.h"

#define PID_TASKS 1 /* what a viewer takes for processes */
#define PID_LOSSES 2
#define TID_IDLE 1000000000 /* of CPU 0; beyond all process ids (PID_MAX_LIMIT) */
#define TID_UNKNOWN 2000000000

typedef struct Chrome {
        const ExportInfo *info;
        Buf *out;
        Spans *spans;
        uint64_t begin_ns;
        bool is_first;
} Chrome;

static uint64_t tid_of(const SpansTask *task) {
        return task->pid > 0    ? (uint64_t) task->pid
               : task->pid == 0 ? TID_IDLE + (uint64_t) task->cpu
                                : TID_UNKNOWN + (uint64_t) task->cpu;
}

static void begin_event(Chrome *c) {
        buf_adds(c->out, c->is_first ? "\n" : ",\n");
        c->is_first = false;
}

static void add_time(Chrome *c, uint64_t ns) {
        int64_t since_ns = (int64_t) (ns - c->begin_ns);
        uint64_t size = since_ns < 0 ? -(uint64_t) since_ns : (uint64_t) since_ns;
        char fraction[4] = { '.', (char) ('0' + size / 100 % 10), (char) ('0' + size / 10 % 10),
                             (char) ('0' + size % 10) };

        buf_adds(c->out, since_ns < 0 ? ",\"ts\":-" : ",\"ts\":");
        escape_u64(c->out, size / 1000);
        buf_add(c->out, fraction, sizeof(fraction));
}

static void add_name(Chrome *c, const char *what, uint64_t pid, uint64_t tid, const char *name,
                     size_t n, const char *after) {
        begin_event(c);
        buf_printf(c->out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%llu,", what,
                   (unsigned long long) pid, (unsigned long long) tid);
        buf_adds(c->out, "\"args\":{\"name\":\"");
        escape_json(c->out, name, n);
        buf_adds(c->out, after);
        buf_adds(c->out, "\"}}");
}

static void name_task(Chrome *c, const SpansTask *task, uint64_t tid) {
        char after[32] = "";

        if (task->pid > 0)
                (void) snprintf(after, sizeof(after), " %d", task->pid);
        else
                (void) snprintf(after, sizeof(after), " CPU %u", task->cpu);
        if (task->comm[0] == 0)
                add_name(c, "thread_name", PID_TASKS, tid, "task", 4, after);
        else
                add_name(c, "thread_name", PID_TASKS, tid, task->comm, strlen(task->comm), after);
}

static int chrome_span(void *userdata, const SpansTask *task, const Span *span, const Call *call) {
        Chrome *c = userdata;
        const Function *f = span->function;
        uint64_t tid = tid_of(task);

        if (task->is_new)
                name_task(c, task, tid);
        begin_event(c);
        buf_adds(c->out,
                 call ? "{\"ph\":\"E\",\"pid\":1,\"tid\":" : "{\"ph\":\"B\",\"pid\":1,\"tid\":");
        escape_u64(c->out, tid);
        add_time(c, span->at_ns);
        if (!call) {
                buf_adds(c->out, span->begins_irq ? ",\"cat\":\"interrupt" : ",\"cat\":\"function");
                buf_adds(c->out, span->is_cut ? ",cut\",\"name\":\"" : "\",\"name\":\"");
                escape_json(c->out, f->label, f->n_label);
                buf_add(c->out, "\"", 1);
        } else if (span->is_cut && span->is_endless)
                buf_adds(c->out, ",\"cat\":\"function,cut\"");
        buf_add(c->out, "}", 1);
        return 0;
}

static int chrome_begin(void *userdata, uint64_t begin_ns) {
        Chrome *c = userdata;
        const char *title = c->info->title;

        c->begin_ns = begin_ns;
        buf_printf(c->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"begin_ns\":\"%llu\",",
                   (unsigned long long) begin_ns);
        buf_printf(c->out, "\"approximate_start\":%s,\"title\":\"",
                   c->info->is_timeless ? "true" : "false");
        escape_json(c->out, title, strlen(title));
        buf_adds(c->out, "\"},\"traceEvents\":[");
        add_name(c, "process_name", PID_TASKS, 0, title, strlen(title), "");
        return 0;
}

static int chrome_step(void *userdata, const Step *step) {
        Chrome *c = userdata;

        if (step->kind != STEP_LOST)
                return 0;
        begin_event(c);
        buf_printf(c->out, "{\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%u", PID_LOSSES,
                   step->cpu);
        add_time(c, step->timestamp_ns);
        buf_adds(c->out, ",\"cat\":\"loss\",\"name\":\"");
        if (step->n_lost > 0)
                buf_printf(c->out, "%llu events lost\"}", (unsigned long long) step->n_lost);
        else
                buf_adds(c->out, "events lost\"}");
        return 0;
}

static int chrome_end(void *userdata) {
        Chrome *c = userdata;

        buf_adds(c->out, "\n]}\n");
        return 0;
}

static void chrome_free(void *userdata) {
        Chrome *c = userdata;

        spans_free(c->spans);
        free(c);
}

static int chrome_new(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out) {
        Chrome *c = malloc(sizeof(*c));

        if (!c)
                return -ENOMEM;
        *c = (Chrome){ .info = info, .out = out, .is_first = true };
        if (spans_new(&c->spans, pairing, chrome_span, c) < 0) {
                free(c);
                return -ENOMEM;
        }
        *ret = c;
        return 0;
}

const Exporter exporter_chrome = {
        .name = "chrome",
        .summary = "trace events in JSON, for Perfetto, Firefox and others",
        .viewer_bytes = UINT64_C(100) << 20,
        .viewer_advice = "--format=perfetto is a tenth of the size",
        .new = chrome_new,
        .begin = chrome_begin,
        .step = chrome_step,
        .end = chrome_end,
        .free = chrome_free,
};
