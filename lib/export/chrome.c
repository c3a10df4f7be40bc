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
        ExportState s;
        bool has_events;
} Chrome;

static uint64_t tid_of(const SpansTask *task) {
        return task->pid > 0    ? (uint64_t) task->pid
               : task->pid == 0 ? TID_IDLE + (uint64_t) task->cpu
                                : TID_UNKNOWN + (uint64_t) task->cpu;
}

static void begin_event(Chrome *c) {
        buf_adds(c->s.out, c->has_events ? ",\n" : "\n");
        c->has_events = true;
}

static void add_time(Chrome *c, uint64_t ns) {
        int64_t since_ns = (int64_t) (ns - c->s.begin_ns);
        uint64_t size = since_ns < 0 ? -(uint64_t) since_ns : (uint64_t) since_ns;
        char fraction[4] = { '.', (char) ('0' + size / 100 % 10), (char) ('0' + size / 10 % 10),
                             (char) ('0' + size % 10) };

        buf_adds(c->s.out, since_ns < 0 ? ",\"ts\":-" : ",\"ts\":");
        escape_u64(c->s.out, size / 1000);
        buf_add(c->s.out, fraction, sizeof(fraction));
}

static void add_name(Chrome *c, const char *what, uint64_t pid, uint64_t tid, const char *name) {
        begin_event(c);
        buf_printf(c->s.out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%llu,", what,
                   (unsigned long long) pid, (unsigned long long) tid);
        buf_adds(c->s.out, "\"args\":{\"name\":\"");
        escape_json(c->s.out, name, strlen(name));
        buf_adds(c->s.out, "\"}}");
}

static int chrome_span(void *userdata, const SpansTask *task, const Span *span, const Call *call) {
        Chrome *c = userdata;
        const Function *f = span->function;
        uint64_t tid = tid_of(task);
        char name[SPANS_NAME_MAX];

        if (task->is_new)
                add_name(c, "thread_name", PID_TASKS, tid, spans_name_task(name, task));
        begin_event(c);
        buf_adds(c->s.out,
                 call ? "{\"ph\":\"E\",\"pid\":1,\"tid\":" : "{\"ph\":\"B\",\"pid\":1,\"tid\":");
        escape_u64(c->s.out, tid);
        add_time(c, span->at_ns);
        if (!call) {
                buf_adds(c->s.out,
                         span->begins_irq ? ",\"cat\":\"interrupt" : ",\"cat\":\"function");
                buf_adds(c->s.out, span->is_cut ? ",cut\",\"name\":\"" : "\",\"name\":\"");
                escape_json(c->s.out, f->label, f->n_label);
                buf_add(c->s.out, "\"", 1);
                if (!unhooked_is_none(f->n_unhooked))
                        buf_printf(c->s.out, ",\"args\":{\"below\":\"%s\"}",
                                   UNHOOKED_NOTE(f->n_unhooked));
        } else if (span->is_cut && span->is_endless)
                buf_adds(c->s.out, ",\"cat\":\"function,cut\"");
        buf_add(c->s.out, "}", 1);
        return 0;
}

static int chrome_begin(void *userdata) {
        Chrome *c = userdata;
        const char *title = c->s.info->title;

        buf_printf(c->s.out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"begin_ns\":\"%llu\",",
                   (unsigned long long) c->s.begin_ns);
        buf_printf(c->s.out, "\"approximate_start\":%s,\"title\":\"",
                   c->s.info->is_timeless ? "true" : "false");
        escape_json(c->s.out, title, strlen(title));
        buf_adds(c->s.out, "\"},\"traceEvents\":[");
        add_name(c, "process_name", PID_TASKS, 0, title);
        return 0;
}

static int chrome_step(void *userdata, const Step *step) {
        Chrome *c = userdata;

        if (step->kind != STEP_LOST)
                return 0;
        begin_event(c);
        buf_printf(c->s.out, "{\"ph\":\"i\",\"s\":\"t\",\"pid\":%d,\"tid\":%u", PID_LOSSES,
                   step->cpu);
        add_time(c, step->timestamp_ns);
        buf_adds(c->s.out, ",\"cat\":\"loss\",\"name\":\"");
        if (step->n_lost > 0)
                buf_printf(c->s.out, "%llu events lost\"}", (unsigned long long) step->n_lost);
        else
                buf_adds(c->s.out, "events lost\"}");
        return 0;
}

static int chrome_end(void *userdata) {
        Chrome *c = userdata;

        buf_adds(c->s.out, "\n]}\n");
        return 0;
}

const Exporter exporter_chrome = {
        .name = "chrome",
        .summary = "trace events in JSON, for Perfetto, Firefox and others",
        .viewer_bytes = UINT64_C(100) << 20,
        .viewer_advice = "--format=perfetto is a tenth of the size",
        .n_bytes = sizeof(Chrome),
        .span = chrome_span,
        .begin = chrome_begin,
        .step = chrome_step,
        .end = chrome_end,
};
