/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Of one root the figures are means of its calls; of several, or if some were cut off, they are sums. */

#include "analyze/overhead.h"
#include "base/figure.h"
#include "base/unit.h"

static double percent(uint64_t shown_ns, uint64_t real_ns) {
        return 100.0 * (double) (shown_ns - real_ns) / (double) MAX(shown_ns, UINT64_C(1));
}

Overhead overhead_of(const Floor *f) {
        Overhead o = { .shown = floor_shown(f) };
        const FloorShown *s = &o.shown;
        uint64_t awake_ns = s->total_ns - MIN(s->total_ns, s->blocked_ns);

        o.has_cost = floor_cost(f, &o.cost);
        if (!o.has_cost)
                return o;
        o.real_low_ns = floor_real_ns(&o.cost, awake_ns, s->n, s->n_below, false);
        o.real_high_ns = floor_real_ns(&o.cost, awake_ns, s->n, s->n_below, true);
        /* Somebody has done something, so that the cost must be less than it seems. */
        if (awake_ns > 0 && o.real_low_ns == 0) {
                o.has_cost = false;
                o.is_too_little = true;
                return o;
        }
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

void overhead_describe(const Overhead *o, Buf *out) {
        const FloorShown *s = &o->shown;
        bool is_mean = s->root && s->n_cut == 0;
        uint64_t n_parts = is_mean ? s->n : 1;
        char time[FIGURE_MAX], n[UNIT_TEXT_MAX];

        if (s->n == 0)
                return;
        buf_printf(out, "Shown %s ", figure_round(time, s->total_ns / n_parts));
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
        if (o->has_cost)
                add_cost(o, n_parts, out);
        else if (o->is_too_little)
                buf_adds(out, "; too little to tell what of it tracing costs");
        buf_adds(out, ".");
}
