/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Damages: what of a recording's files cannot be read, noted by whoever steps over it
 *
 * The one list of it, whatever reads: a drawing, a check, or what writes a trace.dat of it.  cli/source/source.h
 * has the sentences.
 */

#include <stddef.h>
#include <stdint.h>

typedef enum DamagePart {
        DAMAGE_HEADER, /* of a sealed segment, like the next two */
        DAMAGE_INDEX,
        DAMAGE_BLOCK,
        DAMAGE_CHUNK,   /* of a trace.dat, which is no segment */
        DAMAGE_HOLE,    /* of a segment that is not sealed (pages/page-source.h) */
        DAMAGE_CPU,     /* the same of a trace.dat */
        DAMAGE_SEGMENT, /* all of it */
        DAMAGE_NEWER,   /* the same: it is of a format version that this program does not know */
} DamagePart;

typedef struct Damage {
        uint32_t cpu;
        uint64_t sequence; /* of the segment */
        DamagePart part;
        uint32_t
                block; /* the number of the first block, or chunk, that is meant; with NEWER the version */
        uint32_t n_blocks; /* how many follow each other; 0: from there to the end */
        uint64_t n_pages;  /* that cannot be read because of it */
        const char *what;  /* the rest of the sentence, a constant */
} Damage;

#define DAMAGE_NO_SEGMENT                                                                          \
        ((Damage){ .part = DAMAGE_SEGMENT,                                                         \
                   .what = "not a segment, or one of another place or size of pages; skipped" })

#define DAMAGES_MAX 64 /* the rest is counted only */

typedef struct Damages {
        uint32_t cpu; /* whose segment is being read, and which: set by who opens it */
        uint64_t sequence;
        Damage items[DAMAGES_MAX];
        size_t n;
        uint64_t n_all, n_pages; /* n_pages: of all */
} Damages;

/* Of the segment that is being read.  @d NULL: nobody wants to know. */
static inline void damages_add(Damages *d, Damage damage) {
        if (!d)
                return;
        damage.cpu = d->cpu;
        damage.sequence = d->sequence;
        if (d->n < DAMAGES_MAX)
                d->items[d->n++] = damage;
        d->n_all++;
        d->n_pages += damage.n_pages;
}
