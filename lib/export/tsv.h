/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A table as text: the columns of export/parquet.h, for databases that read no Parquet
 *
 *      host \t machine_id \t ... \n       the columns' names
 *      web1 \t \t ... \n                  a row; of a text that is none: nothing; of another value: \N
 *
 * In texts \\, \t, \n, \r and \0 are escaped.  A bool is 0 or 1.  This is ClickHouse's TSVWithNames
 * (TabSeparatedWithNames).
 *
 * What tsv_new() makes is filled by parquet_set() and no other function of parquet.h takes it.  A row is
 * written when it is complete.
 */

#include "export/parquet.h"

/* As parquet_new(); the order of rows is of no matter. */
int tsv_new(Parquet **ret, ParquetTexts *texts, Buf *out, const ParquetColumn *columns,
            size_t n_columns, const uint32_t *sorted, size_t n_sorted);
/* Each 0 or the error of the Buf. */
int tsv_end_row(Parquet *p);
int tsv_flush(Parquet *p);
int tsv_finish(Parquet *p);
size_t tsv_n_room(const Parquet *p); /* 0 */
Parquet *tsv_free(Parquet *p);
DEFINE_CLEANUP(Parquet *, tsv_free);
