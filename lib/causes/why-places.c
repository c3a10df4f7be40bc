/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where slow calls were more often: CPUs and tasks, which are counted alike, by a number that each has.  And when.
 *
 * Each call's surplus is what it has more than a call of the other cohort has on average.  Were it spread evenly, the
 * sum over the calls so far would grow evenly; a burst is where it grows most beyond that, which is the greatest sum of
 * consecutive deviations from the mean (Kadane).  That there is an order at all is tested: bins of calls are dealt
 * anew, and hardly ever is the greatest sum so great.
 */

#include <math.h>

#include "base/array.h"
#include "causes/chance.h"
#include "causes/why-private.h"

#define FACTORS_MAX 32
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
        w->n_factors = MIN(w->n_factors, (size_t) FACTORS_MAX);
        for (size_t i = 0; i < MIN(w->n_factors, (size_t) N_FACTORS_LOOKED_INTO) && r >= 0; i++)
                r = find_evenness(&w->factors[i], w, a, c);
        SORT(w->factors, w->n_factors, compare);
        return r;
}

/* --- bursts ----------------------------------------------------------------------------------- */

#define CAUSES_MAX 8  /* the greatest */
#define SHARE_MIN 0.8 /* of the surplus in the burst */
#define PART_MAX 0.6  /* of the calls in it; else it is most of the cohort */
#define BINS_MAX 128
#define DEALS 199
#define DEALS_REACHED_MAX 1 /* which is p <= 0.01 */

typedef struct Side {
        const Anatomy *a;
        const size_t *calls;   /* of one cohort, in the order of time */
        size_t n_calls, n_all; /* of both cohorts */
        const WhyMean *other;  /* a mean call of the other cohort */
        WhyMean *has;          /* zeroes but while a call is looked at */
        double *deviations;    /* of each call */
} Side;

typedef struct Stretch {
        size_t first, n;
        double sum;
} Stretch;

static Stretch find_greatest(const double *values, size_t n) {
        Stretch best = {}, now = {};

        for (size_t i = 0; i < n; i++) {
                if (now.sum <= 0)
                        now = (Stretch){ .first = i };
                now.n++;
                now.sum += values[i];
                if (now.sum > best.sum)
                        best = now;
        }
        return best;
}

/* True if calls in another order would hardly ever have so great a stretch. */
static bool has_order(const Side *side) {
        size_t n = MIN(side->n_calls, (size_t) BINS_MAX);
        double bins[BINS_MAX] = {}, seen;
        unsigned n_reached = 0;
        uint64_t state = 1;

        for (size_t i = 0; i < side->n_calls; i++)
                bins[i * n / side->n_calls] += side->deviations[i];
        seen = find_greatest(bins, n).sum;
        for (unsigned deal = 0; deal < DEALS; deal++) {
                for (size_t i = n; i-- > 1;) {
                        size_t k = chance_random(&state) % (i + 1);

                        SWAP(bins[i], bins[k]);
                }
                n_reached += find_greatest(bins, n).sum >= seen;
        }
        return n_reached <= DEALS_REACHED_MAX;
}

static void find_burst(WhyCause *c, const Side *side, bool is_usual) {
        double sum = 0, mean, share;
        Stretch best;

        for (size_t i = 0; i < side->n_calls; i++) {
                const AnatomyCall *call = &side->a->calls[side->calls[i]];

                why_add_call(side->has, side->a, call);
                side->deviations[i] = why_surplus(c, side->has, side->other);
                why_forget_call(side->has, side->a, call);
                sum += side->deviations[i];
        }
        mean = sum / (double) side->n_calls;
        for (size_t i = 0; i < side->n_calls; i++)
                side->deviations[i] -= mean;
        best = find_greatest(side->deviations, side->n_calls);
        share = sum > 0 ? (best.sum + mean * (double) best.n) / sum : 0;
        if (share < SHARE_MIN || (double) best.n > PART_MAX * (double) side->n_calls ||
            !has_order(side))
                return;
        c->burst = (WhyBurst){
                .is_usual = is_usual,
                .n_calls = best.n,
                .share = share,
                .chance = (double) side->n_calls / (double) side->n_all,
                .from_ns = side->a->calls[side->calls[best.first]].start_ns,
                .to_ns = side->a->calls[side->calls[best.first + best.n - 1]].start_ns,
        };
}

int why_find_bursts(Why *w, const Anatomy *a, const Cohorts *c, const WhyMean *s,
                    const WhyMean *u) {
        _cleanup_free_ double *deviations = calloc(c->n_all + 1, sizeof(*deviations));
        _cleanup_free_ WhyMean *has = calloc(a->n_nodes + 1, sizeof(*has));
        size_t n_all = c->n_slow + c->n_usual;
        const Side slow = { a, c->slow, c->n_slow, n_all, u, has, deviations };
        const Side usual = { a, c->usual, c->n_usual, n_all, s, has, deviations };

        if (!deviations || !has)
                return -ENOMEM;
        for (size_t i = 0; i < MIN(w->n_causes, (size_t) CAUSES_MAX); i++) {
                WhyCause *cause = &w->causes[i];

                if (cause->share < WHY_SHARE_MIN || !(cause->p <= WHY_P_MAX))
                        continue;
                find_burst(cause, cause->change_ns > 0 ? &slow : &usual, cause->change_ns < 0);
        }
        return 0;
}
