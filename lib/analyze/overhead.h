/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Overhead: what tracing cost the outermost calls, and the sentence that says so
 *
 * It is found in the recording itself.  What the tracer does outside of the two time stamps of a call is counted into
 * the caller's own time, what it does between them into the call's.  Functions that do nearly nothing show how much that
 * is:
 *
 *      a caller     the self time of a function that calls one other function once: the lowest, and the lowest
 *                   tenth, say what one call costs, between caller_low_ns and caller_high_ns
 *      a leaf       the shortest calls that call nothing take leaf_ns, which is the tracer's
 *
 * What is left of a time T with N calls below it is then T - caller * N - leaf * (N + 1).  Callers that do something of
 * their own may be so many that their lowest tenth would be more than all calls took: then it is a smaller part of
 * them, down to a thousandth.  "Lowest" is the lowest thousandth, which of up to a thousand is the minimum: of millions
 * one or the other is wrong.  Memory does not depend on the calls.
 *
 * A tracer does not slow sleep down, so its share is one of the time that was not waited.
 */

#include "analyze/pairing.h"
#include "base/buf.h"

#define FLOOR_SAMPLES_MIN 8 /* callers, and leaves, without which nothing is said */

/* What a recording shows of it. */
typedef struct Floor Floor;

typedef struct FloorCost {
        uint64_t caller_low_ns, caller_high_ns, leaf_ns;
} FloorCost;

/* The outermost calls, all together. */
typedef struct FloorShown {
        const Function *root; /* all of them are of this; NULL: of several, or there are none */
        uint64_t n, total_ns;
        uint64_t n_cut;      /* of them, those whose time is a lower bound */
        uint64_t blocked_ns; /* of it, waited */
        uint64_t n_below;    /* calls below them */
} FloorShown;

/* Of what was shown and not waited between real_low_ns and real_high_ns would have been taken without the tracer, and
 * low_percent to high_percent are the tracer's. */
typedef struct Overhead {
        FloorShown shown;
        FloorCost cost; /* if has_cost; what follows, too */
        bool has_cost;
        bool is_filtered;   /* not all of it is shown */
        bool is_too_little; /* to tell: all of it would be the tracer's */
        uint64_t real_low_ns, real_high_ns;
        double low_percent, high_percent;
} Overhead;

/* A sink of @pairing, or of its `all`, so that what is found does not depend on what is shown; it must outlive the
 * last step.  0 or -ENOMEM. */
int floor_new(Floor **ret, Pairing *pairing);
Floor *floor_free(Floor *f);
DEFINE_CLEANUP(Floor *, floor_free);

Overhead overhead_of(const Floor *f);
/* "Shown 191.1 us a call of udp_sendmsg; without the tracer about 40.0 to 43.0 us (77 to 79 % less)."
 * "Recorded ...", if a filter leaves calls out.  Nothing, if there are no calls. */
void overhead_describe(const Overhead *o, Buf *out);

/* What is left of a time of @n_calls without the tracer, not below 0.  @n_below: of a total, calls anywhere below; of a
 * self time, calls directly below.  @high: with the lowest cost, else with the highest. */
uint64_t floor_real_ns(const FloorCost *cost, uint64_t shown_ns, uint64_t n_calls, uint64_t n_below,
                       bool high);
/* The middle of the two. */
uint64_t floor_likely_ns(const FloorCost *cost, uint64_t shown_ns, uint64_t n_calls,
                         uint64_t n_below);
