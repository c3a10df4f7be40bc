/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of Why share. */

#include "causes/why.h"

/* Indices of the anatomy's calls, by their beginnings. */
typedef struct Cohorts {
        size_t *slow, *usual, *all; /* all: of the root, also those that are in neither */
        size_t n_slow, n_usual, n_all;
} Cohorts;

/* Either may be empty; @spec says afterwards whether they are two humps.  0 or -ENOMEM; then, too, cohorts_done() it. */
int cohorts_choose(Cohorts *ret, const Anatomy *a, const CohortsRoot *root, CohortsSpec *spec);
void cohorts_done(Cohorts *c);
#define _cleanup_cohorts_ _cleanup_(cohorts_done)

static inline bool cohorts_are_by_time(CohortsBy by) {
        return by == COHORTS_BY_SLOWEST || by == COHORTS_BY_DURATION;
}

/* Calls were chosen by when they were, and not one by one. */
static inline bool cohorts_are_stretches(CohortsBy by) {
        return by == COHORTS_BY_WINDOW || by == COHORTS_BY_SOURCE;
}

/* What a mean call of a cohort has of a node, or all of several calls together; in arrays, by its id. */
typedef struct WhyMean {
        double n, run_ns, wait_ns;
        double total_ns; /* of a mean call: with all that is below */
} WhyMean;

/* Adds all but the totals. */
static inline void why_add_call(WhyMean *sums, const Anatomy *a, const AnatomyCall *c) {
        AnatomyParts p = anatomy_parts(a, c);

        while (anatomy_next(&p)) {
                WhyMean *sum = &sums[p.part.node];

                sum->n += p.part.n;
                sum->run_ns += (double) p.part.run_ns;
                sum->wait_ns += (double) p.part.wait_ns;
        }
}
/* Makes zeroes of all that has a part of the call. */
static inline void why_forget_call(WhyMean *sums, const Anatomy *a, const AnatomyCall *c) {
        AnatomyParts p = anatomy_parts(a, c);

        while (anatomy_next(&p))
                sums[p.part.node] = (WhyMean){};
}
/* What calls have more of a cause than they would have if each were as @others are; times, or numbers of calls. */
static inline double why_surplus(const WhyCause *c, const WhyMean *has, const WhyMean *others) {
        const WhyMean *own = &has[c->node->id], *usual = &others[c->node->id];
        uint32_t caller = c->node->parent->id;

        if (c->kind == WHY_RUNNING)
                return own->run_ns - own->n * usual->run_ns / usual->n;
        if (c->kind == WHY_WAITING)
                return own->wait_ns - own->n * usual->wait_ns / usual->n;
        return own->n - has[caller].n * usual->n / others[caller].n;
}

/* Each 0 or -ENOMEM. */
/* @all: what the calls of both cohorts have. */
int why_test(Why *w, const Anatomy *a, const Cohorts *c, const WhyMean *all);
/* Of calls that were chosen by how long they took: makes p greater where the choice alone gives a cause as much. */
int why_allow_for_choice(Why *w, const Anatomy *a, const Cohorts *c, const WhyMean *u);
int why_add_factors(Why *w, const Anatomy *a, const Cohorts *c);
int why_find_bursts(Why *w, const Anatomy *a, const Cohorts *c, const WhyMean *s, const WhyMean *u);
/* Of calls that failed: what most of them returned, and the deepest function that did as well.  After why_test(). */
int why_find_error(Why *w, const Anatomy *a, const Cohorts *c);
/* True if a call was there. */
bool why_factor_has(const WhyFactor *f, const Anatomy *a, const AnatomyCall *c);

/*
 * Conditions of values that slow calls may meet more often: that a variable has a value, or is above or below one.  Which
 * are looked at all calls decide together, whichever cohort they are in: values that are frequent, and bounds that cut
 * off certain parts.
 */
typedef struct WhyConditions {
        WhyValue *items; /* by variable */
        size_t n;
        uint32_t *first; /* of each variable its first; of the one behind the last: n */
        double *rates;   /* of each, how far calls of both cohorts that have a value meet it */
        uint32_t *found; /* of why_conditions_find(): which have a value ... */
        float *met;      /* ... and how far each of these is met */
} WhyConditions;

/* @w: with its cohorts told.  0 or -ENOMEM; then, too, why_conditions_done() it. */
int why_conditions_init(WhyConditions *ret, const Why *w, const Anatomy *a, const Cohorts *c);
/* How many conditions a call has values for; these are in @v->found and @v->met then. */
size_t why_conditions_find(WhyConditions *v, const Anatomy *a, const AnatomyCall *call);
/* When their p are known: the best of each variable become @w's values, with its bound put where it divides
 * the cohorts best.  0 or -ENOMEM. */
int why_conditions_choose(const WhyConditions *v, Why *w, const Anatomy *a, const Cohorts *c);
void why_conditions_done(WhyConditions *v);
