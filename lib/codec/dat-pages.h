/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * DatPages: the pages of one CPU in a trace.dat, in place or unpacked a chunk at a time
 */

#include "codec/dat-file.h"
#include "codec/sealed-reader.h"

typedef struct DatPages DatPages;

enum { DAT_PAGES_E_LOST = 1 };

/* @f: borrowed.  0, -ENOENT (no such CPU), -ENOMEM. */
int dat_pages_open(DatPages **ret, const DatFile *f, uint32_t cpu);
/* Whether there is a page @i: 1, 0, -ENOMEM.  Packed ones are looked through for where their chunks
 * begin only as far as that. */
int dat_pages_has(DatPages *p, uint64_t i);
/* Looks through all of them. */
uint64_t dat_pages_n_pages(DatPages *p);
/* Bytes that the file should have and has not, or that are no whole page. */
uint64_t dat_pages_torn_bytes(const DatPages *p);
/*
 * dat_pages_read() - page @i, which is there, and those that lie behind it in memory
 * @ret:   set with 0; valid until a page of another chunk is asked for
 * @ret_n: how many they are; with DAT_PAGES_E_LOST how many are in the chunk that is damaged
 *
 * Return: 0, DAT_PAGES_E_LOST (and noted), -ENOMEM.
 */
int dat_pages_read(DatPages *p, uint64_t i, const void **ret, uint64_t *ret_n);
/* Whether pages lie in the mapped file, not in memory of ours. */
bool dat_pages_are_mapped(const DatPages *p);
/* Of pages that are mapped: the file, borrowed, and where in it page 0 begins. */
int dat_pages_fd(const DatPages *p, uint64_t *ret_at);
/* What was found so far; a block is a chunk. */
const SealedDamage *dat_pages_damages(const DatPages *p, size_t *ret_n);
DatPages *dat_pages_free(DatPages *p);
DEFINE_CLEANUP(DatPages *, dat_pages_free);
