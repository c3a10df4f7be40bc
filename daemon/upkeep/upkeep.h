/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Segments that are closed: counted (disk-usage.c), sealed (sealer.c, seal-worker.c), removed (removal.c).
 */

#include <systemd/sd-event.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "daemon/process/background.h"
#include "store/session-dir.h"
#include "store/store.h"

/*
 * Disk usage: what a session has on disk, counted and mended
 */

/*
 * disk_usage_reserve() - room kept for the end
 *
 * A recording that filled the disk still has to write down how it ended and what must be put back
 * in the kernel: disk_usage_release() gives these DISK_USAGE_RESERVE_BYTES back for that.
 * Return: 0 or -errno (-ENOSPC: it should not begin at all).
 */
#define DISK_USAGE_RESERVE_BYTES (512 << 10)
int disk_usage_reserve(const SessionDir *dir);
void disk_usage_release(const SessionDir *dir);

/* The accounts' n_pages become what the segments hold, also those that are being written; nothing is
 * changed.  0 or -errno. */
int disk_usage_count(const SessionDir *dir, SessionMeta *m);

/*
 * disk_usage_recover() - close what a dead daemon left open
 * @m: the accounts' n_pages and n_bytes become what is there; warnings name damaged
 *     segments
 *
 * Return: 0 or -errno.
 */
int disk_usage_recover(const SessionDir *dir, SessionMeta *m);

/*
 * Sealer: has closed segments sealed, one after the other, by a process without privileges
 *
 * The sealed file takes the place of the closed one under the same name, atomically, once the worker
 * (below) has ended well.  Whatever fails leaves the segment as it was: that is one
 * message, and it is tried again when the next daemon starts; while the disk is full it is tried
 * again every minute.  A segment or a session that is removed meanwhile stays removed.
 */

typedef struct Sealer Sealer;

/* A segment was sealed: it took @n_before bytes of disk and takes @n_bytes now. */
typedef void (*SealerDone)(const char *session, uint32_t cpu, uint64_t sequence, uint64_t n_before,
                           uint64_t n_bytes, void *userdata);

typedef struct SealerConfig {
        sd_event *event;
        Store *store; /* borrowed, like the next two */
        const char *const
                *worker; /* program and arguments, without the byte order; NULL: our own */
        SealerDone done; /* may be NULL */
        /* Whether the session is to stay as it is for a moment, as somebody reads its files who cannot
         * open them again; may be NULL. */
        bool (*is_held)(const char *session, void *userdata);
        void *userdata;
} SealerConfig;

/* SIGCHLD must be blocked in all threads.  0 or -errno. */
int sealer_new(Sealer **ret, const SealerConfig *config);
/*
 * sealer_add_session() - have all segments sealed that the session has when its turn comes
 *
 * What is not closed, or sealed already, or gone by then, is passed over.  0 or -ENOMEM.
 */
int sealer_add_session(Sealer *s, const char *session);
/* True if anything is left to do. */
bool sealer_is_busy(const Sealer *s);
/* Ends the worker, if one runs, and forgets the rest. */
Sealer *sealer_free(Sealer *s);
DEFINE_CLEANUP(Sealer *, sealer_free);

/*
 * SealWorker: the process that seals one segment
 *
 * The daemon runs its own program again, with this word and the pages' byte order ("little",
 * "big") as its arguments and these descriptors:
 */
#define SEAL_WORKER_OPTION "--seal-worker"
enum {
        SEAL_WORKER_FD_IN = 0,      /* the closed segment, to read */
        SEAL_WORKER_FD_OUT = 1,     /* an empty file, to write and to read back */
        SEAL_WORKER_FD_NULL = 2,    /* what libraries print */
        SEAL_WORKER_FD_FORMATS = 3, /* texts of format files, each with its NUL */
};

/* Exit statuses. */
enum {
        SEAL_WORKER_DONE = 0,        /* written, on the disk, read back, and equal */
        SEAL_WORKER_E_UNFIT = 10,    /* the segment is not closed, or not of its length */
        SEAL_WORKER_E_DIFFERS = 11,  /* what was written does not decode to what was read */
        SEAL_WORKER_E_SANDBOX = 12,  /* it cannot lock itself up here */
        SEAL_WORKER_E_NO_SPACE = 13, /* disk full, or quota */
        SEAL_WORKER_E_NO_MEMORY = 14,
        SEAL_WORKER_E_IO = 15, /* the disk fails, or is read-only */
        SEAL_WORKER_E_USAGE = 16,
};
/* Returns what the daemon says of one, or NULL if it is none of them: half a sentence. */
const char *seal_worker_problem(int status);

/* Locks itself up, seals, and gives the exit status. */
int seal_worker(const char *byte_order);

/*
 * Removal: what removed sessions held is given back beside the loop
 *
 * A session that is removed is gone for everybody at once; to unlink what it had may take seconds,
 * which nobody is to wait for.  When the last is gone, so are the symbols that no other refers to.
 */

typedef struct Removal Removal;

/* Adds the symbols that are referred to: 0, STORE_E_UNKNOWN (all are kept), REMOVAL_E_LATER (until
 * removal_look()), -errno. */
enum { REMOVAL_E_LATER = _STORE_E_N };
typedef int (*RemovalUsed)(Strv *ret, void *userdata);

/* @sweeper, of which it takes much, and @store: borrowed.  0 or -ENOMEM. */
int removal_new(Removal **ret, Background *sweeper, Store *store, RemovalUsed used, void *userdata);
/* From now on there is no session @name.  0 or -errno. */
int removal_add(Removal *r, const char *name);
/* In a task of the sweeper's: takes a moment's worth of what was added off the disk.  Whether there was any.
 * @freed_bytes: what went is added; may be NULL. */
bool removal_go_on(Removal *r, uint64_t *freed_bytes);
/* The loop is free: what symbols are referred to may be known now. */
void removal_look(Removal *r);
/* Finishes what is left. */
Removal *removal_free(Removal *r);
DEFINE_CLEANUP(Removal *, removal_free);
