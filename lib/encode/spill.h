/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Spill: memory that grows, and beyond SPILL_BYTES is a file without a name, below $TMPDIR or /var/tmp
 *
 * So the kernel can write it to the disk when memory is short, and no more than SPILL_BYTES and what is looked at again
 * count as ours.  Where there can be no such file it stays memory.
 */

#include <stddef.h>

#include "base/cleanup.h"

#define SPILL_BYTES ((size_t) 64 << 20)

typedef struct Spill {
        void *data;
        size_t n_room;
        int fd; /* of what is mapped; negative: it is memory */
} Spill;

#define SPILL_INIT ((Spill){ .fd = -EBADF })

/* Where it is, with room for @n bytes, what was there before kept; NULL without memory, or disk. */
void *spill_grow(Spill *s, size_t n);
static inline void *spill_room(Spill *s, size_t n) {
        return _likely_(n <= s->n_room) ? s->data : spill_grow(s, n);
}
/* What was looked at does not count as our memory until it is looked at again; it stays. */
void spill_relax(Spill *s);
/* Nothing in it is needed: a file goes away. */
void spill_shrink(Spill *s);
void spill_done(Spill *s);
