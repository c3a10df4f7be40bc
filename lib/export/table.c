/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Calls as the rows of a table, in three formats
 *
 *      csv       RFC 4180 with "\n": a heading, a line for each call; what there is no value for is empty; a ' is
 *                in front of a name that a spreadsheet would run, "=1+1"
 *      ndjson    for databases, which have 64-bit integers: an object a line, each of which says what
 *                recording it is of, so that lines of a whole fleet can be one table
 *      json      for whoever reads with a program whose numbers are doubles, exact only up to 2^53 (104
 *                days in nanoseconds): one object, in which times count from `begin_ns`, which is a
 *                text, and so is `retval`
 *
 * Rows come tree by tree in the order in which calls end; `id` counts them as they begin, and `parent`
 * is the id of the caller, so that trees can be put together again.  lib/export/calls.schema.json
 * describes them for others.
 */

#include "encode/escape.h"
#include "export/exporter.h"

typedef enum Format { CSV, JSON, NDJSON } Format;

typedef struct Row {
        Buf *out;
        Format format;
        bool has_values;
} Row;

static void add_string(Buf *out, const char *text, size_t n) {
        if (!text) {
                buf_adds(out, "null");
                return;
        }
        buf_add(out, "\"", 1);
        escape_json(out, text, n);
        buf_add(out, "\"", 1);
}

static void add_member(Buf *out, const char *name, const char *text) {
        buf_printf(out, "\"%s\":", name);
        add_string(out, text, text ? strlen(text) : 0);
        buf_add(out, ",", 1);
}

/* Up to a value.  Whether there is one. */
static bool begin_value(Row *row, const char *name, bool is_there) {
        if (row->has_values)
                buf_add(row->out, ",", 1);
        row->has_values = true;
        if (row->format == CSV)
                return is_there;
        buf_add(row->out, "\"", 1);
        buf_adds(row->out, name);
        buf_adds(row->out, is_there ? "\":" : "\":null");
        return is_there;
}

static void add_u64(Row *row, const char *name, uint64_t v, bool is_there) {
        if (begin_value(row, name, is_there))
                escape_u64(row->out, v);
}

static void add_i64(Row *row, const char *name, int64_t v, bool is_there) {
        if (begin_value(row, name, is_there))
                escape_i64(row->out, v);
}

static void add_text(Row *row, const char *name, const char *text, size_t n) {
        if (!begin_value(row, name, text))
                return;
        if (row->format == CSV)
                escape_csv(row->out, text, n);
        else
                add_string(row->out, text, n);
}

static const char heading[] =
        "id,parent,start_ns,duration_ns,self_ns,blocked_ns,irq_ns,cpu,pid,task,"
        "depth,function,module,root,cut,retval,not_hooked_below\n";

static void add_call(const ExportState *s, Format format, const Call *call) {
        const Frame *frame = call->frame;
        const Function *f = frame->function;
        const char *comm = call->stack->comm;
        Row row = { .out = s->out, .format = format };
        size_t n_module;
        const char *module = function_module(f, &n_module);

        add_u64(&row, "id", frame->number, true);
        add_u64(&row, "parent", frame->parent, frame->parent != 0);
        if (format == CSV)
                add_u64(&row, "start_ns", frame->start_ns, true);
        else
                add_i64(&row, "start_ns",
                        (int64_t) (frame->start_ns - (format == JSON ? s->begin_ns : 0)), true);
        add_u64(&row, "duration_ns", call->duration_ns, true);
        add_u64(&row, "self_ns", call->self_ns, true);
        add_u64(&row, "blocked_ns", frame->blocked_ns + call->blocked_ns, true);
        add_u64(&row, "irq_ns", frame->irq_ns, true);
        add_u64(&row, "cpu", call->cpu, call->has_end);
        add_i64(&row, "pid", call->stack->pid, call->stack->pid >= 0);
        add_text(&row, "task", comm[0] ? comm : NULL, strlen(comm));
        add_i64(&row, "depth", frame->depth, true);
        add_text(&row, "function", f->label, f->n_name);
        add_text(&row, "module", module, n_module);
        add_text(&row, "root", frame->root->label, frame->root->n_name);
        (void) begin_value(&row, "cut", true);
        buf_adds(s->out,
                 format == CSV ? (call->is_cut ? "1" : "0") : (call->is_cut ? "true" : "false"));
        if (format != JSON || !call->has_retval)
                add_i64(&row, "retval", (int64_t) call->retval, call->has_retval);
        else if (begin_value(&row, "retval", true))
                buf_printf(s->out, "\"%lld\"", (long long) call->retval);
        add_i64(&row, "not_hooked_below", f->n_unhooked, unhooked_is_number(f->n_unhooked));
}

static int csv_begin(void *userdata) {
        buf_adds(((ExportState *) userdata)->out, heading);
        return 0;
}

static int csv_call(void *userdata, const Call *call) {
        const ExportState *s = userdata;

        add_call(s, CSV, call);
        buf_add(s->out, "\n", 1);
        return 0;
}

static int ndjson_call(void *userdata, const Call *call) {
        const ExportState *s = userdata;

        buf_add(s->out, "{", 1);
        add_member(s->out, "recording", s->info->recording);
        add_member(s->out, "host", s->info->host);
        add_call(s, NDJSON, call);
        buf_add(s->out, "}\n", 2);
        return 0;
}

typedef struct Json {
        ExportState s;
        bool has_calls;
} Json;

static int json_begin(void *userdata) {
        const ExportState *s = userdata;

        buf_adds(s->out, "{\"format\":\"ftraced-calls\",\"version\":1,");
        add_member(s->out, "recording", s->info->recording);
        add_member(s->out, "host", s->info->host);
        add_member(s->out, "kernel", s->info->kernel);
        add_member(s->out, "filters", s->info->filters);
        buf_printf(s->out, "\"approximate_start\":%s,\"begin_ns\":\"%llu\",\"calls\":[",
                   s->info->is_timeless ? "true" : "false", (unsigned long long) s->begin_ns);
        return 0;
}

static int json_call(void *userdata, const Call *call) {
        Json *j = userdata;

        buf_adds(j->s.out, j->has_calls ? ",\n{" : "\n{");
        j->has_calls = true;
        add_call(&j->s, JSON, call);
        buf_add(j->s.out, "}", 1);
        return 0;
}

static int json_end(void *userdata) {
        const ExportState *s = userdata;

        buf_printf(s->out, "\n],\"losses\":%llu,\"events_lost\":%llu}\n",
                   (unsigned long long) s->n_losses, (unsigned long long) s->n_lost);
        return 0;
}

const Exporter exporter_csv = {
        .name = "csv",
        .summary = "a table of calls, a line each",
        .call = csv_call,
        .begin = csv_begin,
};

const Exporter exporter_json = {
        .name = "json",
        .summary = "calls as one JSON object, its numbers exact as doubles",
        .n_bytes = sizeof(Json),
        .call = json_call,
        .begin = json_begin,
        .end = json_end,
};

const Exporter exporter_ndjson = {
        .name = "ndjson",
        .summary = "calls as JSON, an object a line, for databases",
        .call = ndjson_call,
};
