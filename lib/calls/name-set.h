/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* NameSet: functions by names or globs, as fnmatch(3) has them.  A name also stands for the clones that a compiler makes
 * of it: "do_softirq" for "do_softirq.part.20". */

#include "base/array.h"
#include "calls/census.h"

typedef struct NameSet {
        const Strv *patterns;           /* borrowed */
        bool (*also)(const Function *); /* what is meant besides; NULL: nothing */
        Hash verdicts;                  /* the set's own: by function */
} NameSet;

/* True if @name is one of them as it stands. */
bool name_set_patterns_match(const Strv *patterns, const char *name);
/* 1 if @function is meant, else 0; or -ENOMEM.  Asked once for each, and kept by its pointer. */
int name_set_has(NameSet *s, const Function *function);
static inline void name_set_done(NameSet *s) {
        hash_done(&s->verdicts);
}

/* Prune: leaves out functions with all they call, or only what they call, so that all their time is their own */
typedef struct Prune {
        NameSet names; /* also: those that interrupts begin with, of which a text may say more */
        bool is_below; /* only what they call */
} Prune;

/* 1 if @step, a call's or an event's, is to be left out, else 0; or -ENOMEM.  @s: of its task, zeroes at first, until
 * step_cuts_all().  Wants to see all steps, in order. */
int prune_hides(Prune *p, Stretch *s, const Step *step);
