/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Script: a plan as the shell lines that somebody would type
 *
 *      cd /sys/kernel/tracing
 *      mkdir instances/ftraced-x
 *      echo mono > instances/ftraced-x/trace_clock       # was local, in a new instance
 *      echo udp_sendmsg > set_graph_function             # was #### all functions enabled ####
 *
 * It runs in any POSIX shell: the first part arms, then it waits for Enter, and the second part
 * puts everything back.
 */

#include <jansson.h>

#include "base/buf.h"
#include "daemon/tracefs/plan.h"

typedef struct ScriptInfo {
        const char *session, *kernel; /* its release */
        const char *tracefs;
        const Strv *warnings;
        size_t n_arm; /* steps that arm; the others put back */
        bool waits;   /* then it waits for a trigger */
} ScriptInfo;

/* An error is kept in @out. */
void script_write(Buf *out, const Plan *p, const ScriptInfo *info);
/* Steps as an array of Step (org.ftraced.varlink), from the @from-th to before the @to-th; NULL
 * without memory. */
json_t *script_steps(const Plan *p, size_t from, size_t to);
