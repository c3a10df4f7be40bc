/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * EventSet: what a session records beside bare calls
 *
 * Events of other kinds (meta/event-choice.h) are switched on in the session's buffer, each with
 * its filter or none.  A session that records some tasks' calls records these tasks' events
 * (set_event_pid, event-fork); of sched_switch and sched_wakeup those that concern one of them, as the
 * kernel has it (linux 6.1 kernel/trace/trace_events.c, event_filter_pid_sched_switch_probe_pre()).
 * Who joins them later is added as to set_ftrace_pid (daemon/instances/task-filter.h).
 *
 * Markers (ftrace:print) are no event that is switched on: those of the top level's trace_marker come into an
 * instance by options/copy_trace_marker.
 *
 * Arguments and return values depend on how the kernel was built.  Arguments are recorded while the
 * option funcgraph-args is on; what calls return is recorded by every kernel that can, and the
 * option funcgraph-retval is about its `trace` file alone.
 */

#include "daemon/instances/instance.h"
#include "meta/spec.h"
#include "wire/refusal.h"

/* Whether the kernel has the spec's events: 0, REFUSED, -errno. */
int admit_events(const Tracefs *fs, const Spec *spec, Refusal *refusal);

/* Whether events that are told apart by tasks are recorded beside the calls, or may be: values, too
 * (daemon/instances/value-probe.h). */
bool event_set_is_used(const Spec *spec);

/* Whether markers that the spec asks for can come into the buffer of @session, which is the top level's without
 * @has_instances.  The same. */
int admit_markers(const Tracefs *fs, const Spec *spec, const char *session, bool has_instances,
                  Refusal *refusal);
/* @threads: that are recorded; none: all. */
int event_set_plan(const Spec *spec, const Strv *threads, const Instance *i, Plan *p);
/* What became of a filter that the kernel does not take, in its own words.  @file: where it was
 * written, and still stands; @field: of the spec, in which it is. */
int refuse_event_filter(const Tracefs *fs, const char *file, const char *field, Refusal *refusal);
/* There is no such event here; names like it are suggested. */
int refuse_no_event(const Tracefs *fs, const char *system, const char *event, Refusal *refusal);
