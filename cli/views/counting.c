/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What tracing costs is found along the way, by one more that is told of the calls. */

#include "base/unit.h"
#include "cli/views/views.h"

int counting_status(int r) {
        if (r >= 0 || r == -EPIPE)
                return stdout_status(r);
        return failed_errno(r, "Failed to add up calls: %m");
}

int counting_init(Counting *ret, bool with_floor) {
        *ret = (Counting){ .with_floor = with_floor };
        return pairing_new(&ret->pairing);
}

int counting_open(Counting *c, const Options *o, const char *word) {
        int status;

        if (o->filter.functions.n > 0)
                c->pairing->is_sparse = true;
        status = reading_open(&c->reading, o, word, READING_FOR_CALLS);
        if (status == STATUS_OK && reading_meta(&c->reading))
                c->pairing->own_work = &reading_meta(&c->reading)->own_work;
        c->pairing->all = c->reading.whole;
        if (c->reading.lines.ways) {
                c->pairing->find_ways = ways_find;
                c->pairing->ways_userdata = c->reading.lines.ways;
        }
        if (status == STATUS_OK && c->with_floor)
                status = counting_status(floor_new(&c->floor, c->pairing));
        return status;
}

int counting_run(Counting *c) {
        Step step;
        int r, status;

        while ((r = reading_next(&c->reading, &step)) > 0) {
                r = pairing_step(c->pairing, &step);
                if (r < 0)
                        return counting_status(r);
        }
        if (r < 0)
                return -r;
        r = pairing_finish(c->pairing);
        status = r < 0 || c->pairing->n_calls > 0
                         ? counting_status(r)
                         : source_check_asked(c->reading.o, c->reading.word, NULL);
        if (status != STATUS_OK || !c->floor)
                return status;
        c->overhead = overhead_of(c->floor);
        if (c->reading.o->analysis.corrected && !c->overhead.has_cost)
                return failed(
                        STATUS_FAILED,
                        "--corrected: too few calls were recorded to tell what tracing costs.");
        return STATUS_OK;
}

int counting_read(Counting *c, const Options *o, const char *word) {
        return counting_open(c, o, word) ?: counting_run(c);
}

void counting_say_own_work(const Counting *c) {
        uint64_t n = c->pairing ? c->pairing->n_own_work : 0;

        if (n > 0)
                talk(c->reading.o,
                     "%s outermost call%s left out, since ftraced changed hooks meanwhile.",
                     FORMAT_COUNT(n), n == 1 ? " is" : "s are");
}

int counting_end(const Counting *c) {
        _cleanup_free_ char *said = options_said_filters(c->reading.o);

        if (c->pairing->n_calls == 0)
                talk(c->reading.o, "There are no calls in it%s.", said ?: "");
        return reading_finish(&c->reading);
}

void counting_done(Counting *c) {
        floor_free(c->floor);
        pairing_free(c->pairing);
        reading_done(&c->reading);
        *c = (Counting){};
}

void counting_headline(const Counting *c, Buf *out) {
        size_t from = out->n_data;

        overhead_describe(&c->overhead, out);
        buf_adds(out, c->overhead.shown.n > 0 ? "\n" : "");
        terminal_fold(out, from, 0);
}

int counting_show(const Counting *c, Table *t, const char *below) {
        const Options *o = c->reading.o;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);

        if (!o->no_legend && o->json == JSON_OFF) {
                counting_headline(c, &out);
                buf_adds(&out, below);
        }
        return table_show(t, o, &out);
}

json_t *counting_cost_json(const Counting *c) {
        const Overhead *o = &c->overhead;
        const FloorShown *s = &o->shown;

        if (!o->has_cost)
                return json_null();
        return json_pack(
                "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:{s:I, s:I, s:I}, s:n}",
                "caller_low_ns", (json_int_t) o->cost.caller_low_ns, "caller_high_ns",
                (json_int_t) o->cost.caller_high_ns, "leaf_ns", (json_int_t) o->cost.leaf_ns,
                "shown_ns", (json_int_t) s->total_ns, "calls", (json_int_t) s->n, "blocked_ns",
                (json_int_t) s->blocked_ns, "real_low_ns",
                (json_int_t) (s->blocked_ns + o->real_low_ns), "real_high_ns",
                (json_int_t) (s->blocked_ns + o->real_high_ns), "low_percent", o->low_percent,
                "high_percent", o->high_percent, "floor", "caller_low_ns",
                (json_int_t) o->cost.caller_low_ns, "caller_high_ns",
                (json_int_t) o->cost.caller_high_ns, "leaf_ns", (json_int_t) o->cost.leaf_ns,
                "calibration");
}
