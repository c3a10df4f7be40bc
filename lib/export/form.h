/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Form: what the rows of a table become
 *
 * Each function is as the one of export/parquet.h; what new() makes is filled by parquet_set(), whatever form it has.
 */

#include "export/parquet.h"

typedef struct Form {
        int (*new)(Parquet **ret, ParquetTexts *texts, Buf *out, const ParquetColumn *columns,
                   size_t n_columns, const uint32_t *sorted, size_t n_sorted);
        int (*end_row)(Parquet *p);
        size_t (*n_room)(const Parquet *p);
        int (*flush)(Parquet *p);
        int (*finish)(Parquet *p);
        Parquet *(*free)(Parquet *p);
} Form;

extern const Form form_parquet;
extern const Form form_tsv; /* export/tsv.c */
