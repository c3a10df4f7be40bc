/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Vacuum: a store brought within limits
 *
 * store/retain.h decides; this looks at the store, and removes.
 */

#include "store/keep.h"
#include "store/retain.h"
#include "store/store.h"

typedef struct VacuumItem {
        char *name;
        uint64_t n_bytes, ended_ns;
        bool is_live;
        Keep keep;
        char *foreign; /* with KEEP_FOREIGN */
        RetainVerdict verdict;
        int error; /* -errno: it had to go and could not */
} VacuumItem;

typedef struct Vacuum {
        VacuumItem *items;
        size_t n;
        uint64_t freed_bytes; /* of what went, or would */
} Vacuum;

/* Removes an ended session.  0 or -errno. */
typedef int (*VacuumRemove)(const char *name, void *userdata);

/*
 * vacuum_run()
 * @ret:    every session that could be read, vacuum_done() it
 * @remove: NULL: only decide
 *
 * That one cannot be removed is noted with it, and the others go on.  0 or -errno.
 */
int vacuum_run(Vacuum *ret, const Store *store, const RetainLimits *limits, VacuumRemove remove,
               void *userdata);
void vacuum_done(Vacuum *v);
#define _cleanup_vacuum_ _cleanup_(vacuum_done)

/* When the next session becomes too old; UINT64_MAX: none does.  CLOCK_REALTIME [ns]. */
uint64_t vacuum_next_ns(const Vacuum *v, uint64_t max_age_ns);
/* "{removed: [...], kept: [...], freed_bytes}" as the method Vacuum answers; NULL without memory. */
json_t *vacuum_to_json(const Vacuum *v);
const char *vacuum_item_reason(const VacuumItem *i); /* why it went, or must stay; NULL: neither */
/* What the segments of a session take on disk. */
uint64_t session_dir_n_bytes(const SessionDir *d);
