/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Hook cost: what hooked functions cost ordinary work
 *
 * A call sample (daemon/lean/call-sample.h) is taken with these functions while the reference workload
 * (daemon/lean/workload.h) works, of what its processes call.
 */

#include "daemon/lean/call-sample.h"
#include "daemon/lean/workload.h"

#define HOOK_COST_BUFFER_KB 16384 /* of one CPU: some ten thousand calls of each task */

typedef struct HookCost {
        Workload workload;
        CallSample sample;
} HookCost;

/* Everything is put back when it returns, or at the next start.  0 or -errno (-EOPNOTSUPP: there
 * is no function tracer). */
int hook_cost_measure(HookCost *ret, const Tracefs *fs, Ledger *l, const Hooks *hooks);
void hook_cost_done(HookCost *w);

/*
 * hook_cost_ppm() - by how much a task becomes longer
 * @quiet:  times of the tasks with nothing hooked
 * @n_hits: calls of one function in @loud's window of task @t
 * @n_spin_hits: calls of it in the window of WORKLOAD_SPIN
 *
 * What is called as often while nothing is done is not the task's, but makes it longer, too: every
 * task pays for it by the time that it takes.
 *
 * A hook is taken to cost what the cheapest system call does: function_graph needs some 200
 * instructions for a call that it does not record (linux 6.12), such a system call some more.
 */
uint32_t hook_cost_ppm(const Workload *quiet, const Workload *loud, WorkloadTask t, uint64_t n_hits,
                       uint64_t n_spin_hits);
/*
 * hook_cost_fixed_ppm() - the same for function_graph itself
 *
 * It looks at every context switch (linux 6.12 kernel/trace/fgraph.c,
 * ftrace_graph_probe_sched_switch()), for which a third of a hook is taken; a round through the
 * pipe is two of them.  A forked process gets a stack for return addresses, and is switched to and
 * from: measured 2,100 (6.1) to 2,900 (6.12) instructions, which is 8 hooks.
 */
uint32_t hook_cost_fixed_ppm(const Workload *quiet, WorkloadTask t);
