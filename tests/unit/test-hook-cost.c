/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What hooks cost ordinary work: the work itself, and what follows from how often it calls them. */

#include "daemon/lean/hook-cost.h"
#include "scratch.h"

#define CALL_NS 100
#define FORK_NS 200000
#define SPIN_NS UINT64_C(10000000)

/* Nothing hooked: a call takes 100 ns, forking 200 us. */
static Workload make_quiet(void) {
        Workload t = {};

        t.tasks[WORKLOAD_CALL] = (WorkloadTime){ 0, 1000, CALL_NS, 10 };
        t.tasks[WORKLOAD_FORK] = (WorkloadTime){ 1000, 2001000, FORK_NS, 10 };
        return t;
}

/* Counted: 10 processes and what they left behind take 20 ms, then nothing is done for 10 ms. */
static Workload make_loud(void) {
        Workload t = make_quiet();

        t.tasks[WORKLOAD_FORK].to_ns = 1000 + 2 * SPIN_NS;
        t.tasks[WORKLOAD_SPIN] = (WorkloadTime){ 0, SPIN_NS, SPIN_NS / 5, 5 };
        return t;
}

START_TEST(a_call_each_time_costs_its_share_of_the_time)
        {
                const Workload quiet = make_quiet(), loud = make_loud();

                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 10, 0), 500);
                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 40, 0), 2000);
        }
END_TEST

START_TEST(what_came_by_once_is_not_the_tasks)
        {
                const Workload quiet = make_quiet(), loud = make_loud();

                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 1, 0), 0);
                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 0, 0), 0);
        }
END_TEST

/* 1000 hits in 10 ms are 100,000 a second, which take 100 ns each: a hundredth of the time. */
START_TEST(what_comes_with_time_alone_costs_every_task_the_same)
        {
                const Workload quiet = make_quiet(), loud = make_loud();

                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_SPIN, 1000, 1000), 10000);
                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 2000, 1000), 10000);
                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 0, 1000), 10000);
        }
END_TEST

START_TEST(what_a_task_calls_beside_the_ticks_is_added_to_them)
        {
                const Workload quiet = make_quiet(), loud = make_loud();

                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 2010, 1000), 10500);
        }
END_TEST

START_TEST(a_task_that_could_not_be_done_costs_nothing)
        {
                Workload quiet = make_quiet(), loud = make_loud();

                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_PIPE, 10, 10), 0);
                quiet.tasks[WORKLOAD_FORK].n = 0;
                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_FORK, 10, 0), 0);
                ck_assert_uint_eq(hook_cost_fixed_ppm(&quiet, WORKLOAD_FORK), 0);
                loud.tasks[WORKLOAD_SPIN].n = 0;
                ck_assert_uint_eq(hook_cost_ppm(&quiet, &loud, WORKLOAD_SPIN, 10, 10), 0);
        }
END_TEST

START_TEST(forking_and_switching_cost_something_whatever_is_hooked)
        {
                Workload quiet = make_quiet();

                quiet.tasks[WORKLOAD_PIPE] = (WorkloadTime){ 0, 10, 10000, 1 };
                ck_assert_uint_eq(hook_cost_fixed_ppm(&quiet, WORKLOAD_FORK), 4000);
                ck_assert_uint_eq(hook_cost_fixed_ppm(&quiet, WORKLOAD_PIPE), 6666);
                ck_assert_uint_eq(hook_cost_fixed_ppm(&quiet, WORKLOAD_READ), 0);
        }
END_TEST

/* The windows do not overlap; what is counted lasts until what was left to do is done. */
static void run_workload(bool is_counted, Workload *ret) {
        _cleanup_(workload_freep) WorkloadChild *child = NULL;

        ck_assert_int_eq(workload_start(&child), 0);
        ck_assert_int_eq(workload_run(child, is_counted, ret), 0);
        for (WorkloadTask t = 0; t < WORKLOAD_SPIN; t++) {
                ck_assert_uint_gt(ret->tasks[t].n, 0);
                ck_assert_uint_gt(ret->tasks[t].to_ns, ret->tasks[t].from_ns);
                if (t > 0)
                        ck_assert_uint_ge(ret->tasks[t].from_ns, ret->tasks[t - 1].to_ns);
        }
}

START_TEST(what_is_not_counted_is_not_waited_for)
        {
                Workload t;

                run_workload(false, &t);
                ck_assert_uint_eq(t.tasks[WORKLOAD_SPIN].n, 0);
        }
END_TEST

START_TEST(what_is_counted_lasts_until_it_has_settled)
        {
                const uint64_t settled_ns = WORKLOAD_SETTLE_MS * UINT64_C(1000000);
                Workload t;

                run_workload(true, &t);
                ck_assert_uint_ge(t.tasks[WORKLOAD_FORK].to_ns - t.tasks[WORKLOAD_FORK].from_ns,
                                  settled_ns);
                ck_assert_uint_ge(t.tasks[WORKLOAD_SPIN].from_ns, t.tasks[WORKLOAD_FORK].to_ns);
                ck_assert_uint_ge(t.tasks[WORKLOAD_SPIN].to_ns - t.tasks[WORKLOAD_SPIN].from_ns,
                                  settled_ns / 5 * 5);
                ck_assert_uint_ge(t.n_pids, 2);
        }
END_TEST

UNIT_SUITE("hook-cost", a_call_each_time_costs_its_share_of_the_time,
           what_came_by_once_is_not_the_tasks, what_comes_with_time_alone_costs_every_task_the_same,
           what_a_task_calls_beside_the_ticks_is_added_to_them,
           a_task_that_could_not_be_done_costs_nothing,
           forking_and_switching_cost_something_whatever_is_hooked,
           what_is_not_counted_is_not_waited_for, what_is_counted_lasts_until_it_has_settled)
