/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prune: leaves out functions with all they call, or only what they call
 *
 * Nothing else is touched: what is drawn of the other steps is the same.
 */

#include "base/array.h"
#include "base/cleanup.h"
#include "calls/step.h"

typedef struct Prune Prune;

/* Leaves out calls of @patterns with all that they call.  Patterns are as calls/name-set.h has them;
 * borrowed.  0 or -ENOMEM. */
int prune_new(Prune **ret, const Strv *patterns);
/* Leaves out only what they call, so that all their time is their own.  The pattern "irq" stands
 * for whatever an interrupt begins with: what the recording says of it, and what @is_irq knows by its
 * name (NULL: nothing). */
int prune_new_below(Prune **ret, const Strv *patterns, bool (*is_irq)(const Function *));
/* Whether @step is to be left out: 1, 0, or -ENOMEM.  Wants to see all steps, in order. */
int prune_hides(Prune *p, const Step *step);
Prune *prune_free(Prune *p);
DEFINE_CLEANUP(Prune *, prune_free);
