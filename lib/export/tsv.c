/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A table as text: the columns of export/parquet.h, for databases that read no Parquet
 *
 *      host \t machine_id \t ... \n       the columns' names
 *      web1 \t \t ... \n                  a row; of a text that is none: nothing; of another value: \N
 *
 * In texts \\, \t, \n, \r and \0 are escaped.  A bool is 0 or 1.  This is ClickHouse's TSVWithNames
 * (TabSeparatedWithNames).
 *
 * There is one row in memory, in the shape of a group's; it is written when it is complete.
 */

#include "export/escape.h"
#include "export/form.h"

typedef struct Tsv {
        ParquetHead head; /* first; its only row is the first */
        ParquetTexts *texts;
        const ParquetColumn *columns;
        size_t n_columns;
        Buf *out;
        int64_t *values; /* of the row */
        uint8_t *has;
} Tsv;

static void add_double(Buf *out, int64_t bits) {
        union {
                int64_t bits;
                double value;
        } u = { .bits = bits };

        buf_printf(out, "%.17g", u.value);
}

static void add_text(Buf *out, const char *s, size_t n) {
        static const char special[] = "\\\t\n\r", letters[] = "\\tnr0";
        size_t from = 0;

        for (size_t i = 0; i < n; i++) {
                const char *at = memchr(special, s[i], sizeof(special)); /* with its NUL */

                if (_likely_(!at))
                        continue;
                buf_add(out, s + from, i - from);
                buf_add(out, (const char[]){ '\\', letters[at - special] }, 2);
                from = i + 1;
        }
        buf_add(out, s + from, n - from);
}

static void add_value(const Tsv *t, size_t i) {
        ParquetType type = t->columns[i].type;
        int64_t value = t->values[i];
        const char *text;
        size_t n;

        if (t->columns[i].is_optional && !t->has[i]) {
                if (type != PARQUET_TEXT)
                        buf_add(t->out, "\\N", 2);
                return;
        }
        switch (type) {
        case PARQUET_TEXT:
                text = parquet_texts_get(t->texts, (uint32_t) value, &n);
                add_text(t->out, text, n);
                parquet_texts_drop(t->texts, (uint32_t) value);
                break;
        case PARQUET_F64:
                add_double(t->out, value);
                break;
        case PARQUET_I32:
        case PARQUET_I64:
                escape_i64(t->out, value);
                break;
        case PARQUET_BOOL:
        case PARQUET_U16:
        case PARQUET_U32:
        case PARQUET_U64:
                escape_u64(t->out, (uint64_t) value);
        }
}

static int tsv_end_row(Parquet *p) {
        Tsv *t = (Tsv *) p;

        for (size_t i = 0; i < t->n_columns; i++) {
                if (i > 0)
                        buf_add(t->out, "\t", 1);
                add_value(t, i);
        }
        buf_add(t->out, "\n", 1);
        memset(t->values, 0, t->n_columns * sizeof(*t->values));
        memset(t->has, 0, t->n_columns);
        return t->out->error;
}

static size_t tsv_n_room(const Parquet *p) {
        return 0;
}

/* Nothing waits to be written. */
static int tsv_flush(Parquet *p) {
        return ((Tsv *) p)->out->error;
}

static Parquet *tsv_free(Parquet *p) {
        Tsv *t = (Tsv *) p;

        if (!t)
                return NULL;
        free(t->head.columns);
        free(t->values);
        free(t->has);
        return mfree(t);
}

DEFINE_CLEANUP(Parquet *, tsv_free);

static int tsv_new(Parquet **ret, ParquetTexts *texts, Buf *out, const ParquetColumn *columns,
                   size_t n_columns, const uint32_t *sorted, size_t n_sorted) {
        _cleanup_(tsv_freep) Parquet *p = calloc(1, sizeof(Tsv));
        Tsv *t = (Tsv *) p;

        if (!t)
                return -ENOMEM;
        t->texts = texts;
        t->columns = columns;
        t->n_columns = n_columns;
        t->out = out;
        t->values = calloc(n_columns, sizeof(*t->values));
        t->has = calloc(n_columns, sizeof(*t->has));
        t->head.columns = calloc(n_columns, sizeof(*t->head.columns));
        if (!t->values || !t->has || !t->head.columns)
                return -ENOMEM;
        for (size_t i = 0; i < n_columns; i++) {
                t->head.columns[i].values = &t->values[i];
                t->head.columns[i].has = columns[i].is_optional ? &t->has[i] : NULL;
                if (i > 0)
                        buf_add(out, "\t", 1);
                buf_adds(out, columns[i].name);
        }
        buf_add(out, "\n", 1);
        *ret = TAKE_PTR(p);
        return 0;
}

/* The order of rows is of no matter. */
const Form form_tsv = { tsv_new, tsv_end_row, tsv_n_room, tsv_flush, tsv_flush, tsv_free };
