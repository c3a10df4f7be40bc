/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * All cells are one list of strings, the titles being its first row; two
 * passes, one for the widths and one to print.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/table.h"

#define TABLE_COLUMNS_MAX 16

void table_init(Table *t, const char *titles) {
        *t = (Table){ .titles = titles };
        t->error = strv_split(&t->cells, titles, "|");
        t->n_columns = t->cells.n;
}

void table_add(Table *t, const char *format, ...) {
        char *text = NULL;
        va_list ap;

        if (t->error < 0)
                return;
        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);
        t->error = text ? strv_take(&t->cells, text) : -ENOMEM;
}

size_t table_n_rows(const Table *t) {
        return t->n_columns > 0 ? t->cells.n / t->n_columns - 1 : 0;
}

static size_t width(const char *s) {
        size_t n = 0;

        for (; *s; s++)
                n += (*s & 0xC0) != 0x80;
        return n;
}

int table_print(const Table *t, Buf *out, bool legend) {
        size_t widths[TABLE_COLUMNS_MAX] = {}, n_columns = t->n_columns;

        if (t->error < 0)
                return t->error;
        if (n_columns > TABLE_COLUMNS_MAX)
                return -E2BIG;
        for (size_t i = legend ? 0 : n_columns; i < t->cells.n; i++)
                widths[i % n_columns] = MAX(widths[i % n_columns],
                                            width(t->cells.items[i]) -
                                                    (i < n_columns && *t->cells.items[i] == '>'));
        for (size_t i = legend ? 0 : n_columns; i < t->cells.n; i++) {
                const char *cell = t->cells.items[i];
                size_t column = i % n_columns, gap;
                bool right = *t->cells.items[column] == '>', last = column + 1 == n_columns;

                if (i < n_columns && right)
                        cell++;
                gap = widths[column] - width(cell);
                if (right)
                        buf_pad(out, gap, ' ');
                buf_adds(out, cell);
                if (!right && !last)
                        buf_pad(out, gap, ' ');
                if (!last) {
                        buf_adds(out, "  ");
                        continue;
                }
                while (out->n_data > 0 && out->data[out->n_data - 1] == ' ')
                        out->n_data--;
                buf_adds(out, "\n");
        }
        return out->error;
}

void table_done(Table *t) {
        strv_done(&t->cells);
}
