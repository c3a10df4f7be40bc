/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Calendar: systemd's calendar events ("Mon..Fri 02:00", systemd.time(7))
 *
 * libsystemd exports no parser of them, so systemd-analyze(1) is asked: what it takes is exactly what
 * a timer takes.
 */

enum {
        CALENDAR_E_INVALID = 1,
        CALENDAR_E_NEVER = 2,   /* it lies in the past, for good */
        CALENDAR_E_NO_TOOL = 3, /* there is no systemd-analyze */
};

/*
 * calendar_next() - when @event comes next
 * @ret_next: "2026-11-23 02:00:00 UTC", a calendar event that comes once; the caller frees
 *
 * Return: 0, CALENDAR_E_*, -errno.
 */
int calendar_next(char **ret_next, const char *event);
/* The same, with what is wrong said on stderr, as of @option; an exit status. */
int calendar_check(char **ret_next, const char *event, const char *option);
/* "2026-11-23 02:00:00 UTC" out of what `systemd-analyze calendar` prints; NULL: it has none.
 * The caller frees. */
char *calendar_read_next(const char *text);
