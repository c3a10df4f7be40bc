/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Admission: may this session be armed?
 *
 * The questions that are asked before anything is written, each answered with
 * 0, REFUSED and a sentence, or -errno.  None of them changes anything.
 */

#include <stdbool.h>

#include "daemon/admission/arbiter.h"
#include "daemon/admission/functions.h"
#include "daemon/tracefs/ledger.h"
#include "daemon/tracefs/tracefs.h"
#include "meta/spec.h"
#include "wire/refusal.h"

/* The functions that the spec's names and globs stand for, sorted. */
int admit_names(const Functions *f, const Spec *spec, Strv *ret_roots, Strv *ret_notrace,
                Refusal *refusal);
/* The functions that spec->hooked stands for, sorted. */
int admit_hooked(const Functions *f, const Spec *spec, Strv *ret, Refusal *refusal);
/* Whether the spec's members contradict one another. */
int admit_together(const Spec *spec, const Strv *roots, const Strv *notrace, Refusal *refusal);
/* Whether all of spec->cpus exist and are online. */
int admit_cpus(const Tracefs *fs, const Spec *spec, Refusal *refusal);
/* Whether this kernel has the trace clock. */
int admit_clock(const Tracefs *fs, const Spec *spec, Refusal *refusal);
/*
 * All threads that the spec's processes have now, sorted: set_ftrace_pid takes threads.  Where others
 * may join them TASK_NOBODY is one of them (daemon/admission/task-finder.h), so that there always is one; that
 * there is nobody else adds a sentence to @warnings.
 */
int admit_processes(const Tracefs *fs, const Spec *spec, Strv *ret_threads, Strv *warnings,
                    Refusal *refusal);
/* The same for those who may join, as often as one likes: nothing is refused any more. */
int find_followed(const Tracefs *fs, const Spec *spec, Strv *ret_threads);
/*
 * Whether somebody else uses the tracer
 * @instances: function_graph may run in instances: only function_graph itself is in the way then,
 *             wherever it is, since the graph filters are global.  Otherwise any tracer of the
 *             top level is, and any open trace_pipe, whose data arming would erase.
 * @ours:      directories ("instances/ftraced-x/") of live sessions
 * @ledger:    tells a tracer that an earlier ftraced left on from somebody else's
 */
int admit_tracer(const Tracefs *fs, const Ledger *ledger, bool instances, const Strv *ours,
                 Refusal *refusal);
/* No function @name can be traced; names some like it. */
int refuse_no_function(const Functions *f, const char *name, Refusal *refusal);
/* REFUSAL_BUSY for what setting the tracer met: an open pipe in @dir. */
int refuse_held_pipe(const Tracefs *fs, const char *dir, Refusal *refusal);

/* REFUSAL_BUSY naming the session.  @what: a file that exists once per kernel and cannot be shared
 * with it, or NULL: the tracer itself.  @depth: what the new session asks for. */
int refuse_held(const Claim *holder, const char *what, uint64_t depth, Refusal *refusal);
