/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Following: tasks that join those whose calls are recorded, by name or control group
 *
 * Looked up when the kernel tells that somebody may have joined or left
 * (daemon/instances/instance.h), and at intervals.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/tracer/controller.h"
#include "meta/meta.h"

typedef struct Following Following;

/* From now on who joins is noticed; *@ret is NULL if @m->spec follows nobody.  @m, which is warned when
 * that fails later, and @t are borrowed.  0 or -errno. */
int following_new(Following **ret, sd_event *event, SessionMeta *m, Tracer *t);
/* Before the tracer is switched off. */
Following *following_free(Following *f);
DEFINE_CLEANUP(Following *, following_free);
