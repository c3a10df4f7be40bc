/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times are counted one by one up to COUNTED_NS; what takes longer is no floor, and only how many
 * there are matters.
 */

#include "analyze/floor.h"

#define COUNTED_NS 65536

typedef struct Times {
        uint64_t n;
        uint32_t counts[COUNTED_NS];
} Times;

struct Floor {
        FloorShown shown;
        bool has_several;
        Times callers, leaves;
};

static void count(Times *t, uint64_t ns) {
        t->n++;
        if (ns < COUNTED_NS && t->counts[ns] < UINT32_MAX)
                t->counts[ns]++;
}

/* The smallest that @permille of all do not exceed; at least one does not.  COUNTED_NS: it is
 * higher than was counted. */
static uint64_t quantile(const Times *t, unsigned permille) {
        uint64_t rank = MAX((t->n * permille + 999) / 1000, UINT64_C(1));

        for (uint64_t ns = 0; ns < COUNTED_NS; ns++) {
                if (rank <= t->counts[ns])
                        return ns;
                rank -= t->counts[ns];
        }
        return COUNTED_NS;
}

static void add_root(Floor *f, const Call *call) {
        FloorShown *s = &f->shown;

        f->has_several |= s->root && s->root != call->frame->function;
        s->root = call->frame->function;
        s->n++;
        s->n_cut += call->is_cut;
        s->total_ns += call->duration_ns;
        s->blocked_ns += call->frame->blocked_ns + call->blocked_ns;
        s->n_below += call->frame->n_below;
}

static int end(void *userdata, const Call *call) {
        Floor *f = userdata;

        if (call->is_root)
                add_root(f, call);
        /* What is below an end alone was not seen. */
        if (call->is_cut || call->is_late)
                return 0;
        if (call->frame->n_below == 1 && call->self_ns > 0)
                count(&f->callers, call->self_ns);
        else if (call->frame->n_below == 0 && call->duration_ns > 0)
                count(&f->leaves, call->duration_ns);
        return 0;
}

/* Whether the outermost calls cannot have cost so much. */
static bool is_too_much(const Floor *f, const FloorCost *cost) {
        const FloorShown *s = &f->shown;
        uint64_t awake_ns = s->total_ns - MIN(s->total_ns, s->blocked_ns);

        return awake_ns > 0 && floor_real_ns(cost, awake_ns, s->n, s->n_below, false) == 0;
}

bool floor_cost(const Floor *f, FloorCost *ret) {
        static const unsigned smaller[] = { 50, 20, 10, 5, 2, 1 };
        FloorCost cost;

        if (f->callers.n < FLOOR_SAMPLES_MIN || f->leaves.n < FLOOR_SAMPLES_MIN)
                return false;
        cost = (FloorCost){
                .caller_low_ns = quantile(&f->callers, 1),
                .caller_high_ns = quantile(&f->callers, 100),
                .leaf_ns = quantile(&f->leaves, 1),
        };
        if (cost.caller_high_ns == COUNTED_NS || cost.leaf_ns == COUNTED_NS)
                return false;
        for (size_t i = 0; i < ELEMENTSOF(smaller) && is_too_much(f, &cost); i++)
                cost.caller_high_ns = quantile(&f->callers, smaller[i]);
        *ret = cost;
        return true;
}

FloorShown floor_shown(const Floor *f) {
        FloorShown s = f->shown;

        if (f->has_several)
                s.root = NULL;
        return s;
}

uint64_t floor_real_ns(const FloorCost *cost, uint64_t shown_ns, uint64_t n_calls, uint64_t n_below,
                       bool high) {
        uint64_t tracer_ns = n_below * (high ? cost->caller_low_ns : cost->caller_high_ns) +
                             (n_below + n_calls) * cost->leaf_ns;

        return shown_ns - MIN(shown_ns, tracer_ns);
}

uint64_t floor_likely_ns(const FloorCost *cost, uint64_t shown_ns, uint64_t n_calls,
                         uint64_t n_below) {
        return (floor_real_ns(cost, shown_ns, n_calls, n_below, false) +
                floor_real_ns(cost, shown_ns, n_calls, n_below, true)) /
               2;
}

int floor_new(Floor **ret, Pairing *pairing) {
        Floor *f = calloc(1, sizeof(*f));

        if (!f)
                return -ENOMEM;
        pairing_add_sink(pairing, NULL, end, f);
        *ret = f;
        return 0;
}

Floor *floor_free(Floor *f) {
        free(f);
        return NULL;
}
