/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionShare: whether what records stays within its owner's share of the disk
 *
 * A member's sessions have a share together (daemon/api/allowance.h), which is asked for before
 * anything is made.  What records grows beside what was made since it began: a ring then drops its
 * oldest, as it does when the disk is full, and others end.
 */

#include "base/cleanup.h"
#include "daemon/record/recorder.h"
#include "daemon/record/rotation.h"
#include "meta/meta.h"
#include "wire/refusal.h"

typedef struct SessionShare SessionShare;

/* Borrowed for as long as it lives. */
typedef struct SessionShareConfig {
        SessionMeta *meta;
        Recorder *recorder;
        Rotation *rotation;
        /* Whether @n_bytes more, or with 0 what there is, are within the share: 0, REFUSED, -errno. */
        int (*admit)(uint64_t n_bytes, Refusal *refusal, void *userdata);
        void (*dropped)(
                void *userdata); /* a period of a ring: what is left is to be measured anew */
        void (*changed)(void *userdata); /* meta says what was dropped */
        void *userdata;
} SessionShareConfig;

/* 0 or -ENOMEM. */
int session_share_new(SessionShare **ret, const SessionShareConfig *config);
SessionShare *session_share_free(SessionShare *h);
DEFINE_CLEANUP(SessionShare *, session_share_free);

/* Of a session that records to disk.  REFUSED: it is to end for that; else 0. */
int session_share_look(SessionShare *h, Refusal *refusal);
/* Before a snapshot of @n_bytes: 0, -EDQUOT (which is told), other -errno. */
int session_share_admit_snapshot(SessionShare *h, uint64_t n_bytes);
