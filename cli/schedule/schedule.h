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
 * so that systemctl shows, masks and changes it as any other.  What came of each capture is in
 * cli/schedule/capture.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/strv.h"

#define SCHEDULE_UNIT_MAX 128
#define SCHEDULE_NAME_MAX 47 /* captures are sessions NAME-1 and so on */

typedef struct Schedule {
        char *name;
        char *calendar; /* NULL: the template's */
        uint64_t keep;  /* sessions; 0: all */
        Strv command;   /* of a capture, the program's path first; not filled by schedule_read() */
} Schedule;

/* A session's name of at most SCHEDULE_NAME_MAX characters. */
bool schedule_name_is_valid(const char *name);
/* "ftraced-capture@NAME.timer", or with another @type; returns @text. */
char *schedule_unit(char text[static SCHEDULE_UNIT_MAX], const char *name, const char *type);

/* @root: before every path; NULL: none.  All: 0 or -errno. */
int schedule_write(const char *root, const Schedule *s);
/* What of it is in drop-ins of ours; all empty but the name if there are none. */
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

/*
 * schedule_check_calendar() - when a calendar event comes next
 * @event:    "Mon..Fri 02:00", as in systemd.time(7)
 * @ret_next: "2026-11-23 02:00:00 UTC", a calendar event that comes once; the caller frees
 *
 * libsystemd exports no parser of them, so systemd-analyze(1) is asked: what it takes is exactly
 * what a timer takes.
 * Return: an exit status; what is wrong is said on stderr, as of @option.
 */
int schedule_check_calendar(char **ret_next, const char *event, const char *option);
/* "2026-11-23 02:00:00 UTC" out of what `systemd-analyze calendar` prints; NULL: it has none.
 * The caller frees. */
char *schedule_read_next(const char *text);

/* --- systemd: exit statuses, after it, or we, have said what is wrong --------------------------- */

int systemd_is_there(void);
/* All unit files are read again. */
int systemd_reload(void);
/* Enables and starts, or disables and stops, and reads all unit files again. */
int systemd_switch(const char *timer, bool on);
/* Returns when the service, which is oneshot, has ended. */
int systemd_run_service(const char *service);
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
