/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * All cells are one list of strings, the titles being its first row; two
 * passes, one for the widths and one to print.
 */

#include "base/name.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"

#define TABLE_COLUMNS_MAX 24
#define GAP 2             /* spaces between columns */
#define LEFT_OUT SIZE_MAX /* as a column's width */

void table_init(Table *t, const char *titles) {
        *t = (Table){ .titles = titles, .max_width = terminal_columns() };
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
        if (text && plain_length(text, strlen(text), PLAIN_WORD) < strlen(text)) {
                _cleanup_free_ char *said = TAKE_PTR(text);
                _cleanup_buf_ Buf plain = BUF_INIT;

                buf_add_plain(&plain, said, strlen(said), PLAIN_WORD);
                if (buf_take_string(&plain, &text) < 0)
                        text = NULL;
        }
        t->error = text ? strv_take(&t->cells, text) : -ENOMEM;
}

void table_add_time(Table *t, uint64_t ns) {
        table_add(t, "%s", FIGURE_ROUND(ns));
}

void table_add_function(Table *t, const Function *function) {
        table_add(t, "%s%s", NAME_QUOTED(function->label),
                  TABLE_MARK(&t->marks, function->n_unhooked));
}

char *table_mark(TableMarks *marks, char text[static TABLE_MARK_MAX], int32_t n_unhooked) {
        bool is_unknown = n_unhooked == UNHOOKED_UNKNOWN;

        text[0] = 0;
        if (unhooked_is_none(n_unhooked))
                return text;
        marks->has_unknown |= is_unknown;
        marks->has_number |= !is_unknown;
        (void) snprintf(text, TABLE_MARK_MAX, is_unknown ? "  (+?)" : "  (+%d)", n_unhooked);
        return text;
}

void table_explain(const TableMarks *marks, Buf *out) {
        if (marks->has_number)
                buf_adds(out, "(+N): or N functions below it, which were not hooked: what they do "
                              "counts as its own.\n");
        if (marks->has_unknown)
                buf_adds(out,
                         "(+?): or what it calls, which nobody knows: that counts as its own.\n");
}

void table_function_json(json_t *object, const Function *f) {
        size_t n;
        const char *module = function_module(f, &n);

        (void) json_object_set_new(object, "function", json_stringn(f->label, f->n_name));
        (void) json_object_set_new(object, "module",
                                   module ? json_stringn(module, n) : json_null());
        (void) json_object_set_new(object, "not_hooked_below", table_unhooked_json(f->n_unhooked));
}

json_t *table_function_pack(const Function *f, const char *format, ...) {
        json_t *o = json_object();
        va_list ap;

        table_function_json(o, f);
        va_start(ap, format);
        (void) json_object_update_new(o, json_vpack_ex(NULL, 0, format, ap));
        va_end(ap);
        return o;
}

json_t *table_label_json(const Function *f) {
        return f ? terminal_json_text(f->label, f->n_label) : json_null();
}

json_t *table_comm_json(const char *comm) {
        return terminal_json_string(*comm ? comm : NULL);
}

json_t *table_pid_json(int64_t pid) {
        return pid >= 0 ? json_integer(pid) : json_null();
}

json_t *table_unhooked_json(int32_t n_unhooked) {
        return unhooked_is_number(n_unhooked) ? json_integer(n_unhooked) : json_null();
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

static size_t n_marks(const char *title) {
        return strspn(title, "?>=");
}

static bool is_marked(const Table *t, size_t column, char mark) {
        const char *title = t->cells.items[column];

        return memchr(title, mark, n_marks(title));
}

static size_t columns_total(const Table *t, const size_t *widths) {
        size_t total = 0;

        for (size_t i = 0; i < t->n_columns; i++)
                if (widths[i] != LEFT_OUT)
                        total += widths[i] + GAP;
        return total - GAP;
}

/* The widest of the columns that may be cut and are cut last, or not; SIZE_MAX: there is none. */
static size_t widest_column(const Table *t, const size_t *widths, bool is_last) {
        size_t widest = SIZE_MAX;

        for (size_t i = 0; i < t->n_columns; i++)
                if (widths[i] != LEFT_OUT && !is_marked(t, i, '>') &&
                    is_marked(t, i, '=') == is_last && widths[i] > TABLE_COLUMN_MIN &&
                    (widest == SIZE_MAX || widths[i] > widths[widest]))
                        widest = i;
        return widest;
}

/* Leaves out what may be, then takes what is too much from the widest of the columns that may be cut. */
static void fit(const Table *t, size_t *widths) {
        size_t total;

        for (size_t i = t->n_columns; i > 0 && columns_total(t, widths) > t->max_width; i--)
                if (is_marked(t, i - 1, '?'))
                        widths[i - 1] = LEFT_OUT;
        for (total = columns_total(t, widths); total > t->max_width; total--) {
                size_t widest = widest_column(t, widths, false);

                if (widest == SIZE_MAX)
                        widest = widest_column(t, widths, true);
                if (widest == SIZE_MAX)
                        return;
                widths[widest]--;
        }
}

/* At most @max characters of @cell, the last of them a mark if that is not all. */
static void add_cut(Buf *out, const char *cell, size_t max) {
        bool is_utf8 = terminal_is_utf8();
        const char *end = cell;

        if (width(cell) <= max) {
                buf_adds(out, cell);
                return;
        }
        for (size_t n = 0; *end; end++) {
                n += (*end & 0xC0) != 0x80;
                if (n == max)
                        break;
        }
        buf_add(out, cell, (size_t) (end - cell));
        buf_adds(out, is_utf8 ? "…" : "~");
}

int table_print(const Table *t, Buf *out, bool legend) {
        size_t widths[TABLE_COLUMNS_MAX] = {}, n_columns = t->n_columns, last = n_columns - 1;

        if (t->error < 0)
                return t->error;
        if (n_columns > TABLE_COLUMNS_MAX)
                return ORIGIN(-E2BIG);
        for (size_t i = legend ? 0 : n_columns; i < t->cells.n; i++)
                widths[i % n_columns] =
                        MAX(widths[i % n_columns],
                            width(t->cells.items[i]) -
                                    (i < n_columns ? n_marks(t->cells.items[i]) : 0));
        if (t->max_width > 0)
                fit(t, widths);
        while (last > 0 && widths[last] == LEFT_OUT)
                last--;
        for (size_t i = legend ? 0 : n_columns; i < t->cells.n; i++) {
                const char *cell = t->cells.items[i];
                size_t column = i % n_columns, gap;
                bool right = is_marked(t, column, '>');

                if (widths[column] == LEFT_OUT)
                        continue;
                if (i < n_columns)
                        cell += n_marks(cell);
                gap = widths[column] - MIN(widths[column], width(cell));
                if (right)
                        buf_pad(out, gap, ' ');
                add_cut(out, cell, widths[column]);
                if (!right && column != last)
                        buf_pad(out, gap, ' ');
                if (column != last) {
                        buf_pad(out, GAP, ' ');
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
