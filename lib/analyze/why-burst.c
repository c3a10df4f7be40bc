/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each call's surplus is what it has more than a call of the other cohort has on average.  Were it spread evenly, the
 * sum over the calls so far would grow evenly; a burst is where it grows most beyond that, which is the greatest sum of
 * consecutive deviations from the mean (Kadane).  That there is an order at all is tested: bins of calls are dealt
 * anew, and hardly ever is the greatest sum so great.
 */

#include "analyze/chance.h"
#include "analyze/why.h"

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

static double surplus_of(const Side *side, const AnatomyCall *call, const WhyCause *c) {
        double surplus;

        why_add_call(side->has, side->a, call);
        surplus = why_surplus(c, side->has, side->other);
        why_forget_call(side->has, side->a, call);
        return surplus;
}

/* Whether calls in another order would hardly ever have so great a stretch. */
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
                side->deviations[i] = surplus_of(side, &side->a->calls[side->calls[i]], c);
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
