/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Table: rows that are drawn as text, or become a list of JSON objects
 *
 * A table that is printed both ways is described once, by the function that tells the cells of a row:
 *
 *      static void tell(Row r, const Thing *thing) {
 *              row_string(r, "NAME", "name", thing->name);
 *              row_count(r, "1>CALLS", "count", thing->n);
 *              row_time(r, "?>MAX", "max_ns", thing->max_ns);
 *              row_bool(r, "cut", thing->is_cut);
 *      }
 *
 *      table_begin(&t, o->json);
 *      for (...)
 *              tell(table_row(&t), &things[i]);
 *      return table_show(&t, o, NULL);
 *
 * A title of NULL: only JSON has it; a key of NULL: only the text.  Each row tells the same
 * columns.  Marks before a title: '>' aligned to the right, '=' cut last, '?' may be left out, and
 * a digit: columns without one stand first, then those with 1 and so on, each in the order in which
 * they are told, which is that of JSON.
 *
 * Columns are as wide as their widest cell; widths count characters, not bytes, of UTF-8.  On a
 * terminal that is too narrow columns marked '?' are left out, the last first; then the widest that
 * are not numbers are cut, down to TABLE_COLUMN_MIN.
 */

#include <jansson.h>

#include "base/buf.h"
#include "base/figure.h"
#include "base/strv.h"
#include "calls/function.h"
#include "cli/options/options.h"

#define TABLE_COLUMN_MIN 8

/* Of functions whose own time may be that of others (calls/unhooked.h). */
typedef struct TableMarks {
        bool has_number, has_unknown;
} TableMarks;

typedef struct Table {
        Strv titles, cells; /* with their marks; row by row */
        size_t n_rows;      /* of table_row() */
        size_t max_width;   /* 0: as wide as it gets */
        TableMarks marks;
        json_t *list; /* NULL: it is drawn */
        int error;
} Table;

typedef struct Row {
        Table *table; /* NULL: none, of row_of_json() */
        json_t *json; /* an object; NULL: it is drawn, or there is no memory */
        bool is_text, is_rest;
} Row;

/* --- both ways -------------------------------------------------------------------------------- */

void table_begin(Table *t, JsonMode json);
Row table_row(Table *t);
/* A row below those, only in the text, with blanks but for the columns that are told. */
Row table_rest(Table *t);
/* Text through a pager, behind what is in @above, which writes to stdout (NULL: nothing), or the
 * list as JSON; an exit status. */
int table_show(Table *t, const Options *o, Buf *above);
/* A row of no table, whose object is the caller's. */
static inline Row row_of_json(void) {
        return (Row){ .json = json_object() };
}

void row_time(Row r, const char *title, const char *key, uint64_t ns); /* figure_round() */
/* "-" and null unless @is_known. */
void row_known_time(Row r, const char *title, const char *key, bool is_known, uint64_t ns);
void row_count(Row r, const char *title, const char *key, uint64_t n);
/* NULL: null, and a blank. */
void row_string(Row r, const char *title, const char *key, const char *s);
/* "nf_conntrack_in [nf_conntrack]", quoted where a terminal wants it, and its mark; in JSON "function", "module" (a
 * string or null) and "not_hooked_below" (a number; null: not known). */
void row_function(Row r, const char *title, const Function *f);
/* "client", "client-812"; in JSON "task" and "pid".  @pid: negative: not known. */
void row_task(Row r, const char *title, const char *comm, int64_t pid);
void row_mean(Row r, const char *title, const char *key, double ns);   /* figure_mean() */
void row_change(Row r, const char *title, const char *key, double ns); /* figure_change() */
/* "12.5%"; in JSON 0.125. */
void row_share(Row r, const char *title, const char *key, double part, double all);
/* Only in the text, whatever it is. */
void row_cell(Row r, const char *title, const char *format, ...) _printf_(3, 4);
/* Only in JSON. */
void row_int(Row r, const char *key, int64_t n);
void row_known_int(Row r, const char *key, bool is_known, int64_t n); /* or null */
void row_real(Row r, const char *key, double d);                      /* NaN: null */
void row_bool(Row r, const char *key, bool is);
/* A function with its module; NULL: null. */
void row_label(Row r, const char *key, const Function *f);
/* @value is consumed; made unless r.is_text. */
void row_json(Row r, const char *key, json_t *value);

/* --- text alone ------------------------------------------------------------------------------- */

/* @titles: separated by '|'; cells are added row by row, left to right. */
void table_init(Table *t, const char *titles);
void table_add(Table *t, const char *format, ...) _printf_(2, 3);
size_t table_n_rows(const Table *t);
/* Two spaces between columns, none at the end of a line; 0 or -errno. */
int table_print(const Table *t, Buf *out, bool legend);
/* "  (+12)" to stand behind a function, or "". */
#define TABLE_MARK_MAX 20
char *table_mark(TableMarks *marks, char text[static TABLE_MARK_MAX], int32_t n_unhooked);
#define TABLE_MARK(marks, n) table_mark((marks), (char[TABLE_MARK_MAX]){}, (n))
/* A line for all that @marks had, to stand below. */
void table_explain(const TableMarks *marks, Buf *out);
void table_done(Table *t);
#define _cleanup_table_ _cleanup_(table_done)
