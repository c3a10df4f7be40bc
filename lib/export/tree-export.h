/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tree export: what formats share that are made of a call tree
 *
 * Nothing is written before the end; memory is in proportion to the tree's nodes.
 */

#include "analyze/call-tree.h"
#include "export/exporter.h"

typedef struct TreeExport {
        const ExportInfo *info;
        Buf *out;
        CallTree *tree;
} TreeExport;

/* Exporter's. */
int tree_export_new(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out);
void tree_export_free(void *p);
