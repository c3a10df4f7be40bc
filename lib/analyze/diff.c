/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Averages add up, so that the changes of functions' own times are the change of the whole: what
 * outermost calls without a function spend in it is 0, and counts.  A new function is shown with its
 * total, unless who calls it is new as well.
 */

#include <math.h>

#include "analyze/diff.h"

static double absolute(double x) {
        return x < 0 ? -x : x;
}

/* Two-sided, by the normal approximation, with ties. */
static int test(const Spread *a, uint64_t n_a, const Spread *b, uint64_t n_b, double *ret_p) {
        SpreadRanks ranks;
        double n = (double) n_a + (double) n_b, mean, variance, distance;
        int r;

        *ret_p = 1;
        if (n_a < DIFF_N_MIN || n_b < DIFF_N_MIN)
                return 0;
        r = spread_ranks(a, n_a, b, n_b, &ranks);
        if (r < 0)
                return r;
        mean = (double) n_a * (n + 1) / 2;
        variance = (double) n_a * (double) n_b / 12 * (n + 1 - ranks.ties / (n * (n - 1)));
        distance = absolute(ranks.sum - mean) - 0.5;
        if (variance > 0 && distance > 0)
                *ret_p = erfc(distance / sqrt(variance) / M_SQRT2);
        return 0;
}

static DiffSide side_of(const PortraitRow *row, uint64_t n) {
        double each = n > 0 ? 1 / (double) n : 0;

        return row ? (DiffSide){ .function = row->function,
                                 .calls = (double) row->n * each,
                                 .self_ns = (double) row->self_ns.sum * each,
                                 .total_ns = (double) row->total_ns.sum * each }
                   : (DiffSide){};
}

/* Rows that only calls have that were cut off. */
static const PortraitRow *used(const PortraitRow *row) {
        return row && row->self_ns.n > 0 ? row : NULL;
}

static int compare_rows(DiffFunction *ret, const PortraitRow *before, uint64_t n_before,
                        const PortraitRow *now, uint64_t n_now) {
        static const Spread none;
        double calls;
        int r;

        *ret = (DiffFunction){ .before = side_of(before, n_before), .now = side_of(now, n_now) };
        r = test(before ? &before->self_ns : &none, n_before, now ? &now->self_ns : &none, n_now,
                 &ret->p);
        if (r < 0)
                return r;
        ret->change_ns = ret->now.self_ns - ret->before.self_ns;
        calls = absolute(ret->now.calls - ret->before.calls);
        if (!before || !now) {
                ret->kind = before ? DIFF_GONE : DIFF_NEW;
                ret->change_ns = ret->now.total_ns - ret->before.total_ns;
        } else if (ret->p < DIFF_P_MAX &&
                   (absolute(ret->change_ns) >= 1 || calls > 0.05 * ret->before.calls)) {
                ret->kind = DIFF_CHANGED;
        }
        return 0;
}

static int compare_functions(const void *a, const void *b) {
        const DiffFunction *x = a, *y = b;
        double by = absolute(y->change_ns) - absolute(x->change_ns);
        const Function *f = x->now.function ?: x->before.function;
        const Function *g = y->now.function ?: y->before.function;

        return by > 0 ? 1 : by < 0 ? -1 : strcmp(f->label, g->label);
}

/* What is called in @p, and not in @other. */
static int compare_edges(DiffRoot *root, const Portrait *p, uint32_t i_root, const Portrait *other,
                         uint32_t i_other, bool is_new) {
        for (size_t i = 0; i < p->n_edges; i++) {
                const PortraitRow *caller = &p->rows[p->edges[i].caller];
                const PortraitRow *callee = &p->rows[p->edges[i].callee], *a, *b;
                DiffPath *bigger;

                if (caller->root != i_root || !used(caller) || !used(callee))
                        continue;
                a = used(portrait_find(other, i_other, &caller->name));
                b = used(portrait_find(other, i_other, &callee->name));
                if (a && !b) {
                        for (size_t k = 0; k < root->n_functions; k++) {
                                DiffFunction *f = &root->functions[k];

                                if ((is_new ? f->now.function : f->before.function) ==
                                    callee->function)
                                        f->is_top = true;
                        }
                        continue;
                }
                if (!a || !b ||
                    portrait_has_edge(other, (uint32_t) (a - other->rows),
                                      (uint32_t) (b - other->rows)))
                        continue;
                bigger = realloc(root->paths, (root->n_paths + 1) * sizeof(*bigger));
                if (!bigger)
                        return -ENOMEM;
                root->paths = bigger;
                root->paths[root->n_paths++] = (DiffPath){ .caller = caller->function,
                                                           .callee = callee->function,
                                                           .is_new = is_new };
        }
        return 0;
}

