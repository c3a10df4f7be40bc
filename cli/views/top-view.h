/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Top view: the rows of a breakdown as a table or as JSON
 */

#include "analyze/breakdown.h"
#include "analyze/overhead.h"
#include "cli/options/options.h"

#define TOP_VIEW_LIMIT 30
#define TOP_VIEW_COLUMNS 20

typedef struct TopView {
        BreakdownBy by;
        const FloorCost *cost;     /* NULL: times are as they were recorded */
        uint64_t all_ns;           /* 100 % of self times */
        const BreakdownRow **rows; /* in the order of --sort; n of them */
        size_t n;
        unsigned char columns[TOP_VIEW_COLUMNS]; /* those of --columns; n_columns of them */
        size_t n_columns;
} TopView;

/* --by, --sort and --columns, if they are any.  An exit status. */
int top_view_check(const Options *o, BreakdownBy *ret_by);
/* @o: top_view_check() returned STATUS_OK; @total_ns: what all took.  0 or -ENOMEM. */
int top_view_init(TopView *ret, const Options *o, Breakdown *b, BreakdownBy by,
                  const FloorCost *cost, uint64_t total_ns);
/* Titles and the first @n rows; 0 or -ENOMEM. */
int top_view_print(const TopView *v, Buf *out, size_t n, bool legend);
/* Whether interrupts or waits were met whose columns are not shown. */
bool top_view_has_more(const TopView *v);
/* A list of the first @n rows, with all columns. */
json_t *top_view_json(const TopView *v, size_t n);
void top_view_done(TopView *v);
#define _cleanup_top_view_ _cleanup_(top_view_done)
