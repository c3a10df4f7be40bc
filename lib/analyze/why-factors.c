/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CPUs and tasks are counted alike, by a number that each has. */

#include <math.h>

#include "analyze/why.h"
#include "base/array.h"

#define N_LEVELS_MAX 200
#define N_FACTORS_LOOKED_INTO 8 /* the greatest */

typedef struct Level {
        double n, sum_ns; /* of all calls of the root */
        double n_slow, n_usual;
} Level;

static uint32_t level_of(const AnatomyCall *c, WhyPlace place) {
        return place == WHY_CPU ? c->cpu : c->task;
}

static int count(Level **levels, size_t *n, const Anatomy *a, const Cohorts *c, WhyPlace place) {
        for (size_t i = 0; i < c->n_all; i++) {
                const AnatomyCall *call = &a->calls[c->all[i]];
                uint32_t k = level_of(call, place);

                if (!ARRAY_REACH(*levels, *n, k))
                        return -ENOMEM;
                (*levels)[k].n++;
                (*levels)[k].sum_ns += (double) call->duration_ns;
        }
        for (size_t i = 0; i < c->n_slow; i++)
                (*levels)[level_of(&a->calls[c->slow[i]], place)].n_slow++;
        for (size_t i = 0; i < c->n_usual; i++)
                (*levels)[level_of(&a->calls[c->usual[i]], place)].n_usual++;
        return 0;
}

static int add_levels(Why *w, const Anatomy *a, const Cohorts *c, WhyPlace place) {
        _cleanup_free_ Level *items = NULL;
        double n = (double) c->n_all, sum_ns = 0;
        size_t n_levels = 0;
        int r = count(&items, &n_levels, a, c, place);

        if (r < 0)
                return r;
        for (size_t k = 0; k < n_levels; k++)
                sum_ns += items[k].sum_ns;
        for (size_t k = 0; k < n_levels; k++) {
                const Level *x = &items[k];
                WhyFactor f = { .place = place, .cpu = (uint32_t) k, .p = 1 };

                /* Where all calls are, or hardly one, there is nothing to tell. */
                if (x->n * N_LEVELS_MAX < n || x->n == n)
                        continue;
                if (place == WHY_TASK)
                        f.task = a->tasks[k];
                f.slow_part = x->n_slow / (double) c->n_slow;
                f.usual_part = x->n_usual / (double) c->n_usual;
                if (f.slow_part <= f.usual_part)
                        continue;
                f.change_ns = (f.slow_part - f.usual_part) *
                              (x->sum_ns / x->n - (sum_ns - x->sum_ns) / (n - x->n));
                f.share = w->difference_ns != 0 ? f.change_ns / w->difference_ns : 0;
                if (!ARRAY_GROW(w->factors, w->n_factors))
                        return -ENOMEM;
                w->factors[w->n_factors++] = f;
        }
        return 0;
}

static int compare(const void *a, const void *b) {
        const WhyFactor *x = a, *y = b;

        return CMP(y->share, x->share) ?: CMP(x->place, y->place);
}

/* --- whether everything takes longer there ---------------------------------------------------- */

/* Own time by node, of a mean call there or elsewhere; the sum is in the first item. */
static void add_means(double *to, const Anatomy *a, const Cohorts *c, const WhyFactor *f,
                      bool there) {
        double n = 0;

        for (size_t i = 0; i < c->n_all; i++) {
                const AnatomyCall *call = &a->calls[c->all[i]];
                AnatomyParts p = anatomy_parts(a, call);

                if (why_factor_has(f, a, call) != there)
                        continue;
                n++;
                while (anatomy_next(&p))
                        to[p.part.node] += (double) p.part.run_ns + (double) p.part.wait_ns;
        }
        for (size_t i = 1; i < a->n_nodes; i++) {
                to[i] /= MAX(n, 1.0);
                to[0] += to[i];
        }
}

/* How long the calls of a cohort that were there took, over all of the cohort. */
static double mean_there(const Anatomy *a, const WhyFactor *f, const size_t *calls, size_t n) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                if (why_factor_has(f, a, &a->calls[calls[i]]))
                        sum += (double) a->calls[calls[i]].duration_ns;
        return sum / (double) n;
}

/* Where everything takes longer in proportion, a call would take less elsewhere in proportion, however long it
 * took. */
static int find_evenness(WhyFactor *f, const Why *w, const Anatomy *a, const Cohorts *c) {
        _cleanup_free_ double *there = calloc(a->n_nodes + 1, sizeof(double));
        _cleanup_free_ double *elsewhere = calloc(a->n_nodes + 1, sizeof(double));
        double distance = 0, difference;

        if (!there || !elsewhere)
                return -ENOMEM;
        add_means(there, a, c, f, true);
        add_means(elsewhere, a, c, f, false);
        difference = there[0] - elsewhere[0];
        if (difference <= 0 || elsewhere[0] <= 0)
                return 0;
        for (size_t i = 1; i < a->n_nodes; i++)
                distance +=
                        fabs((there[i] - elsewhere[i]) / difference - elsewhere[i] / elsewhere[0]);
        f->evenness = MAX(0.0, 1 - distance / 2);
        if (f->evenness < WHY_EVEN_MIN)
                return 0;
        f->change_ns =
                difference / there[0] *
                (mean_there(a, f, c->slow, c->n_slow) - mean_there(a, f, c->usual, c->n_usual));
        f->share = w->difference_ns != 0 ? f->change_ns / w->difference_ns : 0;
        return 0;
}

bool why_factor_has(const WhyFactor *f, const Anatomy *a, const AnatomyCall *c) {
        return f->place == WHY_CPU ? c->cpu == f->cpu : a->tasks[c->task] == f->task;
}

int why_add_factors(Why *w, const Anatomy *a, const Cohorts *c) {
        int r = add_levels(w, a, c, WHY_CPU);

        if (r >= 0)
                r = add_levels(w, a, c, WHY_TASK);
        SORT(w->factors, w->n_factors, compare);
        w->n_factors = MIN(w->n_factors, (size_t) WHY_FACTORS_MAX);
        for (size_t i = 0; i < MIN(w->n_factors, (size_t) N_FACTORS_LOOKED_INTO) && r >= 0; i++)
                r = find_evenness(&w->factors[i], w, a, c);
        SORT(w->factors, w->n_factors, compare);
        return r;
}
