/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Task filter: whose calls are recorded, when who they are changes
 *
 * Forked children follow their parents into set_ftrace_pid by themselves (options/function-fork), and
 * leave it when they end.  Who gets a name or joins a control group does not: an instance of its own
 * ("instances/ftraced.tasks-SESSION") records the events of that, so that its trace_pipe wakes the
 * daemon, which then looks who is who.  What the pipe says is not read.
 */

#include <stdbool.h>

#include "daemon/tracefs/plan.h"
#include "meta/spec.h"

/* Whether somebody may join those whom @spec is about. */
bool task_filter_follows(const Spec *spec);
/* The instance, and what it records.  0 or -errno. */
int task_filter_plan(Plan *p, const Spec *spec);
/* Its trace_pipe, not blocking; the caller owns it; -errno. */
int task_filter_open(const Tracefs *fs, const char *session);
/*
 * task_filter_set() - make the buffer in @dir record the tasks in @wanted
 * @has_events: it records events beside the graph, of which the same holds
 * @wanted:     sorted (daemon/admission/task-finder.h)
 *
 * Writes the difference: a list that is written anew is empty for a moment, which means everybody.
 * Who is wanted no more is added to set_ftrace_notrace_pid (set_event_notrace_pid).
 * Return: whether anything had to be changed; -errno.
 */
int task_filter_set(const Tracefs *fs, const char *dir, bool has_events, const Strv *wanted);
