/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Condition: something that is wrong with a recording at the moment
 *
 * A session that has any is degraded: it goes on, and may lack something later.
 * What it then lacks is a gap (store/gap.h); the causes are the same.
 *
 * As JSON an element of session.json's "degraded":
 *
 *      { "cause": "no_space", "since_ns": 176..., "reason": "storing pages failed: ..." }
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/gap.h"

typedef struct Condition {
        GapCause cause;
        uint64_t since_ns; /* CLOCK_REALTIME */
        char *reason;      /* one sentence */
} Condition;

/* At most one of each cause. */
typedef struct Conditions {
        Condition *items;
        size_t n;
} Conditions;

const Condition *conditions_find(const Conditions *c, GapCause cause);
/* @cause holds from @since_ns; if it did before, only the reason is new.  1 if that changes
 * anything, 0, -ENOMEM. */
int conditions_set(Conditions *c, GapCause cause, uint64_t since_ns, const char *reason);
/* Whether there was one. */
bool conditions_clear(Conditions *c, GapCause cause);
void conditions_done(Conditions *c);

extern const JsonTable condition_table;
