/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Capture: one recording of a schedule, from its begin to what is removed for it
 *
 * What the unit ftraced-capture@NAME.service runs.  The session is called NAME-N; its end is the
 * daemon's, which has the recording's limits and needs nobody for them: when this process is killed,
 * or the daemon restarts, the recording still ends in time.
 */

#include "cli/options/options.h"

/* Whether what @o and its profile say comes to an end by itself; an exit status.  @words: functions. */
int capture_check(const Options *o, const Strv *words);
/*
 * capture_run()
 * @name:  of the schedule
 * @words: functions
 *
 * An exit status: STATUS_BUSY, STATUS_REFUSED if it was skipped, which the log has then.
 */
int capture_run(const Options *o, const char *name, const Strv *words);
/* Of how many of @captures the session is among @sessions, which are as a daemon's List has them. */
size_t capture_count_kept(json_t *captures, json_t *sessions);
