/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Verb: one thing ftracectl does
 *
 * One file each, verb-NAME.c; cli/main.c lists them.  A verb is given options
 * that were checked against its entry, and returns an exit status
 * after having said on stderr whatever there is to say.
 */

#include <stddef.h>

#include "cli/options/options.h"

typedef int VerbFunction(const Options *o);

typedef struct Verb {
        const char *name;
        const char *synopsis; /* what follows the name */
        const char *summary;  /* half a line, lower case */
        const char *details;  /* paragraphs of help, each ended by a newline; may be NULL */
        uint64_t groups;      /* OPTIONS_*; OPTIONS_GLOBAL goes without saying */
        size_t min_words, max_words;
        VerbFunction *run;
        bool has_fleet; /* does by itself what --hosts asks for */
} Verb;

VerbFunction verb_run, verb_start, verb_arm, verb_trigger, verb_snapshot, verb_stop, verb_follow,
        verb_status, verb_list, verb_show, verb_top, verb_tree, verb_hist, verb_calls, verb_slow,
        verb_why, verb_waits, verb_path, verb_verify, verb_remove, verb_report, verb_fetch,
        verb_collect, verb_export, verb_diff, verb_pin, verb_vacuum, verb_functions, verb_profile,
        verb_metrics, verb_schedule, verb_doctor;
