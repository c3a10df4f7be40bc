/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * SealedReader: the blocks of a sealed segment (store/format.h), decoded one at a time
 *
 * What is damaged is noted and stepped over: a lost header or index is made up for from the blocks,
 * and a block that cannot be read costs its own pages only.  The file is taken as hostile.
 */

#include "codec/block.h"
#include "codec/pieces.h"
#include "store/damage.h"
#include "store/sealed.h"

typedef struct SealedFound {
        SealedEntry entry;
        uint32_t number;
        bool is_damaged; /* noted already */
} SealedFound;

typedef struct SealedReader {
        int fd;
        uint64_t n_file;
        bool has_identity, has_header;
        /* what every block must agree with: page_bytes, cpu, sequence, session_id, flags; and previous */
        SealedHeader identity;
        uint64_t n_pages;   /* that it was sealed with, as far as is known */
        SealedFound *found; /* blocks, ascending; their numbers may have gaps */
        size_t n_found;
        Damages *damages; /* borrowed; NULL: nobody wants them */
        Pieces decoded;   /* packed: header and body, as in the file; scratch: a BlockCodec */
} SealedReader;

/*
 * sealed_reader_take_fd() - find the blocks
 * @fd:      consumed, also on failure
 * @damages: borrowed for the reader's life; NULL: nobody wants them
 *
 * Return: 0, SEGMENT_E_DAMAGED (neither a header nor a block in it), SEGMENT_E_NEWER (which is noted), -errno.
 */
int sealed_reader_take_fd(SealedReader **ret, int fd, Damages *damages);
/* Returns what the index says of a block whose header is at @offset. */
SealedEntry sealed_entry_of(const SealedBlock *b, uint64_t offset);
/*
 * sealed_reader_block() - all pages of the @i-th
 * @ret: n_pages * page_bytes, valid until another block is asked for
 *
 * The last one is kept, so that asking again costs nothing.  Checked against both checksums.
 * Return: 0, SEGMENT_E_DAMAGED (and noted), -errno.
 */
int sealed_reader_block(SealedReader *r, size_t i, const void **ret);

typedef struct SealedCheck {
        uint64_t n_blocks, n_good, n_pages; /* pages of good ones */
} SealedCheck;

/* Decodes all that were found.  0 or -errno. */
int sealed_reader_check(SealedReader *r, SealedCheck *ret);
SealedReader *sealed_reader_free(SealedReader *r);
DEFINE_CLEANUP(SealedReader *, sealed_reader_free);
