/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Adoption: where the readers of a recording go on that an earlier daemon had begun
 *
 * The tracer is taken up already, and nothing is read yet.  What is missing of the recording becomes
 * gaps and warnings of its metadata.
 */

#include "base/cleanup.h"
#include "daemon/record/recorder.h"
#include "daemon/session/session-hold.h"
#include "daemon/tracer/controller.h"
#include "daemon/watch/live.h"
#include "meta/meta.h"
#include "store/session-dir.h"

/* All borrowed for the call. */
typedef struct AdoptionConfig {
        SessionMeta *meta;
        const SessionDir *dir;
        Tracer *tracer;
        Recorder *recorder; /* of no CPUs yet */
        SessionHold *hold;
        const Live *live; /* as adoption_read_live() found it */
} AdoptionConfig;

/*
 * adoption_read_live() - what the earlier daemon left in live.json
 * @ret: live_done() it; empty if it could not be read
 *
 * Return: NULL, or why the session ends now with all that was recorded; that may be in @text.
 */
#define ADOPTION_WHY_MAX 160
const char *adoption_read_live(const SessionDir *dir, Live *ret,
                               char text[static ADOPTION_WHY_MAX]);
/* Adds all CPUs of the session to the recorder, with what is in their pipes and half pages.
 * 0 or -errno. */
int adoption_take_cpus(const AdoptionConfig *config);
/* Where the recording of a CPU is known to have come to: the time of its last page [ns]. */
uint64_t adoption_stored_ns(const SessionDir *dir, const SessionMeta *m, uint32_t cpu);
