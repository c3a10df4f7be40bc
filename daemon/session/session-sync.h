/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionSync: what is told as kept is on the disk
 *
 *      readers have ended -> kernel put back, session.json says sealed and pages_unsynced
 *              -> segments, files and directories are synced -> accounts, session.json again
 *              -> that is synced -> whoever waits for the end is told
 *
 * All of it beside the loop (daemon/record/syncer.h), which goes on; who waits for the end waits
 * SYNC_WAIT_S at most.  A disk that takes longer is told as such, and the accounts follow when it is
 * through.
 *
 * A snapshot is an ended session from the beginning, whose session.json says pages_unsynced: it is synced as
 * one that an earlier daemon had not told, and whoever asked for it waits as long at most.
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/record/syncer.h"
#include "daemon/session/session-types.h"
#include "meta/meta.h"
#include "store/session-dir.h"
#include "store/store.h"

#define SYNC_WAIT_S 15

typedef struct SessionSync SessionSync;

/* Borrowed for as long as it lives; the directory until done() was called. */
typedef struct SessionSyncConfig {
        Session *session; /* for the callbacks, and those who wait */
        sd_event *event;
        const Store *store;
        const SessionDir *dir;
        SessionMeta *meta;        /* lost pages are noted in it, and what is not synced yet */
        bool (*save)(Session *s); /* writes session.json; whether it could */
        /* While it records: writing back fails for that reason, or is well again (NULL). */
        void (*failing)(Session *s, const char *reason);
        /* The same, for each: @f is noted in meta; what else counts pages is to know.  When that is, on
         * the trace clock. */
        uint64_t (*lost)(Session *s, const SyncerFailure *f);
        void (*told)(Session *s);    /* it has ended, in the state that meta says */
        void (*done)(Session *s);    /* nothing is left to write in the directory */
        void (*changed)(Session *s); /* meta is another than was told */
} SessionSyncConfig;

/* Before the readers are made.  0 or -errno. */
int session_sync_new(SessionSync **ret, const SessionSyncConfig *config);
/* Tells all who wait: nothing more comes. */
SessionSync *session_sync_free(SessionSync *y);

/* For the readers; borrowed. */
Syncer *session_sync_syncer(SessionSync *y);
/* The kernel is put back, and meta says how it has ended: it is draining until that can be told. */
void session_sync_end(SessionSync *y);
/* Instead, of one that has ended by an earlier daemon, which had not told so. */
void session_sync_again(SessionSync *y);
/* Of one that has been told as ended: session_when_synced(). */
int session_sync_await(SessionSync *y, SessionSynced done, void *userdata);
/* Whether it has ended, and nobody knows yet that all is on the disk. */
bool session_sync_is_busy(const SessionSync *y);
/* Waits for the end, if it has been asked for.  NULL is fine. */
void session_sync_settle(SessionSync *y);
/* Another daemon goes on, and syncs what is not yet. */
void session_sync_leave(SessionSync *y);
