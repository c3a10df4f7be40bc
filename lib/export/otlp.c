/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * OpenTelemetry's protocol in JSON: outermost calls as spans of the requests that they belong to, so that a
 * trace of an application shows where its time in the kernel went.
 *
 *      trace      traceparent=00-4bf9...-00f0...-01 in a marker of the task (calls/trace-context.h)
 *        span 00f0...  of the application
 *          span 6c1e...  udp_sendmsg, the kernel's
 *
 * A call whose task has said no request is no span: a trace of its own for each would drown whoever stores
 * them.  A line is one ExportTraceServiceRequest, which an OTLP/HTTP receiver takes as it is at /v1/traces
 * and the collector's otlpjsonfile receiver reads from the file; after SPANS_MAX spans, and with each
 * recording, a new line begins, since receivers limit what they take (20 MiB in the collector).
 *
 * A span's id is a hash of the recording's identity, the task, when the call began and its name, so that the
 * same call has the same id whatever filter it was exported with, and to send it twice does no harm.
 *
 * Ids are hexadecimal here, not base64, enumerations numbers, and integers of 64 bits texts.
 *
 * Source: opentelemetry-proto 1.5, docs/specification.md (JSON Protobuf Encoding), trace/v1/trace.proto;
 * semantic conventions 1.30 (host, os, thread, cpu.logical_number).
 */

#include "base/hash.h"
#include "calls/filter.h"
#include "export/escape.h"
#include "export/exporter.h"

#define SPANS_MAX 10000 /* of a request: some 7 MB */
#define KIND_INTERNAL 1
#define STATUS_ERROR 2
#define SERVICE "kernel"

typedef struct Otlp {
        ExportState s;
        uint64_t source;  /* hash of the recording's identity */
        uint64_t n_trees; /* of the recording */
        size_t n_spans;   /* of the request that is open */
        bool is_open, has_any;
} Otlp;

/* --- fields ----------------------------------------------------------------------------------- */

static void begin_attribute(Buf *out, bool *has_any, const char *key, const char *type) {
        if (*has_any)
                buf_add(out, ",", 1);
        *has_any = true;
        buf_adds(out, "{\"key\":\"");
        buf_adds(out, key);
        buf_adds(out, "\",\"value\":{\"");
        buf_adds(out, type);
        buf_adds(out, "\":");
}

static void end_attribute(Buf *out) {
        buf_add(out, "}}", 2);
}

static void add_text(Buf *out, bool *has_any, const char *key, const char *text, size_t n) {
        if (!text || n == 0)
                return;
        begin_attribute(out, has_any, key, "stringValue");
        buf_add(out, "\"", 1);
        escape_json(out, text, n);
        buf_add(out, "\"", 1);
        end_attribute(out);
}

static void add_i64(Buf *out, bool *has_any, const char *key, int64_t value) {
        begin_attribute(out, has_any, key, "intValue");
        buf_add(out, "\"", 1);
        escape_i64(out, value);
        buf_add(out, "\"", 1);
        end_attribute(out);
}

static void add_true(Buf *out, bool *has_any, const char *key) {
        begin_attribute(out, has_any, key, "boolValue");
        buf_adds(out, "true");
        end_attribute(out);
}

static void add_time(Buf *out, const char *name, uint64_t ns) {
        buf_printf(out, "\"%s\":\"", name);
        escape_u64(out, ns);
        buf_adds(out, "\",");
}

/* --- requests --------------------------------------------------------------------------------- */

static void add_resource(Buf *out, const ExportInfo *info) {
        const char *machine = info->meta ? info->meta->machine_id : NULL;
        bool has_any = false;

        buf_adds(out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
        add_text(out, &has_any, "service.name", SERVICE, strlen(SERVICE));
        add_text(out, &has_any, "host.name", info->host, info->host ? strlen(info->host) : 0);
        add_text(out, &has_any, "host.id", machine, machine ? strlen(machine) : 0);
        add_text(out, &has_any, "os.type", "linux", strlen("linux"));
        add_text(out, &has_any, "os.version", info->kernel,
                 info->kernel ? strlen(info->kernel) : 0);
        buf_adds(out, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"ftraced\",\"version\":"
                      "\"" PACKAGE_VERSION "\"},\"spans\":[");
}

static void begin_span(Otlp *o) {
        if (o->n_spans == SPANS_MAX) {
                buf_adds(o->s.out, "]}]}]}\n");
                o->is_open = false;
                o->n_spans = 0;
        }
        if (!o->is_open)
                add_resource(o->s.out, o->s.info);
        else
                buf_add(o->s.out, ",", 1);
        o->is_open = o->has_any = true;
        o->n_spans++;
}

static int end_source(void *userdata) {
        Otlp *o = userdata;

        if (o->is_open)
                buf_adds(o->s.out, "]}]}]}\n");
        o->is_open = false;
        o->n_spans = 0;
        return 0;
}

/* --- spans ------------------------------------------------------------------------------------ */

static uint64_t hash_u64(uint64_t hash, uint64_t v) {
        char bytes[8];

        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (char) (v >> 8 * i);
        return hash_bytes(hash, bytes, sizeof(bytes));
}

/* With its NUL, so that two texts are not one. */
static uint64_t hash_text(uint64_t hash, const char *text) {
        return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "\1", 1);
}

