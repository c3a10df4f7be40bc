/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Calendar: systemd's calendar events ("Mon..Fri 02:00", systemd.time(7))
 *
 * libsystemd exports no parser of them, so systemd-analyze(1) is asked: what it takes is exactly what
 * a timer takes.
 */

/*
 * calendar_check() - when @event comes next
 * @ret_next: "2026-11-23 02:00:00 UTC", a calendar event that comes once; the caller frees
 *
 * Return: an exit status; what is wrong is said on stderr, as of @option.
 */
int calendar_check(char **ret_next, const char *event, const char *option);
/* "2026-11-23 02:00:00 UTC" out of what `systemd-analyze calendar` prints; NULL: it has none.
 * The caller frees. */
char *calendar_read_next(const char *text);
