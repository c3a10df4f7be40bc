/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What top counts, of the same steps: of trees that are told as a whole, and of calls one after the other. */

#include "analyze/breakdown.h"
#include "analyze/overhead.h"
#include "fuzz.h"

static int hear_nothing(void *userdata, const Call *call) {
        return 0;
}

/* Calls that are told as trees, and one after the other. */
typedef struct Told {
        Pairing *pairing;
        Breakdown *by;
        Floor *floor;
} Told;

static void told_init(Told *t, bool has_others) {
        FUZZ_CHECK(pairing_new(&t->pairing) == 0);
        FUZZ_CHECK(breakdown_new(&t->by, BREAKDOWN_BY_FUNCTION, t->pairing) == 0);
        FUZZ_CHECK(floor_new(&t->floor, t->pairing) == 0);
        if (has_others)
                pairing_add_sink(t->pairing, NULL, hear_nothing, NULL);
}

static void check_quantiles(const Quantiles *a, const Quantiles *b) {
        FUZZ_CHECK(a->n == b->n && a->min == b->min && a->max == b->max && a->sum == b->sum);
        for (unsigned permille = 0; permille <= 1000; permille += 50)
                FUZZ_CHECK(quantiles_at(a, permille) == quantiles_at(b, permille));
}

static void check_same(Told *a, Told *b) {
        const Overhead x = overhead_of(a->floor), y = overhead_of(b->floor);
        size_t n, n_other;
        const BreakdownRow *const *rows = breakdown_rows(a->by, &n);
        const BreakdownRow *const *others = breakdown_rows(b->by, &n_other);

        FUZZ_CHECK(x.shown.root == y.shown.root && x.shown.n == y.shown.n);
        FUZZ_CHECK(x.shown.total_ns == y.shown.total_ns && x.shown.n_below == y.shown.n_below);
        FUZZ_CHECK(x.shown.blocked_ns == y.shown.blocked_ns && x.has_cost == y.has_cost);
        FUZZ_CHECK(x.cost.caller_low_ns == y.cost.caller_low_ns &&
                   x.cost.leaf_ns == y.cost.leaf_ns);
        FUZZ_CHECK(a->pairing->n_calls == b->pairing->n_calls);
        FUZZ_CHECK(a->pairing->total_ns == b->pairing->total_ns && n == n_other);
        for (size_t i = 0; i < n; i++) {
                const BreakdownRow *r = rows[i], *o = others[i];

                FUZZ_CHECK(r->function == o->function);
                FUZZ_CHECK(r->n == o->n && r->n_cut == o->n_cut && r->n_calls == o->n_calls);
                FUZZ_CHECK(r->n_children == o->n_children && r->self_ns == o->self_ns);
                FUZZ_CHECK(r->self_irq_ns == o->self_irq_ns);
                FUZZ_CHECK(r->self_blocked_ns == o->self_blocked_ns && r->n_outer == o->n_outer);
                FUZZ_CHECK(r->n_below == o->n_below && r->total_ns == o->total_ns);
                FUZZ_CHECK(r->irq_ns == o->irq_ns && r->softirq_ns == o->softirq_ns);
                FUZZ_CHECK(r->wake_ns == o->wake_ns && r->aside_ns == o->aside_ns);
                FUZZ_CHECK(r->blocked_ns == o->blocked_ns);
                check_quantiles(&r->quantiles, &o->quantiles);
        }
}

static void told_done(Told *t) {
        breakdown_free(t->by);
        floor_free(t->floor);
        pairing_free(t->pairing);
}
