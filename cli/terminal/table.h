/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Table: columns as wide as their widest cell
 *
 * Cells are added row by row, left to right; widths count characters, not
 * bytes, of UTF-8.  On a terminal that is too narrow columns marked '?' are left
 * out, the last first; then the widest that are not numbers are cut, down to
 * TABLE_COLUMN_MIN; names that are to be typed again, last.
 */

#include <jansson.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/unit.h"
#include "calls/function.h"

#define TABLE_COLUMN_MIN 8

/* Of functions whose own time may be that of others (calls/function.h). */
typedef struct TableMarks {
        bool has_number, has_unknown;
} TableMarks;

typedef struct Table {
        const char *titles; /* separated by '|'; marks before one: '>' aligned to the right, '=' cut
                               last, '?' may be left out */
        Strv cells;
        size_t n_columns;
        size_t max_width; /* 0: as wide as it gets */
        TableMarks marks;
        int error;
} Table;

void table_init(Table *t, const char *titles);
void table_add(Table *t, const char *format, ...) _printf_(2, 3);
/* A cell with figure_round(). */
void table_add_time(Table *t, uint64_t ns);
/* "  (+12)" to stand behind a function, or "". */
#define TABLE_MARK_MAX 20
char *table_mark(TableMarks *marks, char text[static TABLE_MARK_MAX], int32_t n_unhooked);
#define TABLE_MARK(marks, n) table_mark((marks), (char[TABLE_MARK_MAX]){}, (n))
/* A line for all that @marks had, to stand below. */
void table_explain(const TableMarks *marks, Buf *out);
/* "nf_conntrack_in [nf_conntrack]", quoted where a terminal wants it, and its mark. */
void table_add_function(Table *t, const Function *function);
/* The same in JSON: "function", "module" (a string or null) and "not_hooked_below" (a number; null: not
 * known) into @object. */
void table_function_json(json_t *object, const Function *function);
/* A new object with these, and behind them what json_pack() makes of the rest. */
json_t *table_function_pack(const Function *function, const char *format, ...);
/* A function's name with its module, a task's name and number, or null where they are not known. */
json_t *table_label_json(const Function *function);
json_t *table_comm_json(const char *comm);
json_t *table_pid_json(int64_t pid);
json_t *table_unhooked_json(int32_t n_unhooked);

size_t table_n_rows(const Table *t);
/* Two spaces between columns, none at the end of a line; 0 or -ENOMEM. */
int table_print(const Table *t, Buf *out, bool legend);
void table_done(Table *t);
#define _cleanup_table_ _cleanup_(table_done)
