/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Averages add up, so that the changes of functions' own times are the change of the whole: what
 * outermost calls without a function spend in it is 0, and counts.  A new function is shown with its
 * total, unless who calls it is new as well.
 */

#include <math.h>

#include "analyze/diff.h"
#include "base/grow.h"

/* Two-sided, by the normal approximation, with ties. */
static int test(const Quantiles *a, uint64_t n_a, const Quantiles *b, uint64_t n_b, double *ret_p) {
        QuantilesRanks ranks;
        double n = (double) n_a + (double) n_b, mean, variance, distance;
        int r;

        *ret_p = 1;
        if (n_a < DIFF_N_MIN || n_b < DIFF_N_MIN)
                return 0;
        r = quantiles_ranks(a, n_a, b, n_b, &ranks);
        if (r < 0)
                return r;
        mean = (double) n_a * (n + 1) / 2;
        variance = (double) n_a * (double) n_b / 12 * (n + 1 - ranks.ties / (n * (n - 1)));
        distance = fabs(ranks.sum - mean) - 0.5;
        if (variance > 0 && distance > 0)
                *ret_p = erfc(distance / sqrt(variance) / M_SQRT2);
        return 0;
}

/* Of so many calls on each side, of which no two took as long as each other. */
static double least_p(uint64_t n_a, uint64_t n_b) {
        double product = (double) n_a * (double) n_b, n = (double) n_a + (double) n_b;

        if (n_a < DIFF_N_MIN || n_b < DIFF_N_MIN)
                return 1;
        return erfc((product / 2 - 0.5) / sqrt(product / 12 * (n + 1)) / M_SQRT2);
}

static DiffSide side_of(const RootProfileRow *row, uint64_t n) {
        double each = n > 0 ? 1 / (double) n : 0;

        return row ? (DiffSide){ .function = row->function,
                                 .calls = (double) row->n * each,
                                 .self_ns = (double) row->self_ns.sum * each,
                                 .total_ns = (double) row->total_ns.sum * each }
                   : (DiffSide){};
}

/* Rows that only calls have that were cut off. */
static const RootProfileRow *used(const RootProfileRow *row) {
        return row && row->self_ns.n > 0 ? row : NULL;
}

static int compare_rows(DiffFunction *ret, const RootProfileRow *before, uint64_t n_before,
                        const RootProfileRow *now, uint64_t n_now) {
        static const Quantiles none;
        double calls;
        int r;

        *ret = (DiffFunction){ .before = side_of(before, n_before),
                               .now = side_of(now, n_now),
                               .is_irq = (now ?: before)->is_irq,
                               .in_irq = (now ?: before)->in_irq };
        r = test(before ? &before->self_ns : &none, n_before, now ? &now->self_ns : &none, n_now,
                 &ret->p);
        if (r < 0)
                return r;
        ret->change_ns = ret->now.self_ns - ret->before.self_ns;
        calls = fabs(ret->now.calls - ret->before.calls);
        if (!before || !now) {
                ret->kind = before ? DIFF_GONE : DIFF_NEW;
                ret->change_ns = ret->now.total_ns - ret->before.total_ns;
        } else if (ret->p < DIFF_P_MAX &&
                   (fabs(ret->change_ns) >= 1 || calls > 0.05 * ret->before.calls)) {
                ret->kind = DIFF_CHANGED;
        }
        return 0;
}

static int compare_functions(const void *a, const void *b) {
        const DiffFunction *x = a, *y = b;
        const Function *f = x->now.function ?: x->before.function;
        const Function *g = y->now.function ?: y->before.function;

        return CMP(fabs(y->change_ns), fabs(x->change_ns)) ?: strcmp(f->label, g->label);
}

/* --- what belongs to a root ------------------------------------------------------------------- */

/* One recording. */
typedef struct Half {
        const RootProfile *p;
        size_t *functions; /* which DiffFunction a row has become, + 1 */
} Half;

