/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * HookChange: what was hooked for a recording, since when
 *
 * What is hooked may become less while a session records, when it is known what its roots call; more for a
 * while, to see whether they call more by now; and less by what others turn out to call often.  Nothing that was
 * recorded goes because of it, but what is not recorded differs, and a reader may want to know.
 */

#include <stddef.h>
#include <stdint.h>

#include "meta/json-field.h"

typedef enum HookReason {
        HOOK_NARROWED, /* to what the roots are known to call */
        HOOK_WIDENED,  /* to nearly all, to learn what they call by now */
        HOOK_SPARED,   /* what others call often */
        HOOK_MODULES,  /* to what modules that came have, but what ordinary work calls of it */
        _HOOK_REASON_N,
} HookReason;

typedef struct HookChange {
        uint64_t trace_ns; /* on the session's trace clock */
        HookReason reason;
        uint32_t n_hooked, n_ordinary; /* as in SessionMeta, from then on */
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
