/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Stored pages: has the calls counted that a session has stored, by a worker (daemon/lean/learner.h)
 *
 * The newest segments of all CPUs count, then the ones before, as long as they are not too much.
 */

#include "daemon/lean/learner.h"
#include "store/session-dir.h"

#define STORED_PAGES_MAX_BYTES (256ULL << 20)

/* Calls from @from_ns up to @to_ns.  0; -ENODATA: nothing was stored; -errno.  @done as in learner_start(). */
int stored_pages_count(Learner **ret, sd_event *event, const SessionDir *dir, uint64_t from_ns,
                       uint64_t to_ns, LearnerDone done, void *userdata);