/* All zeroes are no id. */
static uint64_t span_id_of(const Otlp *o, const Call *call) {
        const Frame *f = call->frame;
        uint64_t id = hash_u64(hash_u64(o->source, (uint64_t) call->stack->key), f->start_ns);

        id = hash_mix(hash_bytes(id, f->function->label, f->function->n_label));
        return id ?: 1;
}

static uint64_t wall_ns(const Otlp *o, uint64_t trace_ns) {
        const SessionMeta *m = o->s.info->meta;

        return m ? session_meta_realtime_ns(m, trace_ns) : trace_ns;
}

static void add_attributes(Otlp *o, const Call *call) {
        const Function *f = call->frame->function;
        const Stack *stack = call->stack;
        Buf *out = o->s.out;
        size_t n_module;
        const char *module = function_module(f, &n_module);
        bool has_any = false;

        buf_adds(out, "\"attributes\":[");
        if (stack->pid >= 0)
                add_i64(out, &has_any, "thread.id", stack->pid);
        add_text(out, &has_any, "thread.name", stack->comm, strnlen(stack->comm, 16));
        if (call->has_end)
                add_i64(out, &has_any, "cpu.logical_number", call->cpu);
        add_text(out, &has_any, "ftraced.module", module, n_module);
        add_text(out, &has_any, "ftraced.recording", o->s.info->recording,
                 o->s.info->recording ? strlen(o->s.info->recording) : 0);
        add_i64(out, &has_any, "ftraced.tree", (int64_t) o->n_trees);
        add_i64(out, &has_any, "ftraced.self_ns", (int64_t) call->self_ns);
        add_i64(out, &has_any, "ftraced.blocked_ns",
                (int64_t) (call->frame->blocked_ns + call->blocked_ns));
        add_i64(out, &has_any, "ftraced.irq_ns", (int64_t) call->frame->irq_ns);
        if (call->has_retval)
                add_i64(out, &has_any, "ftraced.retval", (int64_t) call->retval);
        if (call->is_cut)
                add_true(out, &has_any, "ftraced.cut");
        if (unhooked_is_number(f->n_unhooked))
                add_i64(out, &has_any, "ftraced.not_hooked_below", f->n_unhooked);
        buf_add(out, "]", 1);
}

static int add_span(Otlp *o, const Call *call, const TraceContext *c) {
        const Function *f = call->frame->function;
        char trace_id[2 * TRACE_ID_BYTES + 1], parent_id[2 * SPAN_ID_BYTES + 1];
        uint64_t begin_ns = wall_ns(o, call->frame->start_ns);
        Buf *out = o->s.out;

        trace_context_format_id(trace_id, c->trace_id, sizeof(c->trace_id));
        trace_context_format_id(parent_id, c->span_id, sizeof(c->span_id));
        begin_span(o);
        buf_printf(out,
                   "{\"traceId\":\"%s\",\"spanId\":\"%016llx\",\"parentSpanId\":\"%s\","
                   "\"flags\":%u,\"name\":\"",
                   trace_id, (unsigned long long) span_id_of(o, call), parent_id, c->flags);
        escape_json(out, f->label, f->n_name);
        buf_printf(out, "\",\"kind\":%d,", KIND_INTERNAL);
        add_time(out, "startTimeUnixNano", begin_ns);
        add_time(out, "endTimeUnixNano", begin_ns + MIN(call->duration_ns, UINT64_MAX - begin_ns));
        add_attributes(o, call);
        if (call->has_retval && filter_is_error(call->retval))
                buf_printf(out, ",\"status\":{\"code\":%d,\"message\":\"returned %d\"}",
                           STATUS_ERROR, (int) (int32_t) call->retval);
        buf_add(out, "}", 1);
        return out->error;
}

static int end_call(void *userdata, const Call *call) {
        Otlp *o = userdata;
        const TraceContext *c;

        if (!call->is_root)
                return 0;
        o->n_trees++;
        o->s.n_roots++;
        c = export_context_of(&o->s, call);
        if (c)
                return add_span(o, call, c);
        o->s.n_left_out++;
        return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int init(void *userdata, Pairing *pairing) {
        Otlp *o = userdata;
        const ExportInfo *info = o->s.info;
        uint64_t hash = HASH_BYTES_FIRST;

        hash = hash_text(hash, info->host);
        hash = hash_text(hash, info->meta ? info->meta->boot_id : NULL);
        o->source = hash_text(hash, info->recording);
        o->n_trees = 0;
        pairing_add_sink(pairing, NULL, end_call, o);
        return 0;
}

/* Without spans it is a request all the same. */
static int end(void *userdata) {
        Otlp *o = userdata;

        if (!o->has_any)
                buf_adds(o->s.out, "{\"resourceSpans\":[]}\n");
        return 0;
}

const Exporter exporter_otlp = {
        .name = "otlp",
        .summary = "outermost calls as spans of requests, for OpenTelemetry",
        .takes_many = true,
        .needs_wall = true,
        .has_contexts = true,
        .n_bytes = sizeof(Otlp),
        .init = init,
        .end_source = end_source,
        .end = end,
};
