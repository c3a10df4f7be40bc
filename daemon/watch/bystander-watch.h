/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Bystander watch: looks for a moment at what others call of what is hooked
 *
 *      call sample ──worker──> calls of each function ─┐
 *                                                      ├─ difference: others' calls
 *      segments ────worker──> calls below the roots ───┘
 *
 * While the sample is taken, CALL_SAMPLE_MS, these functions are hooked once more.  It is not taken while a tracer of somebody else is on.  Where few of the calls are the session's own, these are
 * not told apart, since that takes until they are stored.
 */

#include <systemd/sd-event.h>

#include "daemon/tracer/controller.h"
#include "store/session-dir.h"

typedef struct BystanderWatch BystanderWatch;

/* @load: what others call, which may be taken away; NULL and @error: it is not known (-EBUSY: somebody else traces).
 * The watch may be freed meanwhile. */
typedef void (*BystanderWatchDone)(Load *load, int error, void *userdata);

/* All borrowed until the session has ended or the watch is freed. */
typedef struct BystanderWatchConfig {
        sd_event *event;
        Background *background; /* the sample is a task */
        Controller *controller;
        SessionMeta *meta; /* of a session that records; own_work is added to */
        const Tracer *tracer;
        const SessionDir *dir;
        BystanderWatchDone done;
        void *userdata;
} BystanderWatchConfig;

/* 0 or -ENOMEM. */
int bystander_watch_start(BystanderWatch **ret, const BystanderWatchConfig *config);
/* Ends it without an answer. */
BystanderWatch *bystander_watch_free(BystanderWatch *w);
DEFINE_CLEANUP(BystanderWatch *, bystander_watch_free);
