/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Host checks: what stands in the way of a recording on this machine
 *
 * One list serves both sides: `ftracectl doctor` shows all of it, and arming is
 * refused with the first bad entry.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "daemon/admission/admission.h"
#include "daemon/tracefs/ledger.h"
#include "daemon/tracefs/tracefs.h"
#include "wire/refusal.h"

typedef struct HostFacts {
        const Tracefs *fs;
        const Ledger *ledger;
        bool ledger_was_lost; /* somebody had removed its file, which was written anew */
        int has_instances;    /* 1, 0; < 0: not known */
        const Strv *ours;     /* directories of live sessions */
        size_t n_live;        /* sessions that are armed or recording */
        MemoryUse memory;
} HostFacts;

/* JSON array of CheckResult (org.ftraced.varlink); NULL without memory. */
json_t *host_check(const HostFacts *facts);
/* The first thing without which nothing can be armed at all: 0, REFUSED, -errno. */
int host_admit(const HostFacts *facts, Refusal *refusal);
