/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Learning pass: learn from what a session has stored so far
 *
 *      segments ──worker──> functions under the roots ──> STORE/lean/KEY
 */

#include <systemd/sd-event.h>

#include "daemon/lean/learner.h"
#include "daemon/tracer/controller.h"
#include "store/session-dir.h"

typedef struct LearningPass LearningPass;

/* @n_calls: of the roots, that it was learned from.  @error: 0, or -errno (it has been logged).  The learning pass may
 * be freed meanwhile. */
typedef void (*LearningPassDone)(uint64_t n_calls, int error, void *userdata);

/*
 * learning_pass_start()
 * @dir, @m: of the session; not needed after the call
 * @from_ns, @to_ns: trace clock; what was recorded before is known already, and later not all was hooked
 *
 * Return: 0; -ENODATA: nothing was stored; -errno.
 */
int learning_pass_start(LearningPass **ret, sd_event *event, Controller *c, const SessionDir *dir,
                        const SessionMeta *m, uint64_t from_ns, uint64_t to_ns,
                        LearningPassDone done, void *userdata);
/* Ends it without an answer. */
LearningPass *learning_pass_free(LearningPass *l);
DEFINE_CLEANUP(LearningPass *, learning_pass_free);

/* Has the calls counted that a session has stored from @from_ns up to @to_ns: the newest segments of all CPUs, then the
 * ones before, as long as they are not too much.  0; -ENODATA: nothing was stored; -errno. */
int stored_pages_count(Learner **ret, sd_event *event, const SessionDir *dir, uint64_t from_ns,
                       uint64_t to_ns, LearnerDone done, void *userdata);

/*
 * Bystander watch: looks for a moment at what others call of what is hooked
 *
 *      call sample ──worker──> calls of each function ─┐
 *                                                      ├─ difference: others' calls
 *      segments ────worker──> calls below the roots ───┘
 *
 * While the sample is taken, CALL_SAMPLE_MS, these functions are hooked once more; it is not while a tracer of
 * somebody else is on.  Where few of the calls are the session's own they are not told apart, since that takes until
 * they are stored.
 */

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
