/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionShare: whether what records stays within its owner's share of the disk
 *
 * A member's sessions have a share together (daemon/api/allowance.h), which is asked for before
 * anything is made.  What records grows beside what was made since it began: a ring then drops its
 * oldest, as it does when the disk is full, and others end.
 */

#include "daemon/record/recorder.h"
#include "daemon/record/rotation.h"
#include "daemon/session/session-types.h"
#include "meta/meta.h"
#include "wire/refusal.h"

/* Whoever has one fills it; all is borrowed for as long as it is used. */
typedef struct SessionShare {
        SessionMeta *meta;
        Recorder *recorder;
        Rotation *rotation;
        /* Whether @n_bytes more, or with 0 what there is, are within the share: 0, REFUSED, -errno. */
        int (*admit)(Session *s, uint64_t n_bytes, Refusal *refusal);
        void (*dropped)(Session *s); /* a period of a ring: what is left is to be measured anew */
        void (*changed)(Session *s); /* meta says what was dropped */
        Session *session;            /* for these */
        uint64_t over_ns; /* CLOCK_MONOTONIC: since when its owner has too much; 0: he has not */
} SessionShare;

/* Of a session that records to disk.  REFUSED: it is to end for that; else 0. */
int session_share_look(SessionShare *h, Refusal *refusal);
/* Before a snapshot of @n_bytes: 0, -EDQUOT (which is told), other -errno. */
int session_share_admit_snapshot(SessionShare *h, uint64_t n_bytes);
