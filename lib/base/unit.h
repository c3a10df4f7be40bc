/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Quantities with units, in both directions; the only place that knows suffixes.
 *
 * Bytes: a decimal number, then nothing, B, or K M G T (powers of 1024, an "iB"
 * or "B" may follow): "8M", "1.5G", "4096".
 * Durations: one or more of number+unit, units ns us ms s min m h d w M (month)
 * y and the longer names of systemd.time(7); a bare
 * number is seconds: "30s", "1.5us", "1min 30s", "10".
 */

#include <stdint.h>

#define USEC_PER_SEC 1000000ULL
#define NSEC_PER_USEC 1000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

int parse_bytes(const char *s, uint64_t *ret);             /* -EINVAL, or -ERANGE past 2^63 */
int parse_duration(const char *s, uint64_t *ret_ns);       /* the same */
int parse_u64(const char *s, uint64_t max, uint64_t *ret); /* decimal digits only */
/* "123", "123.000456": up to nine digits behind the point count, and there may be none; what follows is at *@s then.
 * -EINVAL, also past 2^63 ns. */
int parse_seconds(const char **s, uint64_t *ret_ns);
/* "500K", "1.5M", "2G": powers of 1000.  -EINVAL, -ERANGE past 2^63. */
int parse_count(const char *s, uint64_t *ret);
/* "2%", "0.5%", "250", in millionths; the same. */
int parse_percent(const char *s, uint64_t *ret_ppm);

#define UNIT_TEXT_MAX 32
/* "184M", "21K", "512B": one digit after the point below 10.  Returns @text. */
char *format_bytes(char text[static UNIT_TEXT_MAX], uint64_t n_bytes);
/* "412 ms", "1min 12s", "8.5 us": two significant parts at most. */
char *format_duration(char text[static UNIT_TEXT_MAX], uint64_t duration_ns);
/* "29,812,004" */
char *format_count(char text[static UNIT_TEXT_MAX], uint64_t n);
/* Each in memory of its own until the end of the block. */
#define FORMAT_BYTES(n_bytes) format_bytes((char[UNIT_TEXT_MAX]){}, (n_bytes))
#define FORMAT_DURATION(ns) format_duration((char[UNIT_TEXT_MAX]){}, (ns))
#define FORMAT_COUNT(n) format_count((char[UNIT_TEXT_MAX]){}, (n))

/*
 * Figures: how times are written
 *
 * One way for tables, sentences and labels, so that whoever looks for a time in one place finds it in
 * the other: in the unit of its size, with three or four digits, but none below a nanosecond.  Who
 * needs each nanosecond has them in JSON.  (What lasts, as a recording does, is written by
 * format_duration(); what the kernel's own text has, by the renderers.)  All return @text.
 */
#define FIGURE_MAX 48

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
/* The same of bounds; @high_ns UINT64_MAX: "11.0 us or longer". */
char *figure_bounds(char text[static FIGURE_MAX], uint64_t low_ns, uint64_t high_ns);
#define FIGURE_BOUNDS(low_ns, high_ns) figure_bounds((char[FIGURE_MAX]){}, (low_ns), (high_ns))
