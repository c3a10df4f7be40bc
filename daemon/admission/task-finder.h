/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Task finder: who has a name, or is in a control group
 *
 * What set_ftrace_pid takes are tasks: threads, each by its own number.  They come and go while
 * they are looked for; whoever has gone is left out.
 */

#include "daemon/tracefs/tracefs.h"

/* A number above all tasks', which end below PID_MAX_LIMIT (linux 6.1 include/linux/threads.h): a list
 * with it alone names nobody, where an empty one would name everybody.  PID_MAX_LIMIT itself would
 * read as "no pid" (kernel/trace/ftrace.c, FTRACE_NO_PIDS). */
#define TASK_NOBODY "4194305"
#define TASK_NUMBER_MAX 21

/*
 * task_find_nobody() - a number that is no task's
 *
 * TASK_NOBODY, and before linux 5.16, whose lists end at kernel.pid_max (5.10 kernel/trace/trace.c,
 * trace_pid_write()), the highest number that is free just now, which comes up last: should a task get it, the
 * next call returns another.
 * Return: 0, -ENOENT (all that it looked at are taken), -errno.
 */
int task_find_nobody(const Tracefs *fs, char ret[static TASK_NUMBER_MAX]);

/* Adds all threads of processes that are called one of @comms, and threads of others that are.  0 or
 * -errno. */
int task_find_by_comms(const Tracefs *fs, const Strv *comms, Strv *ret);
/*
 * task_find_by_cgroup() - add all threads of the processes in a control group and those below it
 * @path: below /sys/fs/cgroup, which may stand before it
 *
 * Return: 0, -ENOENT (there is no such group, or it is outside), -errno.
 */
int task_find_by_cgroup(const Tracefs *fs, const char *path, Strv *ret);
