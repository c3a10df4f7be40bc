/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Path view: critical paths as a sentence and a table, or as JSON
 *
 * Of one call: its segments in the order of time.  Of several, added up: rows, what took longest first,
 * with times for each call on average.
 */

#include "causes/critical-path.h"
#include "base/buf.h"
#include "cli/options/options.h"

#define PATH_VIEW_LIMIT 30

typedef struct PathView {
        const Function *function;
        const char *comm;     /* of one call, like the next three */
        int64_t task;         /* step_task_key() */
        uint64_t number;      /* among the outermost calls, from 1 */
        uint64_t start_ns;    /* trace clock */
        uint64_t duration_ns; /* of all together */
        uint64_t n_calls;     /* how many these are */
        uint64_t n_all;       /* of how many they are the slowest */
        const CriticalPath *path;
        const PathSum *sum; /* of the same */
} PathView;

/* "udp_recvmsg, call 12, took 22.8 ms: 94 % waiting for client-347, which was in ..." */
void path_view_sentence(const PathView *v, Buf *out);
/* At most @limit rows; 0: PATH_VIEW_LIMIT.  The shortest are left out, and their times are in one row.
 * 0 or -ENOMEM. */
int path_view_print(const PathView *v, Buf *out, size_t limit, bool legend);
/* All of it. */
json_t *path_view_json(const PathView *v);
