/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Fleet start: many hosts begin at the same moment (start --hosts --at)
 *
 * Two phases: each host arms the recording, which waits for the moment there by itself, or refuses; when
 * all have accepted, nothing more has to be sent.  If one has not, the others take it back, unless
 * --partial is given; and all of them if Ctrl-C comes before.
 */

#include "cli/options/options.h"

/* @moment_ns: CLOCK_REALTIME.  An exit status: of those that refused if they agree, else
 * STATUS_FAILED; with --partial STATUS_INCOMPLETE if some accepted. */
int fleet_start(const Options *o, uint64_t moment_ns);
