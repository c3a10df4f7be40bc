/* SPDX-License-Identifier: GPL-2.0-or-later */

/* In each nanosecond one thing happens at most, so that no order is a matter of chance. */

#include <check.h>

#include "task-simulator.h"

int sim_draw(Sim *s, int n) {
        return (int) ((unsigned) rand_r(&s->seed) / 7 % (unsigned) n);
}

static SimEvent *add(Sim *s, uint64_t at_ns, int cpu) {
        SimEvent *e = &s->events[s->n_events++];

        *e = (SimEvent){ .at_ns = at_ns, .cpu = cpu, .task = -1, .other = -1, .state = 'R' };
        return e;
}

static int pick(Sim *s, int state) {
        int first = sim_draw(s, s->n_tasks);

        for (int i = 0; i < s->n_tasks; i++)
                if ((int) s->tasks[(first + i) % s->n_tasks].state == state)
                        return (first + i) % s->n_tasks;
        return -1;
}

static void switch_cpu(Sim *s, uint64_t at_ns, int cpu, char state) {
        int from = s->running[cpu], to = pick(s, WAITS_FOR_CPU);
        SimEvent *e;

        if (from < 0 && to < 0)
                return;
        e = add(s, at_ns, cpu);
        e->kind = SIM_SWITCH;
        e->task = from;
        e->other = to;
        e->state = state;
        if (from >= 0) {
                s->tasks[from].state = state == 'R' ? WAITS_FOR_CPU : SLEEPS;
                s->tasks[from].sleep = s->n_sleeps;
                if (state != 'R')
                        s->sleeps[s->n_sleeps++] = (SimSleep){ .left_ns = at_ns };
        }
        if (to >= 0) {
                s->tasks[to].was_seen = true;
                s->tasks[to].state = RUNS;
                s->tasks[to].cpu = cpu;
        }
        s->running[cpu] = to;
}

/* @by: -1, an interrupt. */
static void sim_wake(Sim *s, uint64_t at_ns, int cpu, int by) {
        int who = pick(s, SLEEPS);
        SimEvent *e;

        if (who < 0)
                return;
        e = add(s, at_ns, cpu);
        e->kind = SIM_WAKE;
        e->task = by;
        e->other = who;
        s->tasks[who].state = WAITS_FOR_CPU;
        s->sleeps[s->tasks[who].sleep].woken_ns = at_ns;
        s->sleeps[s->tasks[who].sleep].by = by;
}

static void call_or_return(Sim *s, uint64_t at_ns, int cpu, int task) {
        SimTask *t = &s->tasks[task];
        SimEvent *e = add(s, at_ns, cpu);

        e->task = task;
        if (t->n_open > 0 && (t->n_open == SIM_DEPTH || sim_draw(s, 2))) {
                t->n_open--;
                e->kind = SIM_LEAVE;
                e->function = t->open[t->n_open].function;
                e->since_ns = t->open[t->n_open].begin_ns;
        } else {
                e->kind = SIM_ENTER;
                e->function = &s->functions[sim_draw(s, SIM_FUNCTIONS)];
                t->open[t->n_open] = (struct SimOpen){ e->function, at_ns };
                t->n_open++;
        }
        e->depth = t->n_open - (e->kind == SIM_ENTER);
}

/* One thing happens in a nanosecond at most, and counts from it on. */
static void happen(Sim *s, uint64_t at_ns) {
        int cpu = sim_draw(s, s->n_cpus), task = s->running[cpu];

        if (task < 0) {
                if (sim_draw(s, 3) == 0)
                        sim_wake(s, at_ns, cpu, -1);
                else
                        switch_cpu(s, at_ns, cpu, 'R');
                return;
        }
        switch (sim_draw(s, 12)) {
        case 0:
                switch_cpu(s, at_ns, cpu, sim_draw(s, 2) ? 'S' : 'D');
                break;
        case 1:
                if (pick(s, WAITS_FOR_CPU) >= 0)
                        switch_cpu(s, at_ns, cpu, 'R');
                break;
        case 2:
                sim_wake(s, at_ns, cpu, -1);
                break;
        case 3:
        case 4:
        case 5:
                sim_wake(s, at_ns, cpu, task);
                break;
        default:
                call_or_return(s, at_ns, cpu, task);
        }
}

