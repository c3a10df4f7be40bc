/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * OwnWork: when ftraced itself changed what is hooked while a session recorded
 *
 * Meanwhile the kernel patches code, holds locks and interrupts all CPUs, so a call that overlaps such a window may
 * be slow because of us.  Windows are on the session's trace clock, in order, and do not overlap.
 */

#include <stddef.h>
#include <stdint.h>

#include "meta/json-field.h"

typedef struct OwnWork {
        uint64_t from_ns, to_ns;
} OwnWork;

typedef struct OwnWorks {
        OwnWork *items; /* n of them */
        size_t n;
} OwnWorks;

#define OWN_WORKS_MAX 256

/* What it touches, and what is later, is joined to it; of too many, the two with the least in between are.
 * 0 or -ENOMEM. */
int own_works_add(OwnWorks *w, uint64_t from_ns, uint64_t to_ns);
/* Whether any of it is within these times. */
bool own_works_overlap(const OwnWorks *w, uint64_t from_ns, uint64_t to_ns);
extern const JsonTable own_work_table;
