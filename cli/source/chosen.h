/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Chosen: of two words the SOURCE and the function that is asked about
 *
 *      hist SOURCE            the roots
 *      hist SOURCE FUNCTION   calls of FUNCTION, a name or a glob
 *      hist FUNCTION SOURCE   the same, where only one of them can be a function
 */

#include "calls/name-set.h"
#include "cli/options/options.h"

typedef struct Chosen {
        const char *source;
        Strv patterns;  /* empty: nothing was asked for */
        NameSet *names; /* NULL: the same */
        NameSet name_set;
} Chosen;

/* @ret must stay where it is; chosen_done() it also after a failure.  An exit status. */
int chosen_init(Chosen *ret, const Options *o);
void chosen_done(Chosen *c);
#define _cleanup_chosen_ _cleanup_(chosen_done)

/* Says that there are no calls of what was asked for; STATUS_NOT_FOUND. */
int chosen_not_found(const Chosen *c, const Options *o);
