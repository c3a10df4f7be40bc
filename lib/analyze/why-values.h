/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Why, by values: conditions that slow calls may meet more often, for why.c and why-test.c only
 *
 * A condition is that a variable (analyze/variables.h) has a value, or is above or below one.  An outermost call meets
 * it by the part of its values that do, 0 to 1, lest a function that is called more often met more; and calls that
 * have no value of it are not compared, for that is told by causes.  Which conditions are looked at all calls decide together, whichever cohort they are in:
 * values that are frequent, and bounds that cut off certain parts.
 */

#include "analyze/why.h"

typedef struct WhyConditions {
        WhyValue *items; /* by variable */
        size_t n;
        uint32_t *first; /* of each variable its first; of the one behind the last: n */
        double *rates;   /* of each, how far calls of both cohorts that have a value meet it */
        uint32_t *found; /* of why_conditions_find(): which have a value ... */
        float *met;      /* ... and how far each of these is met */
        uint32_t *counts, *n_values; /* by condition, by variable: zeroes but while it looks */
} WhyConditions;

/* @w: with its cohorts told.  0 or -ENOMEM; then, too, why_conditions_done() it. */
int why_conditions_init(WhyConditions *ret, const Why *w, const Anatomy *a, const Cohorts *c);
/* How many conditions a call has values for; these are in @v->found and @v->met then. */
size_t why_conditions_find(WhyConditions *v, const Anatomy *a, const AnatomyCall *call);
/* When their p are known: the best of each variable become @w's values, with its bound put where it divides
 * the cohorts best.  0 or -ENOMEM. */
int why_conditions_choose(const WhyConditions *v, Why *w, const Anatomy *a, const Cohorts *c);
void why_conditions_done(WhyConditions *v);
