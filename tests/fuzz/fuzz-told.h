/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What is added up, of the same steps: of trees that are told as a whole, or passed over, and of calls one after the
 * other. */

#include "analyze/breakdown.h"
#include "analyze/overhead.h"
#include "causes/anatomy.h"
#include "causes/critical-path.h"
#include "causes/outliers.h"
#include "fuzz.h"

static int hear_nothing(void *userdata, const Call *call) {
        return 0;
}

/* Calls that are told as trees, and one after the other. */
typedef struct Told {
        Pairing *pairing, *others, *placed;
        Breakdown *by;
        Floor *floor;
        CallTree *tree;
        Outliers *outliers;
        Anatomy *anatomy;
        RootCalls root_calls;
        Window windows[2];
        Timelines *timelines;
} Told;

static void told_init(Told *t, bool is_by_call) {
        FUZZ_CHECK(pairing_new(&t->pairing) == 0);
        FUZZ_CHECK(pairing_new(&t->others) == 0);
        FUZZ_CHECK(pairing_new(&t->placed) == 0);
        FUZZ_CHECK(breakdown_new(&t->by, BREAKDOWN_BY_FUNCTION, t->pairing) == 0);
        FUZZ_CHECK(floor_new(&t->floor, t->pairing) == 0);
        FUZZ_CHECK(call_tree_new(&t->tree, t->pairing) == 0);
        FUZZ_CHECK(outliers_new(&t->outliers, t->pairing, 5) == 0);
        t->outliers->idle.is_wanted = true;
        FUZZ_CHECK(anatomy_new(&t->anatomy) == 0);
        t->anatomy->idle.is_wanted = true;
        FUZZ_CHECK(anatomy_add_source(t->anatomy, t->others) == 0);
        root_calls_init(&t->root_calls, t->others, 3);
        t->windows[0] =
                (Window){ .task = 17, .begin_ns = 1000, .end_ns = 9999, .label = "vfs_read" };
        t->windows[1] = (Window){ .task = 17, .begin_ns = 5000, .end_ns = 1 << 30, .label = "z" };
        FUZZ_CHECK(timelines_new(&t->timelines, t->placed, t->windows, ELEMENTSOF(t->windows)) ==
                   0);
        if (!is_by_call)
                return;
        pairing_add_sink(t->pairing, NULL, hear_nothing, NULL);
        pairing_add_sink(t->others, NULL, hear_nothing, NULL);
        t->placed->wants = NULL;
}

static void told_step(Told *t, const Step *step) {
        FUZZ_CHECK(timelines_step(t->timelines, step) == 0);
        FUZZ_CHECK(pairing_step(t->pairing, step) == 0 && pairing_step(t->others, step) == 0 &&
                   pairing_step(t->placed, step) == 0);
}

static void told_finish(Told *t) {
        FUZZ_CHECK(pairing_finish(t->pairing) == 0 && pairing_finish(t->others) == 0 &&
                   pairing_finish(t->placed) == 0);
        FUZZ_CHECK(call_tree_finish(t->tree) == 0 && outliers_finish(t->outliers) == 0 &&
                   timelines_finish(t->timelines) == 0);
}

static void check_quantiles(const Quantiles *a, const Quantiles *b) {
        FUZZ_CHECK(a->n == b->n && a->min == b->min && a->max == b->max && a->sum == b->sum);
        for (unsigned permille = 0; permille <= 1000; permille += 50)
                FUZZ_CHECK(quantiles_at(a, permille) == quantiles_at(b, permille));
}

static void check_same_trees(CallTree *a, CallTree *b) {
        const CallNode *x = call_tree_root(a), *y = call_tree_root(b), *top_x = x, *top_y = y;

        for (; x && y; x = call_node_next(top_x, x), y = call_node_next(top_y, y)) {
                FUZZ_CHECK(x->function == y->function && x->level == y->level && x->n == y->n);
                FUZZ_CHECK(x->id == y->id && x->n_cut == y->n_cut && x->n_below == y->n_below);
                FUZZ_CHECK(x->n_left_out == y->n_left_out && x->total_ns == y->total_ns);
                FUZZ_CHECK(x->self_ns == y->self_ns && x->cut_self_ns == y->cut_self_ns);
                FUZZ_CHECK(x->share_ns == y->share_ns && x->blocked_ns == y->blocked_ns);
                FUZZ_CHECK(x->cut_blocked_ns == y->cut_blocked_ns && x->min_ns == y->min_ns);
                FUZZ_CHECK(x->max_ns == y->max_ns && x->is_irq == y->is_irq);
                FUZZ_CHECK(x->in_irq == y->in_irq && x->n_unhooked == y->n_unhooked);
        }
        FUZZ_CHECK(x == y);
}

