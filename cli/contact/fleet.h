/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Fleet: a verb on many hosts at the same time (--hosts)
 *
 * cli/contact/remote.h for each line of a file, a line for each host as it is done, and one exit status.
 */

#include "cli/options/options.h"

#define FLEET_AT_ONCE 32

/* Hosts of @text, one a line; # begins a comment.  0 or -ENOMEM. */
int fleet_read(Strv *ret, const char *text);
/* STATUS_OK if all hosts say so; what they say if they agree; STATUS_FAILED otherwise. */
int fleet_run(const Options *o);
