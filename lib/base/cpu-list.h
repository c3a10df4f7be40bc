/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * CPU lists: "0-3,8", as the kernel prints them (linux 6.1 lib/bitmap.c, "%*pbl") and people type them
 *
 * A range is "3" or "0-3", ascending, below CPU_RANGE_END; a list is ranges with commas between.
 */

#include <stdbool.h>

#define CPU_RANGE_END 8192

bool cpu_range_is_valid(const char *s);
/* Both ends of a valid one. */
void cpu_range_parse(const char *s, unsigned *ret_first, unsigned *ret_last);

/*
 * Takes the first range off *@list: 1; 0 at the end of the string (or of its line); -EINVAL: what is
 * there is no range.
 */
int cpu_list_next(const char **list, unsigned *ret_first, unsigned *ret_last);
/* As far as the list is one. */
bool cpu_list_has(const char *list, unsigned cpu);
