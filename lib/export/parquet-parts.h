/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Parts: the files that the calls of a recording go into, one for all of them or one for each root
 *
 * The first PARTS_OPEN_MAX roots have theirs open until the end.  Trees of further roots wait, in memory and then in a
 * file (export/spill.h), and are written at the end, one root after the other: neither descriptors nor memory grow with
 * the number of roots, but for some 50 bytes each.
 */

#include "export/exporter.h"
#include "export/form.h"
#include "export/parquet.h"
#include "export/spill.h"

#define PARTS_OPEN_MAX 32

/* An outermost call with all below it. */
typedef struct PartsTree {
        uint64_t number;
        int32_t pid;             /* negative: not known */
        uint32_t task, trace_id; /* texts */
        uint32_t n;              /* rows */
        const void *rows;
        Spill *spill; /* that they are in, to relax it */
} PartsTree;

/* All borrowed. */
typedef struct PartsConfig {
        const ExportState *state; /* its info: whether there is one for each root; opens, closes */
        const Form *form;
        ParquetTexts *texts;
        const ParquetColumn *columns;
        size_t n_columns;
        const uint32_t *sorted;
        size_t n_sorted;
        size_t row_bytes;
        /* Each row of @tree becomes one of @file.  0 or -errno. */
        int (*write)(void *userdata, Parquet *file, const PartsTree *tree);
        void *userdata;
} PartsConfig;

typedef struct Parts Parts;

int parts_new(Parts **ret, const PartsConfig *config);
/* @root: its name's number in the texts, which is that of @function.  0 or -errno, also of the files. */
int parts_add(Parts *p, uint32_t root, const Function *function, const PartsTree *tree);
/* No more trees: a file for all is there even without any.  As parts_add(). */
int parts_finish(Parts *p);
Parts *parts_free(Parts *p);
DEFINE_CLEANUP(Parts *, parts_free);
