/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Of one root the figures are means of its calls, of several they are sums. */

#include "analyze/overhead.h"
#include "base/figure.h"
#include "base/unit.h"

static double percent(uint64_t shown_ns, uint64_t real_ns) {
        return 100.0 * (double) (shown_ns - real_ns) / (double) MAX(shown_ns, UINT64_C(1));
}

Overhead overhead_of(const Floor *f, uint64_t inner_low_ns, uint64_t inner_ns) {
        Overhead o = { .shown = floor_shown(f),
                       .inner_low_ns = inner_low_ns,
                       .inner_ns = inner_ns };
        const FloorShown *s = &o.shown;
        uint64_t awake_ns = s->total_ns - MIN(s->total_ns, s->blocked_ns);

        o.has_found = floor_cost(f, &o.found);
        o.has_cost = floor_join(&o.cost, o.has_found ? &o.found : NULL, inner_low_ns, inner_ns);
        if (!o.has_cost)
                return o;
        o.real_low_ns = floor_real_ns(&o.cost, awake_ns, s->n, s->n_below, false);
        o.real_high_ns = floor_real_ns(&o.cost, awake_ns, s->n, s->n_below, true);
        o.low_percent = percent(awake_ns, o.real_high_ns);
        o.high_percent = percent(awake_ns, o.real_low_ns);
        return o;
}

static void add_cost(const Overhead *o, uint64_t n_parts, Buf *out) {
        char range[FIGURE_MAX];

        buf_printf(out, "; about %s of %s real, ",
                   figure_range(range, o->real_low_ns / n_parts, o->real_high_ns / n_parts),
                   o->shown.blocked_ns > 0 ? "the rest is" : "it");
        if ((int) (o->low_percent + 0.5) != (int) (o->high_percent + 0.5))
                buf_printf(out, "%.0f to ", o->low_percent);
        buf_printf(out, "%.0f %% is what tracing costs", o->high_percent);
}

/* Where that is from: what one call below another adds. */
static void add_sources(const Overhead *o, Buf *out) {
        char range[FIGURE_MAX];

        buf_adds(out, " A call adds ");
        if (o->has_found)
                buf_printf(out, "%s as recorded, ",
                           figure_range(range, o->found.caller_low_ns + o->found.leaf_ns,
                                        o->found.caller_high_ns + o->found.leaf_ns));
        buf_printf(out, "%s as measured when it was armed.",
                   figure_range(range, o->inner_low_ns, o->inner_ns));
}

void overhead_describe(const Overhead *o, Buf *out) {
        const FloorShown *s = &o->shown;
        uint64_t n_parts = s->root ? s->n : 1;
        char time[FIGURE_MAX], n[UNIT_TEXT_MAX];

        if (s->n == 0)
                return;
        buf_printf(out, "Shown %s ", figure_round(time, s->total_ns / n_parts));
        if (s->root)
                buf_printf(out, "a call of %.*s", (int) s->root->n_name, s->root->label);
        else
                buf_printf(out, "in %s outermost calls", format_count(n, s->n));
        if (s->blocked_ns > 0)
                buf_printf(out, ", %s of it waiting", figure_round(time, s->blocked_ns / n_parts));
        if (o->has_cost)
                add_cost(o, n_parts, out);
        buf_adds(out, ".");
        if (o->inner_low_ns > 0)
                add_sources(o, out);
}
