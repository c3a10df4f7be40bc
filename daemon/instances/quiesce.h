/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Quiesce: for a moment no tracer looks into the graph filter
 *
 * Kernels later than 6.12 free an old set_graph_function without waiting for the CPUs that are looking
 * into it, where CONFIG_ARCH_WANTS_NO_INSTR is set, as it is on x86 (linux 7.2 kernel/trace/ftrace.c,
 * ftrace_graph_release(), relies on synchronize_rcu_tasks_rude(), which does nothing there:
 * kernel/rcu/tasks.h; 6.12 waits).  Changing it beside a tracer makes them fault: 2 times in 254 changes
 * beside one that hooks all functions, on 7.2; never in 1038 that were quiesced.
 *
 * What a tracer is not to record at all it does not look up either (kernel/trace/fgraph.c,
 * fgraph_pid_func()).  So its list of processes is made to name nobody but the thread that makes the
 * change; a second write to it waits until every CPU has left what it was in before (ftrace.c,
 * pid_write(), synchronize_rcu()).  Calls that begin meanwhile are missing.
 */

#include "daemon/tracefs/plan.h"

/* Whether this kernel wants it. */
bool quiesce_is_needed(const Tracefs *fs);

/* Whose records the ledger has meanwhile; no session has this name. */
#define LEDGER_QUIESCE "(hush)"

typedef struct Quiesce {
        Ledger *ledger;
        Strv files, olds; /* what they said */
} Quiesce;

/*
 * quiesce_prepare(), quiesce_begin(), quiesce_end()
 * @dirs: of the instances whose function_graph is on ("instances/x/"); those that went are passed by
 *
 * The first writes the ledger, and nothing is changed.  After the second, whatever it returns, the
 * third has to come; in between no task may leave (daemon/process/background.h) and nobody else may write these lists.
 * Then the ledger is to be committed.
 * Return: 0 or -errno; quiesce_begin(): -EBUSY: processes come faster than they can be named; quiesce_end():
 * what could not be put back stays in the ledger.
 */
int quiesce_prepare(Quiesce *h, Ledger *l, const Strv *dirs);
int quiesce_begin(Quiesce *h, const Strv *dirs);
int quiesce_end(Quiesce *h);
void quiesce_done(Quiesce *h); /* one that did not begin */
/* After a daemon that died meanwhile: puts everything back, adds whose lists these were to @ret. */
int quiesce_recover(Ledger *l, Strv *ret_dirs);
/* What quiesce_begin() or quiesce_end() would write now, as steps of a dry plan.  0 or -errno. */
int quiesce_plan(Plan *p, const Strv *dirs, bool begins);
