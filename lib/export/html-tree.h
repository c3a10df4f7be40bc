/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A call tree, to be unfolded: a node is a <details>, or a <div> if it calls nothing
 *
 *      <details class="CLASS" data-n data-total data-self>   calls, [ns], [ns]
 *        <summary><code>NAME</code> <b>12.3 %</b> total ..., self ..., 4 calls</summary>
 *
 * With excerpts of the source also data-at, where it is called, and data-def, where it is defined, each the index of a
 * file and a line, "3:1332"; and data-in of what is no call, "inlined" or "not traced".
 */

#include "analyze/call-tree.h"
#include "export/exporter.h"

typedef struct HtmlTree {
        Buf *out;
        const char *class;
        size_t max_nodes;
        const ExportInfo
                *source; /* nodes say where in its excerpts they are; NULL: there are none */
        uint64_t all_ns, min_ns; /* html_tree_write()'s own */
} HtmlTree;

/* The nodes with the largest shares, callers first; of the others a line says how much.  0 or -errno. */
int html_tree_write(HtmlTree *p, CallTree *tree);
/* What is beside it: the excerpts, which a script shows of the node that is chosen, and what of them lacks.  0 or -errno. */
int html_tree_write_source(const HtmlTree *p);
/* A function as <code>. */
void html_tree_name(Buf *out, const Function *f);
