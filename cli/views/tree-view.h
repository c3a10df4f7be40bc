/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tree view: a call tree as a table or as JSON
 *
 * What took longest comes first; the way from the top to where most of the time went is marked.
 */

#include "analyze/call-tree.h"
#include "analyze/overhead.h"
#include "cli/options/options.h"
#include "cli/terminal/table.h"

typedef struct TreeView {
        const CallNode *root;
        const FloorCost *cost; /* NULL: times are as they were recorded */
        uint64_t total_ns;     /* 100 % */
        uint64_t min_ns;       /* nodes below that are left out */
        int32_t depth;         /* and levels beyond that; 0: none */
        size_t n_left_out;     /* because of min_ns, of what was asked for so far */
} TreeView;

/* @min_ppm: nodes that took less of the whole are left out, unless --min was given.  --depth is a
 * filter's, but of a tree that is upside down. */
void tree_view_init(TreeView *ret, const Options *o, const CallNode *root, const FloorCost *cost,
                    uint64_t min_ppm);

#define TREE_VIEW_TITLES ">TOTAL|>TOTAL%|>SELF|>CALLS|>AVG|  FUNCTION"
/* A row for each node; how many. */
size_t tree_view_add(TreeView *v, Table *t);
/* A list of the outermost nodes, each with its "children"; NULL without memory. */
json_t *tree_view_json(TreeView *v);
