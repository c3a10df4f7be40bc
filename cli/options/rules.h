/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Rules: --on and --do, as they follow each other, made into what a spec has (meta/trigger.h)
 *
 * A --do belongs to every --on since the last group of --do; several in a row make one rule do
 * several things.  A --do before any --on belongs to a trigger by command.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"

typedef struct Rules {
        Strv items;
        size_t n_complete; /* those that a later --do does not concern */
        bool is_doing;     /* the last word was a --do */
} Rules;

int rules_add_on(Rules *r, const char *trigger); /* 0, -ENOMEM; the same below */
int rules_add_do(Rules *r, const char *action);
/*
 * rules_finish() - what was not said
 * @is_ring: a trigger without a --do then makes a snapshot; else it starts
 */
int rules_finish(Rules *r, bool is_ring);
/* Whether all make sense; says what does not.  An exit status. */
int rules_check(const Strv *items);
void rules_done(Rules *r);