static int compare_root(DiffRoot *ret, const Portrait *before, uint32_t i_before,
                        const Portrait *now, uint32_t i_now) {
        const PortraitRoot *a = &before->roots[i_before], *b = &now->roots[i_now];
        int r;

        *ret = (DiffRoot){
                .before = a->function,
                .now = b->function,
                .n_before = a->duration_ns.n,
                .n_now = b->duration_ns.n,
                .n_cut_before = a->n_cut,
                .n_cut_now = b->n_cut,
                .median_before_ns = spread_quantile(&a->duration_ns, 500),
                .median_now_ns = spread_quantile(&b->duration_ns, 500),
                .p90_before_ns = spread_quantile(&a->duration_ns, 900),
                .p90_now_ns = spread_quantile(&b->duration_ns, 900),
                .is_enough = a->duration_ns.n >= DIFF_N_MIN && b->duration_ns.n >= DIFF_N_MIN,
        };
        r = test(&a->duration_ns, a->duration_ns.n, &b->duration_ns, b->duration_ns.n, &ret->p);
        ret->functions =
                r < 0 ? NULL : calloc(before->n_rows + now->n_rows + 1, sizeof(*ret->functions));
        if (!ret->functions)
                return -ENOMEM;
        for (size_t i = 0; i < before->n_rows; i++) {
                const PortraitRow *row = &before->rows[i];

                if (row->root != i_before || !used(row))
                        continue;
                r = compare_rows(&ret->functions[ret->n_functions++], row, ret->n_before,
                                 used(portrait_find(now, i_now, &row->name)), ret->n_now);
                if (r < 0)
                        return r;
        }
        for (size_t i = 0; i < now->n_rows; i++) {
                const PortraitRow *row = &now->rows[i];

                if (row->root != i_now || !used(row) ||
                    used(portrait_find(before, i_before, &row->name)))
                        continue;
                r = compare_rows(&ret->functions[ret->n_functions++], NULL, ret->n_before, row,
                                 ret->n_now);
                if (r < 0)
                        return r;
        }
        r = compare_edges(ret, now, i_now, before, i_before, true);
        if (r >= 0)
                r = compare_edges(ret, before, i_before, now, i_now, false);
        qsort(ret->functions, ret->n_functions, sizeof(*ret->functions), compare_functions);
        return r;
}

/* How much more all outermost calls take, in the numbers of now. */
static double weight(const DiffRoot *r) {
        return absolute((double) r->median_now_ns - (double) r->median_before_ns) *
               (double) r->n_now;
}

static int compare_roots(const void *a, const void *b) {
        double x = weight(a), y = weight(b);

        return x < y ? 1 : x > y ? -1 : 0;
}

int diff_new(Diff **ret, const Portrait *before, const Portrait *now) {
        _cleanup_(diff_freep) Diff *d = calloc(1, sizeof(*d));
        int r;

        if (!d)
                return -ENOMEM;
        d->roots = calloc(now->n_roots + 1, sizeof(*d->roots));
        if (!d->roots)
                return -ENOMEM;
        for (uint32_t i = 0; i < now->n_roots; i++)
                for (uint32_t k = 0; k < before->n_roots; k++) {
                        if (!alike_equal(&now->roots[i].name, &before->roots[k].name))
                                continue;
                        r = compare_root(&d->roots[d->n_roots++], before, k, now, i);
                        if (r < 0)
                                return r;
                }
        qsort(d->roots, d->n_roots, sizeof(*d->roots), compare_roots);
        *ret = TAKE_PTR(d);
        return 0;
}

Diff *diff_free(Diff *d) {
        if (!d)
                return NULL;
        for (size_t i = 0; i < d->n_roots; i++) {
                free(d->roots[i].functions);
                free(d->roots[i].paths);
        }
        free(d->roots);
        free(d);
        return NULL;
}
