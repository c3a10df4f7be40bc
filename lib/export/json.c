/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Two formats of the same rows.  "ndjson" is for databases, which have 64-bit integers: an object a
 * line, each of which says what recording it is of, so that lines of a whole fleet can be one table.
 * "json" is for whoever reads with a program whose numbers are doubles, exact only up to 2^53 (104
 * days in nanoseconds): it is one object, in which times count from `begin_ns`, which is a text, and
 * so is `retval`.
 */

#include "export/call-row.h"
#include "export/escape.h"
#include "export/exporter.h"

typedef struct Json {
        ExportState s;
        bool has_calls;
} Json;

static void add_text(Buf *out, const char *text, size_t n) {
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
        add_text(out, text, text ? strlen(text) : 0);
}

static int json_begin(void *userdata) {
        const ExportState *s = userdata;

        buf_adds(s->out, "{\"format\":\"ftraced-calls\",\"version\":1,");
        add_member(s->out, "recording", s->info->recording);
        buf_adds(s->out, ",");
        add_member(s->out, "host", s->info->host);
        buf_adds(s->out, ",");
        add_member(s->out, "kernel", s->info->kernel);
        buf_printf(s->out, ",\"approximate_start\":%s,\"begin_ns\":\"%llu\",\"calls\":[",
                   s->info->is_timeless ? "true" : "false", (unsigned long long) s->begin_ns);
        return 0;
}

static void add_value(const ExportState *s, const CallRow *row, const CallColumn *c, bool is_line) {
        const void *value = (const char *) row + c->offset;

        if (!call_row_has(row, c)) {
                buf_adds(s->out, "null");
                return;
        }
        switch (c->kind) {
        case CALL_U64:
                if (value == &row->start_ns)
                        escape_i64(s->out, (int64_t) (row->start_ns - (is_line ? 0 : s->begin_ns)));
                else
                        escape_u64(s->out, *(const uint64_t *) value);
                break;
        case CALL_I64:
                if (value == &row->retval && !is_line)
                        buf_printf(s->out, "\"%lld\"", (long long) row->retval);
                else
                        escape_i64(s->out, *(const int64_t *) value);
                break;
        case CALL_BOOL:
                buf_adds(s->out, *(const bool *) value ? "true" : "false");
                break;
        case CALL_TEXT:
                add_text(s->out, ((const CallText *) value)->text, ((const CallText *) value)->n);
                break;
        }
}

static void add_row(const ExportState *s, const Call *call, bool is_line) {
        CallRow row;

        call_row_fill(&row, call);
        for (size_t i = 0; i < call_columns_n; i++) {
                buf_adds(s->out, i > 0 ? ",\"" : "\"");
                buf_adds(s->out, call_columns[i].name);
                buf_add(s->out, "\":", 2);
                add_value(s, &row, &call_columns[i], is_line);
        }
        buf_add(s->out, "}", 1);
}

static int json_call(void *userdata, const Call *call) {
        Json *j = userdata;

        buf_adds(j->s.out, j->has_calls ? ",\n{" : "\n{");
        j->has_calls = true;
        add_row(&j->s, call, false);
        return 0;
}

static int ndjson_call(void *userdata, const Call *call) {
        const ExportState *s = userdata;

        buf_add(s->out, "{", 1);
        add_member(s->out, "recording", s->info->recording);
        buf_add(s->out, ",", 1);
        add_member(s->out, "host", s->info->host);
        buf_add(s->out, ",", 1);
        add_row(s, call, true);
        buf_add(s->out, "\n", 1);
        return 0;
}

static int json_end(void *userdata) {
        const ExportState *s = userdata;

        buf_printf(s->out, "\n],\"losses\":%llu,\"events_lost\":%llu}\n",
                   (unsigned long long) s->n_losses, (unsigned long long) s->n_lost);
        return 0;
}

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
