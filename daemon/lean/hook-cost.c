/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the tasks of the reference workload cost with some functions hooked, from how often they call them. */

#include <errno.h>

#include "daemon/lean/call-sample.h"
#include "daemon/lean/hook-cost.h"

#define RARE 8 /* called less than once in so many times: an interrupt that came by, not the task */

/* How many hooks what a task costs whatever is hooked is worth; see hook_cost_fixed_ppm(). */
static const double fixed_hooks[_WORKLOAD_N] = {
        [WORKLOAD_PIPE] = 2.0 / 3,
        [WORKLOAD_PIPE_BACK] = 2.0 / 3,
        [WORKLOAD_FORK] = 8,
        [WORKLOAD_SPAWN] = 8,
};

void hook_cost_done(HookCost *w) {
        call_sample_done(&w->sample);
}

typedef struct Counted {
        WorkloadChild *child;
        Workload *ret;
} Counted;

static int run_counted(void *userdata) {
        Counted *c = userdata;

        return workload_run(c->child, true, c->ret);
}

/* Only the reference workload's CPU needs room. */
int hook_cost_measure(HookCost *ret, const Tracefs *fs, Ledger *l, const Hooks *hooks) {
        _cleanup_(workload_freep) WorkloadChild *child = NULL;
        HookCost w = { .sample = CALL_SAMPLE_INIT };
        int r = hooks->lines.n > 0 ? workload_start(&child) : ORIGIN(-EINVAL);

        if (r < 0)
                return r;
        r = call_sample_take(&w.sample,
                             &(CallSampleConfig){ .fs = fs,
                                                  .ledger = l,
                                                  .hooks = hooks,
                                                  .cpu = (int) workload_cpu(child),
                                                  .buffer_kb = HOOK_COST_BUFFER_KB,
                                                  .work = run_counted,
                                                  .userdata = &(Counted){ child, &w.workload } });
        if (r >= 0)
                *ret = w;
        return r;
}

static uint32_t share(const Workload *quiet, WorkloadTask t, double n_hooks) {
        uint64_t hook_ns = MAX(quiet->tasks[WORKLOAD_CALL].once_ns, UINT64_C(1));
        uint64_t task_ns = MAX(quiet->tasks[t].once_ns, UINT64_C(1));
        double ppm = n_hooks * (double) hook_ns / (double) task_ns * 1e6;

        return ppm < UINT32_MAX ? (uint32_t) ppm : UINT32_MAX;
}

static uint64_t lasts_ns(const WorkloadTime *t) {
        return t->n > 0 && t->to_ns > t->from_ns ? t->to_ns - t->from_ns : 0;
}

/* Hits in a second while nothing is done. */
static double rate(const Workload *loud, uint64_t n_spin_hits) {
        uint64_t ns = lasts_ns(&loud->tasks[WORKLOAD_SPIN]);

        return ns > 0 ? (double) n_spin_hits * 1e9 / (double) ns : 0;
}

uint32_t hook_cost_ppm(const Workload *quiet, const Workload *loud, WorkloadTask t, uint64_t n_hits,
                       uint64_t n_spin_hits) {
        const WorkloadTime *time = &loud->tasks[t];
        double hz = rate(loud, n_spin_hits), own,
               by_time = hz * (double) quiet->tasks[WORKLOAD_CALL].once_ns / 1e3;

        if (time->n == 0 || (quiet->tasks[t].n == 0 && t != WORKLOAD_SPIN))
                return 0;
        own = t == WORKLOAD_SPIN ? 0 : (double) n_hits - hz * (double) lasts_ns(time) / 1e9;
        if (own * RARE >= time->n)
                by_time += share(quiet, t, own / time->n);
        return by_time < UINT32_MAX ? (uint32_t) by_time : UINT32_MAX;
}

uint32_t hook_cost_fixed_ppm(const Workload *quiet, WorkloadTask t) {
        return quiet->tasks[t].n > 0 ? share(quiet, t, fixed_hooks[t]) : 0;
}