/* Everything that was called returns, afterwards: what is not seen to return has no end. */
static void wind_up(Sim *s) {
        uint64_t at_ns = SIM_NS + SIM_FIRST_NS;

        for (int i = 0; i < s->n_tasks; i++) {
                SimTask *t = &s->tasks[i];
                SimEvent *e;

                if (t->n_open > 0 && t->state != RUNS) {
                        e = add(s, at_ns++, 0);
                        e->kind = SIM_SWITCH;
                        e->task = s->running[0];
                        e->other = s->running[0] = i;
                        t->cpu = 0;
                }
                while (t->n_open > 0) {
                        t->n_open--;
                        e = add(s, at_ns++, t->cpu);
                        e->kind = SIM_LEAVE;
                        e->task = i;
                        e->depth = t->n_open;
                        e->function = t->open[t->n_open].function;
                        e->since_ns = t->open[t->n_open].begin_ns;
                }
        }
}

void sim_run(Sim *s, unsigned seed, const Function *functions) {
        int gap;

        *s = (Sim){ .seed = seed, .functions = functions };
        s->n_cpus = 1 + sim_draw(s, SIM_CPUS_MAX);
        s->n_tasks = 2 + sim_draw(s, SIM_TASKS - 1);
        gap = 1 + sim_draw(s, 12);
        for (int c = 0; c < s->n_cpus; c++)
                s->running[c] = -1;
        for (int i = 0; i < s->n_tasks; i++)
                s->tasks[i].state = WAITS_FOR_CPU;
        for (uint64_t ns = 0; ns < SIM_NS; ns++) {
                if (sim_draw(s, gap) == 0)
                        happen(s, ns + SIM_FIRST_NS);
                for (int i = 0; i < s->n_tasks; i++) {
                        const SimTask *t = &s->tasks[i];

                        s->moments[i][ns] = (SimMoment){
                                .kind = !t->was_seen                ? PATH_UNKNOWN
                                        : t->state == RUNS          ? PATH_RAN
                                        : t->state == WAITS_FOR_CPU ? PATH_QUEUED
                                                                    : _PATH_KIND_N,
                                .function = t->n_open > 0 ? t->open[t->n_open - 1].function : NULL,
                                .sleep = t->sleep,
                        };
                }
        }
        s->n_seen = s->n_events;
        wind_up(s);
}

/* Backwards from @end to @begin, both relative; what is there is filled. */
void sim_truth(const Sim *s, SimTruth *truth, int task, uint64_t end, uint64_t begin,
               uint32_t depth) {
        while (end > begin) {
                const SimMoment *m = &s->moments[task][end - 1];
                uint64_t left;

                truth[end - 1] = (SimTruth){ m->kind, task, depth, m->function };
                if (m->kind != _PATH_KIND_N) {
                        end--;
                        continue;
                }
                /* It sleeps, and was woken at @end, as it is not asleep there. */
                left = MAX(s->sleeps[m->sleep].left_ns - SIM_FIRST_NS, begin);
                ck_assert_uint_eq(s->sleeps[m->sleep].woken_ns - SIM_FIRST_NS, end);
                if (s->sleeps[m->sleep].by >= 0)
                        sim_truth(s, truth, s->sleeps[m->sleep].by, end, left, depth + 1);
                for (; end > left; end--)
                        if (s->sleeps[m->sleep].by < 0)
                                truth[end - 1] =
                                        (SimTruth){ PATH_INTERRUPT, task, depth, m->function };
        }
}
