/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Syncer: whether what a session has stored is on its disk
 *
 * What a segment has taken is in the page cache.  The kernel writes it later, and tells of a failure
 * only who syncs with a descriptor from before; then it takes the pages for written.  So a segment that
 * is closed comes here with the descriptor it was written through, and is synced in a thread of its
 * own, one after the other, beside everything else.  What fails is made dirty again from the page cache
 * and tried again and again, for as long as the session lives and a time beyond.  What
 * then is not on the disk, as the disk itself says, has failed: page by page, but for file systems that
 * cannot be read past the page cache.
 *
 * A ring's segments are synced at its end alone (syncer_add_all()): most are gone before the kernel would
 * write them.
 * What was sealed or removed meanwhile has no name any more and is passed over: a sealed segment was
 * synced by who wrote it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "store/session-dir.h"

#define SYNCER_RETRY_MS 1000 /* after the end; before it each pause is twice as long as the last */

typedef struct Syncer Syncer;

typedef struct SyncerConfig {
        sd_event *event;
        const SessionDir *dir; /* looked at by syncer_new() alone */
        uint32_t page_bytes;
        bool is_ring;
        /* In the loop: something failed or is well again, or syncer_is_done(). */
        void (*moved)(void *userdata);
        void *userdata;
} SyncerConfig;

/* Pages of a segment that are not on the disk; with n_pages 0 it is a file that reading them needs. */
typedef struct SyncerFailure {
        uint32_t cpu;
        uint64_t sequence;
        uint64_t n_pages;
        uint64_t first_ns; /* of the first of them that tells, on the trace clock; 0: none does */
        int error;
} SyncerFailure;

/* 0 or -errno. */
int syncer_new(Syncer **ret, const SyncerConfig *config);

/*
 * syncer_add() - a segment is closed; by any thread
 * @fd: that it was written through; consumed
 * @has_failed: the descriptor has told of a failure already
 */
void syncer_add(Syncer *s, int fd, uint32_t cpu, uint64_t sequence, uint64_t n_pages,
                bool has_failed);
/* The same of a file without pages; fd < 0: nothing. */
void syncer_add_file(Syncer *s, int fd);
/* All segments that are there when its turn comes, and have not come by syncer_add(): they have so many
 * pages, as far as is known. */
void syncer_add_all(Syncer *s, uint64_t n_pages);
/* No more will come: what is left is synced, then the session's other files and directories; what fails
 * is tried for @give_up_ms.  May be called again when that is done, and syncs session.json. */
void syncer_end(Syncer *s, uint64_t give_up_ms);

bool syncer_is_done(Syncer *s); /* after syncer_end(): with all, well or not */
/* errno of what fails at the moment, 0: nothing; @ret_n_pages are concerned. */
int syncer_error(Syncer *s, uint64_t *ret_n_pages);
/* Pages that are closed and neither known to be on the disk nor to have failed. */
uint64_t syncer_n_left(Syncer *s);
/* Hands out what failed for good, each once; false: nothing more. */
bool syncer_take_failure(Syncer *s, SyncerFailure *ret);
/* Waits for nothing: a thread that a disk holds up ends when that lets it. */
Syncer *syncer_free(Syncer *s);
DEFINE_CLEANUP(Syncer *, syncer_free);
