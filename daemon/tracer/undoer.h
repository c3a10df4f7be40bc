/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Undoer: tries again to put back what could not be, once nobody's tracer is in the way any more
 *
 * Nobody tells when that is, so it looks every few seconds, and only while there is something left.
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/tracer/controller.h"

typedef struct Undoer Undoer;

/* Everything is borrowed, and lives longer; @background may be NULL.  0 or -errno. */
int undoer_new(Undoer **ret, sd_event *event, Controller *controller, Background *background);
/* Whether anything is left; @u may be NULL. */
bool undoer_is_busy(const Undoer *u);
Undoer *undoer_free(Undoer *u);
DEFINE_CLEANUP(Undoer *, undoer_free);
