/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Snapshot: what a session has stored so far, as a session of its own
 *
 * Its segments are hard links: nothing is copied, and each of the two may be sealed, dropped or
 * removed as if the other did not exist.
 */

#include "daemon/tracer/controller.h"
#include "meta/meta.h"
#include "retention/boot-clock.h"
#include "store/session-dir.h"
#include "store/store.h"

typedef struct SnapshotConfig {
        Store *store;
        const SessionMeta *origin;
        const SessionDir *dir; /* the origin's */
        Tracer *tracer;
        uint64_t end_sequence; /* segments below this are complete, and taken */
        ClockTuple stop;       /* the moment until which they reach */
        const char *reason;
} SnapshotConfig;

/*
 * snapshot_make()
 * @ret_name: of the new session, ORIGIN-snap-N; the caller frees
 *
 * Return: 0, SNAPSHOT_E_EMPTY (nothing is stored; there is no new session), -errno (nor is there).
 */
enum { SNAPSHOT_E_EMPTY = 1 };
int snapshot_make(char **ret_name, const SnapshotConfig *config);

/* What @origin's metadata says that holds of session @name, too, which is made of what @origin stored; its id is its
 * own.  0 or -errno. */
int snapshot_copy_meta(SessionMeta **ret, const SessionMeta *origin, const char *name);
