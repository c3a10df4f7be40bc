/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tasks: the name of a process id, from the recording's saved_cmdlines
 *
 * Lines of "PID COMM"; a comm may hold spaces.  Names are those of the moment
 * when the file was read, as in the kernel's own text.
 *
 * Source: linux 6.1 kernel/trace/trace.c, saved_cmdlines_show(), __trace_find_cmdline().
 */

#include "base/cleanup.h"

typedef struct Tasks Tasks;

#define TASK_COMM_BYTES 16 /* TASK_COMM_LEN, its NUL included */

/* @text: NUL-terminated, borrowed; NULL is an empty list.  0 or -ENOMEM. */
int tasks_new(Tasks **ret, const char *text);
/* "<idle>" for 0, "<XXX>" below, "<...>" for the unknown; never NULL. */
const char *tasks_comm(const Tasks *t, int32_t pid);
Tasks *tasks_free(Tasks *t);
DEFINE_CLEANUP(Tasks *, tasks_free);
