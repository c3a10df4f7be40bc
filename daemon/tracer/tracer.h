/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tracer: function_graph, programmed for one session
 *
 * The controller arms it (daemon/tracer/controller.h).  What is below goes on until tracer_disarm(): triggers,
 * what is hooked, roots whose modules come and go, counters, clocks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "daemon/instances/instance.h"
#include "daemon/instances/notifier.h"
#include "meta/meta.h"
#include "meta/spec.h"

typedef struct Tracer Tracer;

/*
 * Triggers (daemon/instances/notifier.h) of a session: rule @i of m->spec.triggers.  controller_arm() hangs the notifiers
 * of those that the kernel can tell of.
 */
bool tracer_can_ring(const Trigger *t); /* by a notifier */
int tracer_open_notifier(Tracer *t, Notifier **ret, size_t i, sd_event *event, NotifierRung rung,
                         void *userdata);
/* What the kernel can do of it by itself: 1: switch recording on, 0: off, -1: nothing. */
int tracer_switch_of(const Spec *spec, const Trigger *t);
/* The kernel switches recording on or off by itself when it happens next.  0 or -errno. */
int tracer_put_switch(Tracer *t, size_t i, const Trigger *trigger, bool on);
int tracer_take_switch(Tracer *t, size_t i, const Trigger *trigger, bool on);
/*
 * tracer_waits() - whether a session that is armed has nothing but its roots hooked
 *
 * So it is if every function would be, which costs everybody while nothing is recorded.
 */
bool tracer_waits(const Tracer *t);
/* Whether that could begin. */
bool tracer_can_wait(const Tracer *t, const SessionMeta *m);
/* Tasks (daemon/process/background.h) that end and begin it: hook what a recording needs, or the roots alone.  Until
 * the one is through, and as soon as the other begins, tracer_waits().  0 or -errno. */
int tracer_hook_all(Tracer *t);
int tracer_hook_roots(Tracer *t, const SessionMeta *m);

/*
 * tracer_renew_roots() - after modules came or went
 * @ret_gone: roots that are not there any more
 * @ret_back: those that were away and are roots again from now on
 *
 * Return: 0 or -errno.
 */
int tracer_renew_roots(Tracer *t, const SessionMeta *m, Strv *ret_gone, Strv *ret_back);

/* Adds what explains that nothing was recorded (meta/brief.h).  0 or -errno. */
int tracer_find_silence(const Tracer *t, const SessionMeta *m, Strv *ret);
/* Where it is programmed; all borrowed.  What is read of its buffer is asked of the instance. */
const char *tracer_tracefs(const Tracer *t);
/* Whether a task of the daemon is at the kernel, of whichever session: then whoever opens a control file may wait for
 * as long (linux 6.12 kernel/trace/trace.c, trace_types_lock). */
bool tracer_is_held_up(const Tracer *t);
int tracer_tracefs_fd(const Tracer *t);
Instance *tracer_instance(const Tracer *t);
/* What set_graph_function holds as long as nobody else writes it: the roots of all sessions, but
 * perhaps for those whose module has gone.  Takes out what became of their addresses.  -EBUSY: a task
 * is about to write it. */
int tracer_get_roots(const Tracer *t, Strv *ret, Strv *ret_gone);
/* What set_ftrace_filter or set_ftrace_notrace says as long as nobody else writes it; borrowed until it is changed;
 * NULL: it has to be read.  After tracer_doubt_hooks() somebody else may have: then others do not rely on it. */
const char *tracer_get_hooks(const Tracer *t, const char *file);
void tracer_doubt_hooks(Tracer *t);
/* Adds directories of buffers in which somebody else has function_graph on.  0 or -errno. */
int tracer_find_strangers(const Tracer *t, Strv *ret);
/*
 * For a moment, in the trace's clock, @t recorded no call, since set_graph_function was changed for
 * others (daemon/instances/quiesce.h).  Called by the loop or a task.
 */
typedef void (*TracerQuiesced)(uint64_t from_ns, uint64_t to_ns, void *userdata);
/* A second user of function_graph comes: what is hooked is to be written anew, controller_rehook().  In a task. */
typedef void (*TracerCrowded)(void *userdata);
void tracer_set_handlers(Tracer *t, TracerQuiesced on_quiesced, TracerCrowded on_crowded,
                         void *userdata);
/* Whether an earlier daemon died in such a moment. */
bool tracer_was_quiesced(const Tracer *t);
int tracer_set_recording(Tracer *t, bool on);
/* What wakes whoever follows tasks (daemon/instances/task-filter.h); not blocking; the caller owns it; -errno. */
int tracer_open_tasks(const Tracer *t);
/* Looks who the tasks of @spec are by now, and records these.  Whether any is new; -errno. */
int tracer_follow(Tracer *t, const Spec *spec);
/* One moment on all clocks. */
int tracer_read_clocks(Tracer *t, ClockTuple *ret);
/* Frees @t and touches nothing: controller_settle() finds what it stood for in the ledger. */
void tracer_forget(Tracer *t);
/*
 * tracer_disarm() - put everything back
 *
 * The caller has closed every trace_pipe_raw.  Frees @t in any case; what could not be put back
 * stays in the ledger, is tried again at the next disarm and start, and makes this return -errno.
 */
int tracer_disarm(Tracer *t);
