/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Syncer: whether what a session has stored is on its disk
 *
 * What a segment has taken is in the page cache.  The kernel writes it later, and tells of a failure
 * only who syncs with a descriptor from before; then it takes the pages for written.  So a segment that
 * is closed comes here with the descriptor it was written through, and is synced in a thread of its
 * own, one after the other, beside everything else.  What fails is told once: memory has its pages, but
 * the disk may lack any of them.
 *
 * A ring's segments are synced at its end alone (syncer_add_all()): most are gone before the kernel would
 * write them.
 * What was sealed or removed meanwhile has no name any more and is passed over: a sealed segment was
 * synced by who wrote it.
 */

#include <systemd/sd-event.h>

#include "store/session-dir.h"

typedef struct Syncer Syncer;

typedef struct SyncerConfig {
        sd_event *event;
        const SessionDir *dir; /* looked at by syncer_new() alone */
        uint32_t page_bytes;
        bool is_ring;
        /* In the loop: something has failed or is well again, or all is done. */
        void (*moved)(void *userdata);
        void *userdata;
} SyncerConfig;

/* The disk may lack these pages of a segment; with n_pages 0 it is a file that reading them needs. */
typedef struct SyncerFailure {
        uint32_t cpu;
        uint64_t n_pages;
        uint64_t first_ns; /* of the first of them, on the trace clock; 0: it does not tell */
        int error;
} SyncerFailure;

/* 0 or -errno. */
int syncer_new(Syncer **ret, const SyncerConfig *config);

/*
 * syncer_add() - a segment is closed, or a file (@n_pages 0) is written; by any thread
 * @fd: that it was written through; consumed; < 0: nothing
 */
void syncer_add(Syncer *s, int fd, uint32_t cpu, uint64_t n_pages);
/* All segments that are there when its turn comes, and have not come by syncer_add(): they have so many
 * pages, as far as is known. */
void syncer_add_all(Syncer *s, uint64_t n_pages);
/* No more will come: what is left is synced, then the session's other files and directories.  May be
 * called again when that is done, and syncs those once more. */
void syncer_end(Syncer *s);

typedef struct SyncerState {
        bool is_done; /* after syncer_end(): with all, well or not */
        int error;    /* errno of the last segment, 0: it was well */
        uint64_t
                n_left; /* pages that are closed and neither known to be on the disk nor to have failed */
} SyncerState;
SyncerState syncer_look(Syncer *s);
/* Hands out what failed, each once; false: nothing more. */
bool syncer_take_failure(Syncer *s, SyncerFailure *ret);
/* Waits for nothing: a thread that a disk holds up ends when that lets it. */
Syncer *syncer_free(Syncer *s);
DEFINE_CLEANUP(Syncer *, syncer_free);
