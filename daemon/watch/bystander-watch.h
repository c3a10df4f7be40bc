/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Bystander watch: looks for a moment at what others call of what is hooked
 *
 *      call sample ──worker──> calls of each function ─┐
 *                                                      ├─ difference: others' calls ──> those that are too many
 *      segments ────worker──> calls below the roots ───┘
 *
 * Without a session nothing is below roots: then it is what this host calls often, of all functions but those that
 * ordinary work is known to call, while the reference workload works (daemon/lean/workload.h).
 *
 * While the sample is taken, CONTROLLER_SAMPLE_MS, these functions are hooked once more, for which the kernel
 * takes a few tenths of a second of one CPU, or a fifth of that for a part of them.  A part is looked at first where others
 * most probably pay little, and all only if that part alone costs them a quarter of what they may pay.  It is not taken
 * while a tracer of somebody else is on.
 */

#include <systemd/sd-event.h>

#include "daemon/tracer/controller.h"
#include "store/session-dir.h"

typedef struct BystanderWatch BystanderWatch;

/*
 * @names: what others call too often, the most called first, and what each costs them in all, in millionths of a
 *         CPU's time; NULL and @error: it is not known (-EBUSY: somebody else traces)
 * The watch may be freed meanwhile.
 */
typedef void (*BystanderWatchDone)(const Strv *names, const uint32_t *ppm, int error,
                                   void *userdata);

typedef struct BystanderWatchConfig {
        sd_event *event;
        Background *background; /* the sample is a task */
        Controller *controller;
        const char *name; /* for messages */
        const Tracer
                *tracer; /* a session that records, and what it has stored; borrowed until it has */
        const SessionDir *dir; /* ended or the watch is freed; NULL: there is none */
        const Strv *roots;     /* its; borrowed */
        uint64_t budget_ppm;   /* what others may pay */
        unsigned part;         /* as of controller_sample_calls() */
        BystanderWatchDone done;
        void *userdata;
} BystanderWatchConfig;

/* 0 or -ENOMEM. */
int bystander_watch_start(BystanderWatch **ret, const BystanderWatchConfig *config);
/* Ends it without an answer. */
BystanderWatch *bystander_watch_free(BystanderWatch *w);
DEFINE_CLEANUP(BystanderWatch *, bystander_watch_free);
