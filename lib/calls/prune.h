/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prune: leaves out functions with all they call
 *
 * Nothing else is touched: what is drawn of the other steps is the same.
 */

#include "base/cleanup.h"
#include "base/strv.h"
#include "calls/step.h"

typedef struct Prune Prune;

/* @patterns: names of functions, or globs; borrowed.  A name also stands for the clones that a
 * compiler makes of it ("do_softirq" for "do_softirq.part.20").  0 or -ENOMEM. */
int prune_new(Prune **ret, const Strv *patterns);
/* Whether @step is to be left out: 1, 0, or -ENOMEM.  Wants to see all steps, in order. */
int prune_hides(Prune *p, const Step *step);
Prune *prune_free(Prune *p);
DEFINE_CLEANUP(Prune *, prune_free);
