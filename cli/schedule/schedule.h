/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Schedule: a recording that a timer of systemd's begins
 *
 * An instance NAME of two template units, with what is its own in drop-ins:
 *
 *      /etc/systemd/system/ftraced-capture@NAME.timer.d/50-ftracectl.conf     when
 *      /etc/systemd/system/ftraced-capture@NAME.service.d/50-ftracectl.conf   what
 *
 * so that systemctl shows, masks and changes it as any other.
 */

#include "base/array.h"
#include "cli/options/options.h"
#include "meta/meta.h"

#define SCHEDULE_UNIT_MAX 128
#define SCHEDULE_NAME_MAX 47 /* captures are sessions NAME-1 and so on */

typedef struct Schedule {
        char *calendar; /* NULL: the template's */
        uint64_t keep;  /* sessions; 0: all */
        Strv command;   /* of a capture, the program's path first; not filled by schedule_read() */
} Schedule;

/* A session's name of at most SCHEDULE_NAME_MAX characters. */
bool schedule_name_is_valid(const char *name);
/* "ftraced-capture@NAME.timer", or with another @type; returns @text. */
char *schedule_unit(char text[static SCHEDULE_UNIT_MAX], const char *name, const char *type);

/* @root: before every path; NULL: none.  All: 0 or -errno. */
int schedule_write(const char *root, const char *name, const Schedule *s);
/* What of it is in drop-ins of ours; all empty if there are none. */
int schedule_read(Schedule *ret, const char *root, const char *name);
/* Removes what schedule_write() wrote; -ENOENT: nothing was there. */
int schedule_erase(const char *root, const char *name);
/* Names of all that have drop-ins or are enabled, sorted. */
int schedule_list(Strv *ret, const char *root);
void schedule_done(Schedule *s);
#define _cleanup_schedule_ _cleanup_(schedule_done)

/* A word of a command line as a unit file has it (systemd.service(5), COMMAND LINES); the caller
 * frees. */
char *schedule_quote(const char *word);

/* When @event, "Mon..Fri 02:00" as in systemd.time(7), comes next: "2026-11-23 02:00:00 UTC", which the caller
 * frees. libsystemd exports no parser of them, so systemd-analyze(1) is asked: what it takes is exactly what a
 * timer takes. An exit status; what is wrong is said on stderr, as of @option. */
int schedule_check_calendar(char **ret_next, const char *event, const char *option);
/* "2026-11-23 02:00:00 UTC" out of what `systemd-analyze calendar` prints; NULL: it has none.
 * The caller frees. */
char *schedule_read_next(const char *text);

/* --- systemd: exit statuses, after it, or we, have said what is wrong --------------------------- */

int systemd_is_there(void);
/* "enable --now", as systemctl has it; @unit: NULL: none.  What it says goes to standard error. */
int systemd_control(const char *verb, const char *unit);
/* The path of this program, as units need it: 0, -errno. */
int systemd_add_self(Strv *ret);
/* A timer @name and the service that it starts once, which vanish when that was done, or at the next boot.
 * @command: the first is the program's path. */
int systemd_start_later(const char *name, const char *calendar, const Strv *command);

typedef struct TimerState {
        uint64_t next_us, last_us; /* of the realtime clock; 0: never */
        bool is_active, is_masked;
} TimerState;

int systemd_look_at_timer(TimerState *ret, const char *timer);

/*
 * Capture: one recording of a schedule, from its begin to what is removed for it
 *
 * What the unit ftraced-capture@NAME.service runs.  The session is called NAME-N; its end is the
 * daemon's, which has the recording's limits and needs nobody for them: when this process is killed,
 * or the daemon restarts, the recording still ends in time.
 */

/* Whether what @o and its profile say comes to an end by itself; an exit status.  @words: functions. */
int capture_check(const Options *o, const Strv *words);
/* @name: of the schedule; @words: functions.  An exit status: STATUS_BUSY, STATUS_REFUSED if it was skipped,
 * which the log has then. */
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
