/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Capture: one recording of a schedule, from its begin to what is removed for it
 *
 * What the unit ftraced-capture@NAME.service runs.  The session is called NAME-N; its end is the
 * daemon's, which has the recording's limits and needs nobody for them: when this process is killed,
 * or the daemon restarts, the recording still ends in time.
 */

#include <jansson.h>

#include "cli/options/options.h"
#include "meta/meta.h"

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
size_t capture_count_kept(const json_t *captures, const json_t *sessions);

/*
 * CaptureLog: what came of a schedule's captures
 *
 * /var/lib/ftraced-captures/NAME.json, or below $STATE_DIRECTORY, which systemd sets for a unit:
 *
 *      { "version": 1, "next": 8, "captures": [
 *          { "at_ns": ..., "session": "nightly-7", "id": "...", "result": "sealed",
 *            "length_ns": ..., "bytes": ..., "lost": ... }, ...
 *          { "at_ns": ..., "result": "skipped", "reason": "..." } ] }
 *
 * the newest last, at most CAPTURE_LOG_MAX.  Only the unit's one process writes it.
 */

#define CAPTURE_LOG_MAX 1000

typedef struct CaptureLog {
        json_t *captures; /* valid, in the shape above */
        json_int_t next;  /* the number that the next session's name ends in */
        char *path;
} CaptureLog;

/* One that is not there, or not readable as such, is empty.  0, or -errno: it cannot be read. */
int capture_log_open(CaptureLog *ret, const char *name);
int capture_log_save(const CaptureLog *l);
int capture_log_erase(const char *name);
/* Captures that recorded something since @since_ns of the realtime clock. */
uint64_t capture_log_count(const CaptureLog *l, uint64_t since_ns);
/* The newest, borrowed; NULL: none. */
json_t *capture_log_last(const CaptureLog *l);

/* Adds one that was not made ("skipped", "refused", "failed") at @at_ns.  0 or -ENOMEM. */
int capture_log_add(CaptureLog *l, uint64_t at_ns, const char *result, const char *reason);
/* Adds one that was, or brings the newest up to date if it is of the same session. */
int capture_log_set(CaptureLog *l, uint64_t at_ns, const SessionMeta *m);
void capture_log_done(CaptureLog *l);
#define _cleanup_capture_log_ _cleanup_(capture_log_done)
