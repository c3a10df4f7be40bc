/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Figures: how times are written
 *
 * One way for tables, sentences and labels, so that whoever looks for a time in one place finds it in
 * the other: in the unit of its size, with three or four digits, but none below a nanosecond.  Who
 * needs each nanosecond has them in JSON.  (What lasts, as a recording does, is written by
 * format_duration(); what the kernel's own text has, by the renderers.)
 */

#include <stdint.h>

#define FIGURE_MAX 48

/* All return @text. */

/* "0.082 us", "4.03 us", "191.1 us", "1.24 s". */
char *figure_round(char text[static FIGURE_MAX], uint64_t ns);
/* Of a mean: the same, of the nearest nanosecond. */
char *figure_mean(char text[static FIGURE_MAX], double ns);
/* Of a difference: the same with its sign, "+1.25 ms", "-6.65 us". */
char *figure_change(char text[static FIGURE_MAX], double ns);
/* When something was, local time: "2026-08-23 10:42:01". */
char *figure_date(char text[static FIGURE_MAX], uint64_t realtime_ns);
/* Of a clock that counts nanoseconds, in seconds with @n_digits, at most 9, behind the point:
 * "1234.567890"; none: "1234". */
char *figure_moment(char text[static FIGURE_MAX], uint64_t ns, unsigned n_digits);
/* The same, each in memory of its own until the end of the block. */
#define FIGURE_ROUND(ns) figure_round((char[FIGURE_MAX]){}, (ns))
#define FIGURE_MEAN(ns) figure_mean((char[FIGURE_MAX]){}, (ns))
#define FIGURE_CHANGE(ns) figure_change((char[FIGURE_MAX]){}, (ns))
#define FIGURE_MOMENT(ns, n_digits) figure_moment((char[FIGURE_MAX]){}, (ns), (n_digits))
#define FIGURE_DATE(realtime_ns) figure_date((char[FIGURE_MAX]){}, (realtime_ns))
/* "40.0 to 43.2 us", "0.98 us to 1.02 ms"; "40.0 us" of two that look alike. */
char *figure_range(char text[static FIGURE_MAX], uint64_t low_ns, uint64_t high_ns);
