/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Rotation: when a live session's segments are cut, what they take on disk, and what a ring lets go of
 *
 * Readers cut by size, this by time; either way this writes down when it was, and drops what a ring has no room for.
 * Main thread.
 */

#include "daemon/record/recorder.h"
#include "store/cut-log.h"

typedef struct Rotation Rotation;

/* A ring's period is this part of it, so that so much at most is dropped at once. */
#define ROTATION_RING_PARTS 8

typedef struct RotationConfig {
        sd_event *event;
        SessionDir *dir;   /* borrowed, like the next two */
        SessionMeta *meta; /* what is dropped is noted in it */
        Recorder *recorder;
        uint64_t segment_ns; /* 0: not by time */
        uint64_t ring_bytes; /* on disk; 0: not a ring */
        /* A cut by time was made: rotation_look() wants to be called. */
        void (*cut)(void *userdata);
        void *userdata;
} RotationConfig;

typedef struct InventorySums {
        size_t n;               /* segments */
        uint64_t n_bytes;       /* their blocks on disk */
        uint64_t counted_bytes; /* FOOTPRINT_ENTRY_BYTES at least of each (store/footprint.h) */
} InventorySums;

/*
 * rotation_new() - once the readers have the sequences that they begin or go on with, before they run
 * @clocks: now
 *
 * A session that another daemon had begun goes on with its log of cuts.  0 or -errno.
 */
int rotation_new(Rotation **ret, const RotationConfig *config, const ClockTuple *clocks);

/*
 * rotation_look() - see whether there was a cut
 * @clocks: now
 *
 * Return: 1 if there was (meta may have changed), else 0.
 */
int rotation_look(Rotation *r, const ClockTuple *clocks);
/*
 * rotation_make_room() - the disk takes no more
 *
 * A ring lets go of its oldest period; if that is the one which is written to, it is ended, so that
 * the next call can.  Nothing for others.
 * Return: 1 if meta has changed, else 0.
 */
int rotation_make_room(Rotation *r);
/* All periods that nobody writes to are elsewhere now: they go, and count as neither kept nor dropped. */
void rotation_move_out(Rotation *r);
/* What there is; of what could not be looked at for want of memory the next call knows.  @r NULL: nothing. */
InventorySums rotation_look_at_segments(Rotation *r);
/* It was sealed, so that another file took its place, or is gone. */
void rotation_segment_changed(Rotation *r, uint32_t cpu, uint64_t sequence);
/* All readers have ended: the ring gets down to its size.  @r may be NULL. */
void rotation_finish(Rotation *r);
Rotation *rotation_free(Rotation *r);
DEFINE_CLEANUP(Rotation *, rotation_free);
