/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Arbiter: who uses what exists once per kernel
 *
 * set_graph_function, set_graph_notrace, max_graph_depth and tracing_thresh are one for all
 * instances, in every kernel version (linux 6.12 kernel/trace/ftrace.c,
 * ftrace_graph_hash; trace_functions_graph.c, max_depth; trace.c, tracing_thresh), some options of
 * function_graph in some.  Roots can be united; the others must be equal.  And a depth unites only
 * the same roots: it counts from the outermost function that any user of function_graph has entered
 * (linux 6.12 kernel/trace/fgraph.c, curr_ret_depth), so that somebody else's root above ours would
 * use it up.  The arbiter only counts: it never writes.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"

/* Values that cannot be united. */
typedef struct ClaimValues {
        uint64_t depth;
        uint64_t thresh_us; /* then no calls are recorded, only returns: whose tree one is in, only
                             * `flat` tells */
        bool flat;
        bool no_irqs, no_sleep_time, args; /* false where each instance has its own */
} ClaimValues;

/* What one live session holds. */
typedef struct Claim {
        char *session;
        uid_t uid;
        uint64_t since_ns; /* CLOCK_REALTIME */
        Strv roots, notrace;
        ClaimValues values;
} Claim;

typedef struct Arbiter {
        Claim **claims;
        size_t n;
} Arbiter;

enum { ARBITER_E_HELD = 1 };
/* Whether arbiter_join() would succeed: 0 or ARBITER_E_HELD. */
int arbiter_look(const Arbiter *a, const Strv *roots, const Strv *notrace,
                 const ClaimValues *values, const Claim **ret_holder, const char **ret_what);
/*
 * arbiter_join() - take a claim
 * @ret:        borrowed until arbiter_leave()
 * @ret_holder: on ARBITER_E_HELD the claim in the way; *@ret_what names the file
 */
int arbiter_join(Arbiter *a, Claim **ret, const char *session, uid_t uid, const Strv *roots,
                 const Strv *notrace, const ClaimValues *values, const Claim **ret_holder,
                 const char **ret_what);
void arbiter_leave(Arbiter *a, Claim *claim);
void arbiter_done(Arbiter *a);

/* Roots of @claim that no other claim has: to add when it joins, to remove when it leaves. */
int arbiter_own_roots(const Arbiter *a, const Claim *claim, Strv *ret);
/* All roots of all claims, sorted. */
int arbiter_all_roots(const Arbiter *a, Strv *ret);
/* The sessions other than @claim. */
int arbiter_neighbours(const Arbiter *a, const Claim *claim, Strv *ret);
