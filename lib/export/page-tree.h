/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Page tree: a call tree in HTML, to be unfolded
 *
 * A node is a <details>, or a <div> if it calls nothing:
 *
 *      <details class="CLASS" data-n data-total data-self>   calls, [ns], [ns]
 *        <summary><code>NAME</code> <b>12.3 %</b> total ..., self ..., 4 calls</summary>
 *
 * Those with the largest shares are shown; what is left out below a node is a line that says how much.
 */

#include "analyze/call-tree.h"
#include "base/buf.h"

typedef struct PageTree {
        Buf *out;
        const char *class;
        size_t max_nodes;
        unsigned open_permille; /* nodes with so much of all are unfolded from the beginning */
        uint64_t all_ns;        /* page_tree_write()'s own, like the next */
        uint64_t min_ns;
} PageTree;

/* @tree: finished.  0 or -ENOMEM. */
int page_tree_write(PageTree *p, CallTree *tree);
/* <code>NAME</code> */
void page_add_function(Buf *out, const Function *f);
