/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* RFC 4180 with "\n": a heading, a line for each call; what there is no value for is empty. */

#include "export/call-row.h"
#include "export/escape.h"
#include "export/exporter.h"

static int csv_begin(void *userdata) {
        Buf *out = ((ExportState *) userdata)->out;

        for (size_t i = 0; i < call_columns_n; i++) {
                buf_adds(out, i > 0 ? "," : "");
                buf_adds(out, call_columns[i].name);
        }
        buf_adds(out, "\n");
        return 0;
}

static int csv_call(void *userdata, const Call *call) {
        Buf *out = ((ExportState *) userdata)->out;
        CallRow row;

        call_row_fill(&row, call);
        for (size_t i = 0; i < call_columns_n; i++) {
                const CallColumn *c = &call_columns[i];
                const void *value = (const char *) &row + c->offset;

                if (i > 0)
                        buf_add(out, ",", 1);
                if (!call_row_has(&row, c))
                        continue;
                switch (c->kind) {
                case CALL_U64:
                        escape_u64(out, *(const uint64_t *) value);
                        break;
                case CALL_I64:
                        escape_i64(out, *(const int64_t *) value);
                        break;
                case CALL_BOOL:
                        buf_adds(out, *(const bool *) value ? "1" : "0");
                        break;
                case CALL_TEXT: {
                        const CallText *text = value;

                        if (text->text)
                                escape_csv(out, text->text, text->n);
                        break;
                }
                }
        }
        buf_add(out, "\n", 1);
        return 0;
}

const Exporter exporter_csv = {
        .name = "csv",
        .summary = "a table of calls, a line each",
        .call = csv_call,
        .begin = csv_begin,
};
