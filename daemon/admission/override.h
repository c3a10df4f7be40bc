/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Override: a tracer of somebody else, switched off while a session records
 *
 * Only where the session's owner said --force.  The tracer's name is written into the ledger as
 * shared (LEDGER_TRACER), so it comes back when the last session has gone and all other files say
 * what they said.  What cannot be overridden is a pipe that is held open: its reader would lose
 * events that it waits for.
 */

#include "daemon/tracefs/ledger.h"
#include "daemon/tracefs/plan.h"
#include "daemon/tracefs/tracefs.h"
#include "wire/refusal.h"

/*
 * override_find() - the buffers whose tracer is in the way
 * @instances, @ours: as admit_tracer() has them
 * @dirs:     "" or "instances/x/" are added
 * @warnings: a sentence for each is added, with its tracer
 *
 * Writes nothing.  0, REFUSED (a pipe of one is held open), -errno.
 */
int override_find(const Tracefs *fs, bool instances, const Strv *ours, Strv *dirs, Strv *warnings,
                  Refusal *refusal);
/* Adds the steps that switch them off, and what they are to the ledger.  A step that meets an open
 * pipe fails with -EBUSY. */
int override_plan(Plan *p, const Strv *dirs);
