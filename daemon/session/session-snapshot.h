/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionSnapshot: a snapshot of a session that records, under way
 *
 *      begin -> readers flush -> cut -> readers flush -> linked, and made -> end
 *
 * In between the main loop is free.  Of a ring in the kernel's buffer recording is switched off
 * meanwhile.  What was made is not on the disk yet (session_when_synced()).
 */

#include <stdbool.h>

#include "base/cleanup.h"
#include "daemon/record/recorder.h"
#include "daemon/session/session-types.h"
#include "daemon/tracer/controller.h"
#include "daemon/watch/health.h"
#include "daemon/watch/snapshot.h"
#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct SessionSnapshot SessionSnapshot;

/* Borrowed for as long as it lives. */
typedef struct SessionSnapshotConfig {
        Store *store;
        const Uptime *uptime; /* of the store */
        SessionMeta *meta;
        SessionDir *dir;
        Recorder *recorder;
        Rotation *rotation;
        Tracer *tracer;
        Health *health;
        Session *session;        /* for the callbacks, and whoever waits */
        void (*cut)(Session *s); /* the readers have begun new segments */
        /* There is one more in the store, which meta counts.  0 or -errno. */
        int (*made)(Session *s, const char *name, Session **ret);
} SessionSnapshotConfig;

/* Begins one of a session that is live; @done may be NULL, as below.  0 or -errno. */
int session_snapshot_begin(SessionSnapshot **ret, const SessionSnapshotConfig *config,
                           const char *reason, SnapshotDone done, void *userdata);
/* One more who is told of its end; @done NULL: nobody.  0 or -ENOMEM. */
int session_snapshot_add(SessionSnapshot *p, SnapshotDone done, void *userdata);
/* The readers may have done what it waits for.  Whether it is at its end. */
bool session_snapshot_look(SessionSnapshot *p);
/* Switches recording on again if it was off for the snapshot, and says whether it was. */
bool session_snapshot_thaw(SessionSnapshot *p);
/* Tells all who asked of the end; one that was not made has been cancelled.  Frees @p.  They may ask for the
 * next. */
void session_snapshot_end(SessionSnapshot *p);
