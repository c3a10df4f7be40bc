/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A table as text: the columns of encode/parquet.h, for databases that read no Parquet
 *
 *      host \t machine_id \t ... \n       the columns' names
 *      web1 \t \t ... \n                  a row; of a text that is none: nothing; of another value: \N
 *
 * In texts \\, \t, \n, \r and \0 are escaped, as \xNN bytes of what may not reach a terminal (base/buf.h) and what a
 * spreadsheet would run ("=" and the like in front).  A bool is 0 or 1.  This is ClickHouse's TSVWithNames
 * (TabSeparatedWithNames), which has all names back as they were.
 */

#include "encode/escape.h"
#include "encode/parquet.h"

static void add_double(Buf *out, int64_t bits) {
        union {
                int64_t bits;
                double value;
        } u = { .bits = bits };

        buf_printf(out, "%.17g", u.value);
}

static void add_text(Buf *out, const char *s, size_t n) {
        static const char special[] = "\\\t\n\r", letters[] = "\\tnr0";
        size_t from = 0, length;

        for (size_t i = 0; i < n; i += length) {
                const char *at = memchr(special, s[i], sizeof(special)); /* with its NUL */
                uint32_t c;

                length = utf8_decode(s + i, n - i, &c);
                if (_likely_(length > 0 && plain_code_point(c) && !at &&
                             (i > 0 || !escape_is_formula(s, n))))
                        continue;
                length = MAX(length, (size_t) 1);
                buf_add(out, s + from, i - from);
                if (at)
                        buf_add(out, (const char[]){ '\\', letters[at - special] }, 2);
                else
                        for (size_t k = 0; k < length; k++)
                                buf_printf(out, "\\x%02X", (unsigned char) s[i + k]);
                from = i + length;
        }
        buf_add(out, s + from, n - from);
}

static void add_value(const Parquet *p, const ParquetValues *c) {
        const ParquetText *text;

        if (c->has && !c->has[0]) {
                if (c->spec->type != PARQUET_TEXT)
                        buf_add(p->out, "\\N", 2);
                return;
        }
        switch (c->spec->type) {
        case PARQUET_TEXT:
                text = &p->texts->items[c->values[0]];
                add_text(p->out, text->data, text->n);
                parquet_texts_drop(p->texts, (uint32_t) c->values[0]);
                break;
        case PARQUET_F64:
                add_double(p->out, c->values[0]);
                break;
        case PARQUET_I32:
        case PARQUET_I64:
                escape_i64(p->out, c->values[0]);
                break;
        case PARQUET_BOOL:
        case PARQUET_U16:
        case PARQUET_U32:
        case PARQUET_U64:
                escape_u64(p->out, (uint64_t) c->values[0]);
        }
}

void tsv_put_row(Parquet *p) {
        for (size_t i = 0; i < p->schema->n_columns; i++) {
                if (i > 0)
                        buf_add(p->out, "\t", 1);
                add_value(p, &p->columns[i]);
        }
        buf_add(p->out, "\n", 1);
}

void tsv_put_heading(const Parquet *p) {
        for (size_t i = 0; i < p->schema->n_columns; i++) {
                buf_adds(p->out, i > 0 ? "\t" : "");
                buf_adds(p->out, p->schema->columns[i].name);
        }
        buf_add(p->out, "\n", 1);
}
