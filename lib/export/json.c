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
        const ExportInfo *info;
        Buf *out;
        bool is_lines; /* ndjson */
        uint64_t begin_ns;
        uint64_t n_lost; /* events, and losses that were not counted */
        uint64_t n_losses;
        bool is_first;
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

static int json_begin(void *userdata, uint64_t begin_ns) {
        Json *j = userdata;

        if (j->is_lines)
                return 0;
        j->begin_ns = begin_ns;
        buf_adds(j->out, "{\"format\":\"ftraced-calls\",\"version\":1,");
        add_member(j->out, "recording", j->info->recording);
        buf_adds(j->out, ",");
        add_member(j->out, "host", j->info->host);
        buf_adds(j->out, ",");
        add_member(j->out, "kernel", j->info->kernel);
        buf_printf(j->out, ",\"approximate_start\":%s,\"begin_ns\":\"%llu\",\"calls\":[",
                   j->info->is_timeless ? "true" : "false", (unsigned long long) begin_ns);
        return 0;
}

static void add_value(Json *j, const CallRow *row, const CallColumn *c) {
        const void *value = (const char *) row + c->offset;

        if (!call_row_has(row, c)) {
                buf_adds(j->out, "null");
                return;
        }
        switch (c->kind) {
        case CALL_U64:
                if (value == &row->start_ns)
                        escape_i64(j->out, (int64_t) (row->start_ns - j->begin_ns));
                else
                        escape_u64(j->out, *(const uint64_t *) value);
                break;
        case CALL_I64:
                if (value == &row->retval && !j->is_lines)
                        buf_printf(j->out, "\"%lld\"", (long long) row->retval);
                else
                        escape_i64(j->out, *(const int64_t *) value);
                break;
        case CALL_BOOL:
                buf_adds(j->out, *(const bool *) value ? "true" : "false");
                break;
        case CALL_TEXT:
                add_text(j->out, ((const CallText *) value)->text, ((const CallText *) value)->n);
                break;
        }
}

static int json_call(void *userdata, const Call *call) {
        Json *j = userdata;
        CallRow row;

        call_row_fill(&row, call);
        if (!j->is_lines)
                buf_adds(j->out, j->is_first ? "\n" : ",\n");
        j->is_first = false;
        buf_add(j->out, "{", 1);
        if (j->is_lines) {
                add_member(j->out, "recording", j->info->recording);
                buf_add(j->out, ",", 1);
                add_member(j->out, "host", j->info->host);
                buf_add(j->out, ",", 1);
        }
        for (size_t i = 0; i < call_columns_n; i++) {
                buf_adds(j->out, i > 0 ? ",\"" : "\"");
                buf_adds(j->out, call_columns[i].name);
                buf_add(j->out, "\":", 2);
                add_value(j, &row, &call_columns[i]);
        }
        buf_adds(j->out, j->is_lines ? "}\n" : "}");
        return 0;
}

static int json_step(void *userdata, const Step *step) {
        Json *j = userdata;

        if (step->kind == STEP_LOST) {
                j->n_losses++;
                j->n_lost += step->n_lost;
        }
        return 0;
}

static int json_end(void *userdata) {
        Json *j = userdata;

        if (!j->is_lines)
                buf_printf(j->out, "\n],\"losses\":%llu,\"events_lost\":%llu}\n",
                           (unsigned long long) j->n_losses, (unsigned long long) j->n_lost);
        return 0;
}

static int json_new_as(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out,
                       bool is_lines) {
        Json *j = malloc(sizeof(*j));

        if (!j)
                return -ENOMEM;
        *j = (Json){ .info = info, .out = out, .is_lines = is_lines, .is_first = true };
        pairing_add_sink(pairing, NULL, json_call, j);
        *ret = j;
        return 0;
}

static int json_new(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out) {
        return json_new_as(ret, info, pairing, out, false);
}

static int ndjson_new(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out) {
        return json_new_as(ret, info, pairing, out, true);
}

const Exporter exporter_json = {
        .name = "json",
        .summary = "calls as one JSON object, its numbers exact as doubles",
        .new = json_new,
        .begin = json_begin,
        .step = json_step,
        .end = json_end,
        .free = free,
};

const Exporter exporter_ndjson = {
        .name = "ndjson",
        .summary = "calls as JSON, an object a line, for databases",
        .new = ndjson_new,
        .begin = json_begin,
        .step = json_step,
        .end = json_end,
        .free = free,
};
