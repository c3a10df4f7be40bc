/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * HookChange: what was hooked for a recording, since when
 *
 * What is hooked may become less while a session records, when a lesson is over or calls cost more than they may; and
 * more, when the load has gone, or for a while to see whether the roots call more by now.  Nothing that was
 * recorded goes because of it, but what is not recorded differs, and a reader may want to know.
 */

#include <stddef.h>
#include <stdint.h>

#include "meta/json-field.h"

typedef enum HookReason {
        HOOK_NARROWED, /* to what the roots are known to call: a lesson is over */
        HOOK_WIDENED,  /* to all, to learn what they call by now */
        HOOK_SPARED,   /* what others call often; by earlier versions */
        HOOK_MODULES,  /* to what modules that came have of it */
        HOOK_THINNED,  /* by what costs more than it may */
        HOOK_RESTORED, /* by what costs less again */
        _HOOK_REASON_N,
} HookReason;

typedef struct HookChange {
        uint64_t trace_ns; /* on the session's trace clock */
        HookReason reason;
        uint32_t n_hooked, n_known; /* as in SessionMeta, from then on */
} HookChange;

typedef struct HookChanges {
        HookChange *items; /* n of them, in order of time; the oldest go when they are too many */
        size_t n;
} HookChanges;

#define HOOK_CHANGES_MAX 100

const char *hook_reason_text(HookReason r); /* "narrowed to what was learned" */
/* 0 or -ENOMEM. */
int hook_changes_add(HookChanges *h, const HookChange *change);
extern const JsonTable hook_change_table; /* none before the last one */
