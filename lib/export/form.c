/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A table. */

#include "export/form.h"
#include "export/tsv.h"

const Form form_parquet = { parquet_new,   parquet_end_row, parquet_n_room,
                            parquet_flush, parquet_finish,  parquet_free };

const Form form_tsv = { tsv_new, tsv_end_row, tsv_n_room, tsv_flush, tsv_finish, tsv_free };
