/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Times are counted one by one up to COUNTED_NS; what takes longer is no floor, and only how many
 * there are matters.  Of one root the figures are means of its calls; of several, or if some were cut
 * off, they are sums.
 */

#include "analyze/held.h"
#include "analyze/overhead.h"
#include "base/unit.h"

#define COUNTED_NS 65536

typedef struct Times {
        uint64_t n;
        uint32_t counts[COUNTED_NS];
} Times;

struct Floor {
        FloorShown shown;
        bool has_several, is_filtered;
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

static void add_root(Floor *f, const Function *function, uint64_t duration_ns, uint64_t blocked_ns,
                     uint64_t n_below, bool is_cut) {
        FloorShown *s = &f->shown;

        f->has_several |= s->root && s->root != function;
        s->root = function;
        s->n++;
        s->n_cut += is_cut;
        s->total_ns += duration_ns;
        s->blocked_ns += blocked_ns;
        s->n_below += n_below;
}

/* What is below an end alone was not seen: neither that nor what is cut is added. */
static void add(Floor *f, uint64_t duration_ns, uint64_t self_ns, uint64_t n_below) {
        if (n_below == 1 && self_ns > 0)
                count(&f->callers, self_ns);
        else if (n_below == 0 && duration_ns > 0)
                count(&f->leaves, duration_ns);
}

static int end(void *userdata, const Call *call) {
        const Frame *frame = call->frame;

        if (call->is_root)
                add_root(userdata, frame->function, call->duration_ns,
                         frame->blocked_ns + call->blocked_ns, frame->n_below, call->is_cut);
        if (!call->is_cut && !call->is_late)
                add(userdata, call->duration_ns, call->self_ns, frame->n_below);
        return 0;
}

static int add_trees(void *userdata, const CallTrees *t) {
        for (uint32_t i = 1; i < t->n; i++) {
                const HeldCall *c = &t->calls[i];
                const CallSums *s = &t->sums[i];

                if (c->parent == HELD_TASK)
                        add_root(userdata, c->function, c->duration_ns,
                                 s->blocked_ns + s->self_blocked_ns, s->n_below, c->is_cut);
                if (!c->is_cut && !c->is_late)
                        add(userdata, c->duration_ns, s->self_ns, s->n_below);
        }
        return 0;
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

static double percent(uint64_t shown_ns, uint64_t real_ns) {
        return 100.0 * (double) (shown_ns - real_ns) / (double) MAX(shown_ns, UINT64_C(1));
}

Overhead overhead_of(const Floor *f) {
        static const unsigned permilles[] = { 100, 50, 20, 10, 5, 2, 1 };
        Overhead o = { .shown = f->shown, .is_filtered = f->is_filtered };
        const FloorShown *s = &o.shown;
        uint64_t awake_ns = s->total_ns - MIN(s->total_ns, s->blocked_ns);

        if (f->has_several)
                o.shown.root = NULL;
        if (f->callers.n < FLOOR_SAMPLES_MIN || f->leaves.n < FLOOR_SAMPLES_MIN)
                return o;
        o.cost.caller_low_ns = quantile(&f->callers, 1);
        o.cost.leaf_ns = quantile(&f->leaves, 1);
        for (size_t i = 0; i < ELEMENTSOF(permilles) && !o.has_cost; i++) {
                o.cost.caller_high_ns = quantile(&f->callers, permilles[i]);
                if (o.cost.caller_high_ns == COUNTED_NS || o.cost.leaf_ns == COUNTED_NS)
                        return o;
                o.real_low_ns = floor_real_ns(&o.cost, awake_ns, s->n, s->n_below, false);
                o.has_cost = awake_ns == 0 || o.real_low_ns > 0;
        }
        o.real_high_ns = floor_real_ns(&o.cost, awake_ns, s->n, s->n_below, true);
        /* Somebody has done something, so that the cost must be less than it seems. */
        o.is_too_little = !o.has_cost;
        if (o.has_cost) {
                o.low_percent = percent(awake_ns, o.real_high_ns);
                o.high_percent = percent(awake_ns, o.real_low_ns);
        }
        return o;
}

void overhead_describe(const Overhead *o, Buf *out) {
        const FloorShown *s = &o->shown;
        bool is_mean = s->root && s->n_cut == 0;
        uint64_t n_parts = is_mean ? s->n : 1;
        char time[FIGURE_MAX], range[FIGURE_MAX], n[UNIT_TEXT_MAX];

        if (s->n == 0)
                return;
        buf_printf(out, "%s %s ", o->is_filtered ? "Recorded" : "Shown",
                   figure_round(time, s->total_ns / n_parts));
        if (is_mean)
                buf_printf(out, "a call of %.*s", (int) s->root->n_name, s->root->label);
        else
                buf_printf(out, "in %s outermost call%s", format_count(n, s->n),
                           s->n == 1 ? "" : "s");
        if (s->n_cut > 0)
                buf_printf(out, ", of which %s w%s cut off", format_count(n, s->n_cut),
                           s->n_cut == 1 ? "as" : "ere");
        if (s->blocked_ns > 0)
                buf_printf(out, ", %s of it waiting", figure_round(time, s->blocked_ns / n_parts));
        if (o->has_cost) {
                buf_printf(
                        out, "; without the tracer %sabout %s (",
                        s->blocked_ns > 0 ? "the rest takes " : "",
                        figure_range(range, o->real_low_ns / n_parts, o->real_high_ns / n_parts));
                if ((int) (o->low_percent + 0.5) != (int) (o->high_percent + 0.5))
                        buf_printf(out, "%.0f to ", o->low_percent);
                buf_printf(out, "%.0f %% less)", o->high_percent);
        } else if (o->is_too_little)
                buf_adds(out, "; too short to tell what tracing costs");
        buf_adds(out, ".");
}

int floor_new(Floor **ret, Pairing *pairing) {
        *ret = calloc(1, sizeof(**ret));
        if (!*ret)
                return -ENOMEM;
        (*ret)->is_filtered = pairing->all;
        pairing_add_sink_of_trees(pairing->all ?: pairing, NULL, end, add_trees, *ret);
        return 0;
}

Floor *floor_free(Floor *f) {
        return mfree(f);
}
