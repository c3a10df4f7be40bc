/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Upkeep: what changes a store after the recording
 *
 * The daemon owns its store while it runs and does it.  With --store, or if none runs, the store is
 * opened for writing, which takes its lock and so makes sure that really nobody owns it.  All
 * return an exit status.
 */

#include <jansson.h>
#include <stdbool.h>

#include "cli/contact/client.h"
#include "cli/options/options.h"
#include "retention/retain.h"

/* Does it to each word of the command line; the first failure is the exit status. */
int upkeep_each(const Options *o, int (*one)(const Options *o, Client *c, const char *word));
/* The name of the session that @word, a name or an id, means; a daemon knows by itself.  The caller
 * frees *@ret. */
int upkeep_name(char **ret, const Options *o, Client *c, const char *word);
/* Refuses what is pinned, being read, or not ours: STATUS_BUSY, STATUS_FAILED. */
int upkeep_remove(const Options *o, Client *c, const char *name);
int upkeep_pin(const Options *o, Client *c, const char *name, bool pinned);
/* @ret: what the method Vacuum answers.  Without limits: those of ftraced.conf. */
int upkeep_vacuum(json_t **ret, const Options *o, Client *c, const RetainLimits *limits,
                  bool dry_run);
