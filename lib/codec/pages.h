/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Pages <-> columns
 *
 * The model's kinds are what both sides know of the records; its other contents do not matter
 * before and mean nothing afterwards.
 */

#include "codec/columns.h"
#include "codec/model.h"

/* Takes @n_pages little-endian pages apart; the columns have room (BLOCK_BYTES_MAX). */
void pages_split(Model *m, Columns *c, const uint8_t *pages, size_t n_pages, size_t page_bytes);

enum { PAGES_E_DAMAGED = 1 };
/* Puts them together.  Every column must have been read to its end. */
int pages_join(Model *m, Columns *c, uint8_t *ret_pages, size_t n_pages, size_t page_bytes);
