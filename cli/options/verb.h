/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Verb: one thing ftracectl does
 *
 * One file each, verb-NAME.c; cli/main.c lists them.  A verb is given options
 * that were checked against its entry, and returns an exit status
 * (cli/options/status.h) after having said on stderr whatever there is to say.
 */

#include <stddef.h>

#include "cli/options/options.h"

typedef struct Verb {
        const char *name;
        const char *synopsis; /* what follows the name */
        const char *summary;  /* half a line, lower case */
        const char *details;  /* paragraphs of help, each ended by a newline; may be NULL */
        uint64_t groups;      /* OPTIONS_*; OPTIONS_GLOBAL goes without saying */
        size_t min_words, max_words;
        int (*run)(const Options *o);
} Verb;

int verb_run(const Options *o);
int verb_start(const Options *o);
int verb_arm(const Options *o);
int verb_trigger(const Options *o);
int verb_snapshot(const Options *o);
int verb_stop(const Options *o);
int verb_follow(const Options *o);
int verb_status(const Options *o);
int verb_keep(const Options *o);
int verb_list(const Options *o);
int verb_show(const Options *o);
int verb_top(const Options *o);
int verb_tree(const Options *o);
int verb_hist(const Options *o);
int verb_calls(const Options *o);
int verb_slow(const Options *o);
int verb_waits(const Options *o);
int verb_learn(const Options *o);
int verb_check(const Options *o);
int verb_verify(const Options *o);
int verb_remove(const Options *o);
int verb_report(const Options *o);
int verb_fetch(const Options *o);
int verb_export(const Options *o);
int verb_diff(const Options *o);
int verb_pin(const Options *o);
int verb_unpin(const Options *o);
int verb_seal(const Options *o);
int verb_vacuum(const Options *o);
int verb_cat_config(const Options *o);
int verb_functions(const Options *o);
int verb_profile(const Options *o);
int verb_metrics(const Options *o);
int verb_schedule(const Options *o);
int verb_doctor(const Options *o);
