/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What tracing costs is found along the way, by one more that is told of the calls. */

#include "base/log.h"
#include "base/unit.h"
#include "cli/counting.h"
#include "cli/figures.h"
#include "cli/status.h"
#include "cli/terminal.h"

int counting_failure(int r) {
        if (r == -EPIPE)
                return stdout_status(r);
        log_error_errno(r, "Failed to add up calls: %m");
        return STATUS_FAILED;
}

int counting_init(Counting *ret) {
        int r;

        *ret = (Counting){};
        r = pairing_new(&ret->pairing);
        if (r >= 0)
                r = floor_new(&ret->floor, ret->pairing);
        return r < 0 ? counting_failure(r) : STATUS_OK;
}

int counting_open(Counting *c, const Options *o, const char *word) {
        int status = reading_open(&c->reading, o, word);

        if (status == STATUS_OK && c->reading.source && c->reading.source->meta->spec.slower_ns > 0)
                pairing_set_only_ends(c->pairing);
        return status;
}

int counting_run(Counting *c, const Options *o) {
        int r;

        for (;;) {
                Step step;

                r = reading_next(&c->reading, &step);
                if (r < 0)
                        return -r;
                if (r == 0)
                        break;
                r = pairing_step(c->pairing, &step);
                if (r < 0)
                        return counting_failure(r);
        }
        r = pairing_finish(c->pairing);
        if (r < 0)
                return counting_failure(r);
        if (c->reading.source)
                c->calibration = c->reading.source->meta->calibration;
        c->has_found = floor_cost(c->floor, &c->found);
        c->has_cost = floor_join(&c->cost, c->has_found ? &c->found : NULL,
                                 c->calibration.inner_low_ns, c->calibration.inner_ns);
        if (o->analysis.corrected && !c->has_cost) {
                log_error("--corrected: too few calls were recorded to tell what tracing costs.");
                return STATUS_FAILED;
        }
        return STATUS_OK;
}

int counting_read(Counting *c, const Options *o, const char *word) {
        int status = counting_open(c, o, word);

        return status == STATUS_OK ? counting_run(c, o) : status;
}

int counting_end(const Counting *c, const Options *o) {
        if (pairing_n_calls(c->pairing) == 0)
                talk(o, "There are no calls in it.");
        return reading_finish(&c->reading, o);
}

void counting_done(Counting *c) {
        floor_free(c->floor);
        pairing_free(c->pairing);
        reading_done(&c->reading);
        *c = (Counting){};
}

/* Of the time that is not waited for: a tracer does not slow sleep down. */
static double share(uint64_t shown_ns, uint64_t real_ns) {
        return 100.0 * (double) (shown_ns - real_ns) / (double) MAX(shown_ns, UINT64_C(1));
}

static void add_range(Buf *out, uint64_t low_ns, uint64_t high_ns) {
        char low[FIGURE_MAX], high[FIGURE_MAX];
        const char *unit;

        figure_round(low, low_ns);
        figure_round(high, high_ns);
        unit = strchr(low, ' ');
        if (streq(low, high))
                buf_adds(out, high);
        else if (unit && strchr(high, ' ') && streq(unit, strchr(high, ' ')))
                buf_printf(out, "%.*s to %s", (int) (unit - low), low, high);
        else
                buf_printf(out, "%s to %s", low, high);
}

/* Where that is from: what one call below another adds. */
static void add_sources(const Counting *c, Buf *out) {
        buf_adds(out, " A call adds ");
        if (c->has_found) {
                add_range(out, c->found.caller_low_ns + c->found.leaf_ns,
                          c->found.caller_high_ns + c->found.leaf_ns);
                buf_adds(out, " as recorded, ");
        }
        add_range(out, c->calibration.inner_low_ns, c->calibration.inner_ns);
        buf_adds(out, " as measured when it was armed.");
}

static void add_cost(const Counting *c, const FloorShown *s, Buf *out) {
        uint64_t awake_ns = s->total_ns - MIN(s->total_ns, s->blocked_ns);
        uint64_t low_ns = floor_real_ns(&c->cost, awake_ns, s->n, s->n_below, false);
        uint64_t high_ns = floor_real_ns(&c->cost, awake_ns, s->n, s->n_below, true);
        double least = share(awake_ns, high_ns), most = share(awake_ns, low_ns);
        uint64_t n_parts = s->root ? s->n : 1;

        buf_adds(out, "; about ");
        add_range(out, low_ns / n_parts, high_ns / n_parts);
        buf_printf(out, " of %s real, ", s->blocked_ns > 0 ? "the rest is" : "it");
        if ((int) (least + 0.5) != (int) (most + 0.5))
                buf_printf(out, "%.0f to ", least);
        buf_printf(out, "%.0f %% is what tracing costs", most);
}

void counting_headline(const Counting *c, Buf *out) {
        FloorShown s = floor_shown(c->floor);
        char shown[FIGURE_MAX], n[UNIT_TEXT_MAX];

        if (s.n == 0)
                return;
        if (s.root)
                buf_printf(out, "Shown %s a call of %.*s", figure_round(shown, s.total_ns / s.n),
                           (int) s.root->n_name, s.root->label);
        else
                buf_printf(out, "Shown %s in %s outermost calls", figure_round(shown, s.total_ns),
                           format_count(n, s.n));
        if (s.blocked_ns > 0)
                buf_printf(out, ", %s of it waiting",
                           figure_round(shown, s.root ? s.blocked_ns / s.n : s.blocked_ns));
        if (c->has_cost)
                add_cost(c, &s, out);
        buf_adds(out, ".");
        if (calibration_is_set(&c->calibration))
                add_sources(c, out);
        buf_adds(out, "\n");
}

static json_t *calibration_json(const Counting *c) {
        return calibration_is_set(&c->calibration) ? calibration_to_json(&c->calibration)
                                                   : json_null();
}

static json_t *found_json(const Counting *c) {
        if (!c->has_found)
                return json_null();
        return json_pack("{s:I, s:I, s:I}", "caller_low_ns", (json_int_t) c->found.caller_low_ns,
                         "caller_high_ns", (json_int_t) c->found.caller_high_ns, "leaf_ns",
                         (json_int_t) c->found.leaf_ns);
}

json_t *counting_cost_json(const Counting *c) {
        FloorShown s = floor_shown(c->floor);

        if (!c->has_cost)
                return json_null();
        return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "caller_low_ns",
                         (json_int_t) c->cost.caller_low_ns, "caller_high_ns",
                         (json_int_t) c->cost.caller_high_ns, "leaf_ns",
                         (json_int_t) c->cost.leaf_ns, "shown_ns", (json_int_t) s.total_ns, "calls",
                         (json_int_t) s.n, "real_low_ns",
                         (json_int_t) floor_real_ns(&c->cost, s.total_ns, s.n, s.n_below, false),
                         "real_high_ns",
                         (json_int_t) floor_real_ns(&c->cost, s.total_ns, s.n, s.n_below, true),
                         "floor", found_json(c), "calibration", calibration_json(c));
}
