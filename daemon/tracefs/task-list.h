/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Task list: the numbers in set_ftrace_pid and its like
 */

#include "base/strv.h"
#include "daemon/tracefs/tracefs.h"

/* What @file lists, sorted; none if all have ended (daemon/tracefs/control.h).  0 or -errno. */
int task_list_read(const Tracefs *fs, const char *file, Strv *ret);