static void check_same_call(const Invocation *v, const Invocation *o) {
        FUZZ_CHECK(!v == !o);
        if (!v)
                return;
        FUZZ_CHECK(v->root == o->root && v->number == o->number && v->start_ns == o->start_ns);
        FUZZ_CHECK(v->duration_ns == o->duration_ns && v->most_ns == o->most_ns);
        FUZZ_CHECK(v->blocked_ns == o->blocked_ns && v->irq_ns == o->irq_ns);
        FUZZ_CHECK(v->cpu == o->cpu && v->pid == o->pid && memcmp(v->comm, o->comm, 16) == 0);
        FUZZ_CHECK(v->callers == o->callers && v->program == o->program);
        FUZZ_CHECK(v->is_cut == o->is_cut && v->is_idle == o->is_idle);
        check_same_trees(v->tree, o->tree);
}

static void check_same_anatomy(const Anatomy *a, const Anatomy *b) {
        FUZZ_CHECK(a->n_all == b->n_all && a->n_cut == b->n_cut && a->n_nodes == b->n_nodes);
        FUZZ_CHECK(a->n_calls == b->n_calls && a->n_variables == b->n_variables);
        FUZZ_CHECK(a->n_texts == b->n_texts && a->n_wakers == b->n_wakers);
        FUZZ_CHECK(a->parts.n_data == b->parts.n_data);
        FUZZ_CHECK(a->parts.n_data == 0 ||
                   memcmp(a->parts.data, b->parts.data, a->parts.n_data) == 0);
        for (size_t i = 0; i < a->n_calls; i++) {
                const AnatomyCall *x = &a->calls[i], *y = &b->calls[i];

                FUZZ_CHECK(x->number == y->number && x->start_ns == y->start_ns);
                FUZZ_CHECK(x->duration_ns == y->duration_ns && x->first_byte == y->first_byte);
                FUZZ_CHECK(x->n_parts == y->n_parts && x->root == y->root && x->cpu == y->cpu);
                FUZZ_CHECK(x->pid == y->pid && x->is_idle == y->is_idle);
                FUZZ_CHECK(x->has_failed == y->has_failed && x->n_waits == y->n_waits);
                FUZZ_CHECK(x->n_values == y->n_values);
                for (uint32_t k = 0; k < x->n_waits; k++) {
                        const AnatomyWait *w = &a->waits[x->first_wait + k];
                        const AnatomyWait *o = &b->waits[y->first_wait + k];

                        FUZZ_CHECK(w->node == o->node && w->waker == o->waker);
                        FUZZ_CHECK(w->away_ns == o->away_ns && w->queued_ns == o->queued_ns);
                }
                for (uint32_t k = 0; k < x->n_values; k++) {
                        const VariableValue *w = &a->values[x->first_value + k];
                        const VariableValue *o = &b->values[y->first_value + k];

                        FUZZ_CHECK(w->variable == o->variable && w->magnitude == o->magnitude);
                }
        }
}

static void check_same_timelines(const Timelines *a, const Timelines *b) {
        for (int64_t task = -1; task < 64; task++) {
                const Timeline *x = timelines_get(a, task), *y = timelines_get(b, task);

                FUZZ_CHECK(!x == !y);
                if (!x)
                        continue;
                FUZZ_CHECK(memcmp(x->comm, y->comm, sizeof(x->comm)) == 0);
                FUZZ_CHECK(x->n_aways == y->n_aways && x->n_changes == y->n_changes);
                for (size_t i = 0; i < x->n_aways; i++)
                        FUZZ_CHECK(x->aways[i].wait.left_ns == y->aways[i].wait.left_ns &&
                                   x->aways[i].wait.back_ns == y->aways[i].wait.back_ns &&
                                   x->aways[i].function == y->aways[i].function);
                for (size_t i = 0; i < x->n_changes; i++)
                        FUZZ_CHECK(x->changes[i].at_ns == y->changes[i].at_ns &&
                                   x->changes[i].function == y->changes[i].function &&
                                   x->changes[i].is_chosen == y->changes[i].is_chosen);
        }
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
        check_same_trees(a->tree, b->tree);
        FUZZ_CHECK(a->outliers->n == b->outliers->n);
        for (size_t i = 0; i < a->outliers->n; i++) {
                const Invocation *v = a->outliers->slowest[i], *o = b->outliers->slowest[i];

                check_same_call(v, o);
                check_same_call(outliers_usual(a->outliers, v), outliers_usual(b->outliers, o));
        }
        check_same_anatomy(a->anatomy, b->anatomy);
        FUZZ_CHECK(a->root_calls.n == b->root_calls.n);
        FUZZ_CHECK(a->placed->n_calls == b->placed->n_calls);
        FUZZ_CHECK(a->placed->total_ns == b->placed->total_ns);
        check_same_timelines(a->timelines, b->timelines);
}

static void told_done(Told *t) {
        timelines_free(t->timelines);
        root_calls_done(&t->root_calls);
        anatomy_free(t->anatomy);
        outliers_free(t->outliers);
        call_tree_free(t->tree);
        breakdown_free(t->by);
        floor_free(t->floor);
        pairing_free(t->pairing);
        pairing_free(t->others);
        pairing_free(t->placed);
}
