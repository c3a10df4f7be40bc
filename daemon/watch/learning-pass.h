/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Learning pass: learn from what a session has stored so far
 *
 *      segments ──worker──> functions under the roots ──> hook cost ──worker──> calls by ordinary work
 *                                                                                      │
 *                                                STORE/lean/KEY <── names and weights ─┘
 */

#include <systemd/sd-event.h>

#include "daemon/tracer/controller.h"
#include "store/session-dir.h"

typedef struct LearningPass LearningPass;

/* @error: 0, or -errno (it has been logged).  The learning pass may be freed meanwhile. */
typedef void (*LearningPassDone)(int error, void *userdata);

/*
 * learning_pass_start()
 * @background: measuring hook costs is a task
 * @dir, @m: of the session; not needed after the call
 * @quiet:   how long ordinary work takes with nothing hooked; NULL: it is timed now, if it is not
 *           hooked, and else (of a session with --lean=off) no cost is measured
 *
 * Return: 0; -ENODATA: nothing was stored; -errno.
 */
int learning_pass_start(LearningPass **ret, sd_event *event, Background *background, Controller *c,
                        const SessionDir *dir, const SessionMeta *m, const Workload *quiet,
                        LearningPassDone done, void *userdata);
/* Ends it without an answer. */
LearningPass *learning_pass_free(LearningPass *l);
DEFINE_CLEANUP(LearningPass *, learning_pass_free);
