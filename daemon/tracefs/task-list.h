/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Task list: the numbers in set_ftrace_pid and its like
 */

#include <stdbool.h>

#include "base/strv.h"
#include "daemon/tracefs/tracefs.h"

/* What @file lists, sorted; none if all have ended (daemon/tracefs/control.h).  0 or -errno. */
int task_list_read(const Tracefs *fs, const char *file, Strv *ret);
/* Adds what of @a is in @b, or is not; both sorted.  0 or -ENOMEM. */
int task_list_pick(const Strv *a, const Strv *b, bool in_both, Strv *ret);
