/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Footprint: what a session takes of the store
 *
 * Every file and directory of it counts, with the blocks that it has, and FOOTPRINT_ENTRY_BYTES at
 * least: on some file systems small ones have no blocks, and an inode is none the less taken.  What a
 * recording keeps free for its end (STORE_RESERVE_NAME) does not, for it is given back.  Nor do symbols,
 * which are one for all.  A segment that a snapshot has as well counts for each of the two: it stays as
 * long as either does.
 */

#include "store/session-dir.h"

#define FOOTPRINT_ENTRY_BYTES 4096U

typedef struct Footprint {
        uint64_t n_bytes;       /* of everything */
        uint64_t segment_bytes; /* of that, in segments */
} Footprint;

/* What cannot be looked at counts nothing. */
Footprint footprint_measure(const SessionDir *d);
/* The same, with segments that somebody has measured already: they count @segment_bytes. */
Footprint footprint_measure_beside(const SessionDir *d, uint64_t segment_bytes);
/* A segment of it takes @n_bytes now instead of @n_before. */
void footprint_replace(Footprint *f, uint64_t n_before, uint64_t n_bytes);
