/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Action: the second word of verbs that are several, "schedule add" and "profile list"
 */

#include <stddef.h>

#include "cli/options/options.h"

typedef struct Action {
        const char *name;
        size_t min_words, max_words; /* behind it */
        const char *takes;           /* those words, in a sentence: "the name of a schedule" */
        int (*run)(const Options *o, const char *word); /* @word: the next, or NULL */
} Action;

/* Does what the words say; without any, the first of @actions.  @names: all of them, "list, show or
 * check".  An exit status. */
int action_run(const Options *o, const char *verb, const Action *actions, size_t n_actions,
               const char *names);
