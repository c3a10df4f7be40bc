/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Pieces: what a file is packed in, unpacked one at a time, or the next ones ahead by another thread
 *
 * Whoever has to wait for a piece that the thread is at unpacks another one meanwhile, so that two CPUs share the work
 * evenly, and one does all of it as if there were no thread.  Ahead is read only behind a piece that was asked for in
 * order; so nothing is unpacked for whoever looks here and there.
 */

#include "base/cleanup.h"

#define PIECES_AHEAD 2U     /* of a file */
#define PIECES_AHEAD_MAX 8U /* of all files of an Ahead: what they take is bounded by this */

typedef struct Ahead Ahead; /* the thread; it begins with the first piece that is unpacked ahead */

typedef struct Piece {
        uint8_t *packed, *plain; /* unpack() makes room */
        size_t n_packed_room, n_plain_room;
        size_t i;
        const char *problem; /* of one that does not unpack */
        int result;          /* what unpack() returned */
        uint8_t state;       /* pieces.c's */
} Piece;

/* Piece @p->i of @source into @p.  @scratch: NULL at first, what it keeps from one time to the next.  It may be asked for two pieces by two threads at once, each with its own @p and @scratch, and so changes
 * nothing else.  0, positive (damaged, with @p->problem), -errno. */
typedef int (*PieceUnpack)(const void *source, Piece *p, void **scratch);

typedef struct Pieces {
        PieceUnpack unpack; /* to be set, like what follows */
        const void *source;
        size_t n;
        void (*free_scratch)(void *scratch); /* which may be NULL */
        /* Its own: */
        void *scratch[2]; /* of whoever asks, and of the thread */
        Ahead *ahead;
        Piece slots[1 + PIECES_AHEAD];
        Piece *current; /* NULL: none, yet */
} Pieces;

/*
 * pieces_get() - piece @i, unpacked
 * @ret: valid until another one is asked for
 *
 * The one that was asked for last is kept.  Return: what unpack() returned for it.
 */
int pieces_get(Pieces *p, size_t i, const Piece **ret);
/* From now on the next ones are unpacked ahead, unless @a has enough to do.  @a: borrowed. */
void pieces_go_ahead(Pieces *p, Ahead *a);
/* unpack() is not at work any more, and what it took is freed. */
void pieces_done(Pieces *p);

/* *@ret is NULL if this process may use one CPU only.  0 or -ENOMEM. */
int ahead_new(Ahead **ret);
/* Nobody's pieces go ahead any more. */
Ahead *ahead_free(Ahead *a);
DEFINE_CLEANUP(Ahead *, ahead_free);
