/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Vacuum: a store brought within limits
 *
 * retention/retain.h decides; this looks at the store, and removes.  In a boot in which the clock was set by more than a
 * day nothing goes for its age (retention/boot-clock.h).
 */

#include "meta/config.h"
#include "retention/outlook.h"
#include "retention/retain.h"
#include "retention/boot-clock.h"
#include "store/store.h"

typedef struct Vacuum {
        RetainItem *items;
        size_t n;
        size_t i_next;                   /* of vacuum_next() */
        uint64_t used_bytes, free_bytes; /* when it was decided */
        uint64_t freed_bytes;            /* of what went, or would */
} Vacuum;

/* How far it is: sessions that had to go, and what they took on disk. */
typedef struct VacuumProgress {
        uint64_t n_done, n_total, done_bytes, total_bytes;
} VacuumProgress;

/* Returns what the settings say of removing. */
RetainLimits vacuum_limits(const Limits *l);
/* What of them counts in this boot. */
RetainLimits vacuum_limits_now(const RetainLimits *limits, const Store *store);
/*
 * What a vacuum is made of, for whoever does it bit by bit:
 *
 *   vacuum_add() of each session -> vacuum_decide() <-> vacuum_next() and a look at it, until there
 *   is none -> removing what has a verdict
 *
 * To look at all sessions closely takes long, so only those are that would go: what has to stay of
 * them is marked, and the decision made again.
 *   - vacuum_add(): takes a copy of the name.  0 or -ENOMEM.
 *   - vacuum_add_session(): the same of one that no daemon looks after
 *   - vacuum_decide(): 0 or -errno
 *   - vacuum_next(): one with a verdict that is not looked at; NULL: none
 *   - vacuum_went(): what became of one: 0 or -errno
 */
int vacuum_add(Vacuum *v, const RetainItem *item);
int vacuum_add_session(Vacuum *v, const SessionMeta *m, uint64_t n_bytes);
int vacuum_decide(Vacuum *v, const Store *store, const RetainLimits *limits);
RetainItem *vacuum_next(Vacuum *v);
void vacuum_went(Vacuum *v, RetainItem *item, int r);
VacuumProgress vacuum_progress_of(const Vacuum *v); /* when nothing is done yet */
void vacuum_done(Vacuum *v);
#define _cleanup_vacuum_ _cleanup_(vacuum_done)

/* When the next one may go that may not yet, or is too old; UINT64_MAX: none does. */
uint64_t vacuum_next_ns(const Vacuum *v, const RetainLimits *limits);
/* What goes next of all that was added.  0 or -errno. */
int vacuum_foresee(Outlook *ret, const Vacuum *v, const Store *store, const RetainLimits *limits);
/* Why it went, with what the limit was and what there was; the caller frees *@ret.  0 or -ENOMEM. */
int vacuum_describe_verdict(char **ret, const Vacuum *v, const RetainItem *i,
                            const RetainLimits *limits);
/* "{removed: [...], kept: [...], freed_bytes}" as the method Vacuum answers; NULL without memory. */
json_t *vacuum_to_json(const Vacuum *v);
const char *vacuum_item_reason(const RetainItem *i); /* why it went, or must stay; NULL: neither */