/* What is called in @h, and not in @other. */
static int compare_edges(DiffRoot *root, const Half *h, uint32_t i_root, const Half *other,
                         uint32_t i_other, bool is_new) {
        const RootProfile *p = h->p, *q = other->p;

        const RootProfileEdge *e;

        for (uint32_t i = p->roots[i_root].first_edge; i > 0; i = e->next) {
                const RootProfileRow *caller, *callee, *a, *b;

                e = &p->edges[i - 1];
                caller = &p->rows[e->caller];
                callee = &p->rows[e->callee];
                if (!used(caller) || !used(callee))
                        continue;
                a = used(root_profile_find(q, i_other, &caller->name, caller->in_irq));
                b = used(root_profile_find(q, i_other, &callee->name, callee->in_irq));
                if (a && !b) {
                        root->functions[h->functions[e->callee] - 1].is_top = true;
                        continue;
                }
                if (!a || !b ||
                    root_profile_has_edge(q, (uint32_t) (a - q->rows), (uint32_t) (b - q->rows)))
                        continue;
                if (!ARRAY_GROW(root->paths, root->n_paths))
                        return -ENOMEM;
                root->paths[root->n_paths++] = (DiffPath){ .caller = caller->function,
                                                           .callee = callee->function,
                                                           .is_new = is_new,
                                                           .in_irq = callee->in_irq };
        }
        return 0;
}

/* The functions of a root of @h; if that is now, those that were not there before. */
static int add_functions(DiffRoot *ret, const Half *h, uint32_t i_root, const Half *other,
                         uint32_t i_other, bool is_before) {
        const RootProfileRow *row, *twin;

        for (uint32_t i = h->p->roots[i_root].first_row; i > 0; i = row->next) {
                int r;

                row = &h->p->rows[i - 1];
                if (!used(row))
                        continue;
                twin = used(root_profile_find(other->p, i_other, &row->name, row->in_irq));
                if (!is_before && twin)
                        continue;
                r = compare_rows(&ret->functions[ret->n_functions++], is_before ? row : twin,
                                 ret->n_before, is_before ? twin : row, ret->n_now);
                if (r < 0)
                        return r;
                h->functions[i - 1] = ret->n_functions;
        }
        return 0;
}

static int compare_root(DiffRoot *ret, const Half *before, uint32_t i_before, const Half *now,
                        uint32_t i_now) {
        const RootProfileRoot *a = &before->p->roots[i_before], *b = &now->p->roots[i_now];
        int r;

        *ret = (DiffRoot){
                .before = a->function,
                .now = b->function,
                .n_before = a->duration_ns.n,
                .n_now = b->duration_ns.n,
                .n_cut_before = a->n_cut,
                .n_cut_now = b->n_cut,
                .median_before_ns = quantiles_at(&a->duration_ns, 500),
                .median_now_ns = quantiles_at(&b->duration_ns, 500),
                .p90_before_ns = quantiles_at(&a->duration_ns, 900),
                .p90_now_ns = quantiles_at(&b->duration_ns, 900),
                .p_least = least_p(a->duration_ns.n, b->duration_ns.n),
                .is_enough = a->duration_ns.n >= DIFF_N_MIN && b->duration_ns.n >= DIFF_N_MIN,
        };
        r = test(&a->duration_ns, a->duration_ns.n, &b->duration_ns, b->duration_ns.n, &ret->p);
        ret->functions = r < 0 ? NULL : calloc(a->n_rows + b->n_rows + 1, sizeof(*ret->functions));
        if (!ret->functions)
                return -ENOMEM;
        r = add_functions(ret, before, i_before, now, i_now, true);
        if (r >= 0)
                r = add_functions(ret, now, i_now, before, i_before, false);
        if (r >= 0)
                r = compare_edges(ret, now, i_now, before, i_before, true);
        if (r >= 0)
                r = compare_edges(ret, before, i_before, now, i_now, false);
        qsort(ret->functions, ret->n_functions, sizeof(*ret->functions), compare_functions);
        return r;
}

/* How much more all outermost calls take, in the numbers of now. */
static double weight(const DiffRoot *r) {
        return fabs((double) r->median_now_ns - (double) r->median_before_ns) * (double) r->n_now;
}

static int compare_roots(const void *a, const void *b) {
        return CMP(weight(b), weight(a));
}

int diff_new(Diff **ret, const RootProfile *before, const RootProfile *now) {
        _cleanup_(diff_freep) Diff *d = calloc(1, sizeof(*d));
        _cleanup_free_ size_t *functions_before = calloc(before->n_rows + 1, sizeof(size_t));
        _cleanup_free_ size_t *functions_now = calloc(now->n_rows + 1, sizeof(size_t));
        const Half a = { before, functions_before }, b = { now, functions_now };
        int r;

        if (d)
                d->roots = calloc(now->n_roots + 1, sizeof(*d->roots));
        if (!d || !d->roots || !functions_before || !functions_now)
                return -ENOMEM;
        for (uint32_t i = 0; i < now->n_roots; i++) {
                uint32_t k;

                if (!root_profile_find_root(before, &now->roots[i].name, &k))
                        continue;
                r = compare_root(&d->roots[d->n_roots++], &a, k, &b, i);
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
        return mfree(d);
}
