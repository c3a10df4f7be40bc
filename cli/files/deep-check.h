/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * DeepCheck: whether every block still holds the pages that the kernel gave
 *
 * Sealed segments keep a checksum of each block's raw pages, taken before it was encoded.  Here
 * every block is decoded, whatever its pages say, and held against it.  A segment that is not sealed
 * has nothing to be held against: it is counted.
 */

#include "base/strv.h"
#include "cli/terminal/progress.h"
#include "store/session-dir.h"

typedef struct DeepCheck {
        uint64_t n_segments, n_sealed;
        uint64_t n_blocks, n_blocks_good; /* of sealed ones: found, and equal */
        uint64_t n_pages;                 /* in the good ones */
        Strv damages;                     /* sentences, without a full stop */
} DeepCheck;

/* deep_check_done() @ret.  @progress: told how far it is; may be NULL.  0 or -errno. */
int deep_check(const SessionDir *dir, Progress *progress, DeepCheck *ret);
void deep_check_done(DeepCheck *c);
#define _cleanup_deep_check_ _cleanup_(deep_check_done)
