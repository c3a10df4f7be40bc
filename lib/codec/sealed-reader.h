/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * SealedReader: the blocks of a sealed segment (store/format.h), decoded one at a time
 *
 * What is damaged is noted and stepped over: a lost header or index is made up for from the blocks,
 * and a block that cannot be read costs its own pages only.  The file is taken as hostile.
 */

#include "base/cleanup.h"
#include "store/sealed.h"

typedef struct SealedReader SealedReader;

typedef enum SealedPart {
        SEALED_PART_HEADER,
        SEALED_PART_INDEX,
        SEALED_PART_BLOCK,
        SEALED_PART_CHUNK,   /* of a trace.dat (codec/dat-pages.h), which is no segment */
        SEALED_PART_HOLE,    /* of a segment that is not sealed (codec/page-source.h) */
        SEALED_PART_CPU,     /* the same of a trace.dat */
        SEALED_PART_SEGMENT, /* all of it */
} SealedPart;

typedef struct SealedDamage {
        SealedPart part;
        uint32_t block;    /* the number of the first block that is meant */
        uint32_t n_blocks; /* how many follow each other; 0: from there to the end */
        uint64_t n_pages;  /* that cannot be read because of it */
        const char *what;  /* the rest of the sentence, a constant */
} SealedDamage;

/*
 * sealed_reader_take_fd() - find the blocks
 * @fd:          consumed, also on failure
 * @ret_version: with SEALED_E_NEWER the version; may be NULL
 *
 * Return: 0, SEALED_E_DAMAGED (neither a header nor a block in it), SEALED_E_NEWER, -errno.
 */
int sealed_reader_take_fd(SealedReader **ret, int fd, uint32_t *ret_version);
/* Whose it is: page_bytes, cpu, sequence, session_id, flags, previous; the rest means nothing. */
const SealedHeader *sealed_reader_identity(const SealedReader *r);
/* That it was sealed with, as far as is known. */
uint64_t sealed_reader_n_pages(const SealedReader *r);

/* What the index says of a block whose header is at @offset. */
SealedEntry sealed_entry_of(const SealedBlock *b, uint64_t offset);

/* Blocks that were found, ascending; their numbers may have gaps. */
size_t sealed_reader_n_blocks(const SealedReader *r);
const SealedEntry *sealed_reader_entry(const SealedReader *r, size_t i);
/* The first of them that ends behind @page; n_blocks if there is none. */
size_t sealed_reader_find(const SealedReader *r, uint64_t page);

/*
 * sealed_reader_block() - all pages of the @i-th
 * @ret: n_pages * page_bytes, valid until another block is asked for
 *
 * The last one is kept, so that asking again costs nothing.  Checked against both checksums.
 * Return: 0, SEALED_E_DAMAGED (and noted), -errno.
 */
int sealed_reader_block(SealedReader *r, size_t i, const void **ret);

/* What was found so far; valid until the next block is read. */
const SealedDamage *sealed_reader_damages(const SealedReader *r, size_t *ret_n);

SealedReader *sealed_reader_free(SealedReader *r);
DEFINE_CLEANUP(SealedReader *, sealed_reader_free);
