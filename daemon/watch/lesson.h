/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Lesson: learn from what a session has stored so far
 *
 *      segments ──worker──> functions under the roots ──> weigh ──worker──> calls by ordinary work
 *                                                                                  │
 *                                            STORE/lean/KEY <── names and weights ─┘
 */

#include <systemd/sd-event.h>

#include "daemon/tracer/controller.h"
#include "store/session-dir.h"

#define LESSON_MAX_BYTES (256ULL << 20) /* of the session's first segments */

typedef struct Lesson Lesson;

/* @error: 0, or -errno (it has been logged).  The lesson may be freed meanwhile. */
typedef void (*LessonDone)(int error, void *userdata);

/*
 * lesson_start()
 * @aside:   weighing is a task
 * @dir, @m: of the session; not needed after the call
 * @quiet:   how long ordinary work takes with nothing hooked; NULL: nothing is weighed
 *
 * Return: 0; -ENODATA: nothing was stored; -errno.
 */
int lesson_start(Lesson **ret, sd_event *event, Aside *aside, Controller *c, const SessionDir *dir,
                 const SessionMeta *m, const Touchstone *quiet, LessonDone done, void *userdata);
/* Ends it without an answer. */
Lesson *lesson_free(Lesson *l);
DEFINE_CLEANUP(Lesson *, lesson_free);
