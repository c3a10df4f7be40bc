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

        if (u.value > 0 && u.value < UINT32_MAX && u.value == (double) (uint32_t) u.value)
                escape_u64(out, (uint32_t) u.value);
        else
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

/* True if it needs no escapes, which is found out once. */
static bool is_plain(ParquetText *t) {
        if (!TAKE(t->is_seen, true))
                t->is_plain = plain_length(t->data, t->n, PLAIN_WORD) == t->n &&
                              !memchr(t->data, '\\', t->n) && !escape_is_formula(t->data, t->n);
        return t->is_plain;
}

static void add_value(const Parquet *p, const ParquetValues *c, char end) {
        bool has = !c->has || c->has[0], is_text = c->spec->type == PARQUET_TEXT;
        ParquetText *text = has && is_text ? &p->texts->items[c->values[0]] : NULL;
        size_t n_plain = text && _likely_(is_plain(text)) ? text->n : 0;
        char *at;

        if (text && _unlikely_(n_plain < text->n))
                add_text(p->out, text->data, text->n);
        else if (has && c->spec->type == PARQUET_F64)
                add_double(p->out, c->values[0]);
        at = buf_reserve(p->out, n_plain + DECIMAL_BYTES + 2);
        if (!at)
                return;
        if (text)
                at = append(at, text->data, n_plain);
        else if (!has && !is_text)
                at = APPEND(at, "\\N");
        else if (has && (c->spec->type == PARQUET_I32 || c->spec->type == PARQUET_I64))
                at = append_i64(at, c->values[0]);
        else if (has && c->spec->type != PARQUET_F64)
                at = append_u64(at, (uint64_t) c->values[0]);
        *at++ = end;
        p->out->n_data = (size_t) (at - p->out->data);
        if (text)
                parquet_texts_drop(p->texts, (uint32_t) c->values[0]);
}

void tsv_put_row(Parquet *p) {
        for (size_t i = 0; i < p->schema->n_columns; i++)
                add_value(p, &p->columns[i], i + 1 < p->schema->n_columns ? '\t' : '\n');
}

void tsv_put_heading(const Parquet *p) {
        for (size_t i = 0; i < p->schema->n_columns; i++) {
                buf_adds(p->out, i > 0 ? "\t" : "");
                buf_adds(p->out, p->schema->columns[i].name);
        }
        buf_add(p->out, "\n", 1);
}
