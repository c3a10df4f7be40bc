/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/unit.h"
#include "meta/clock.h"
#include "tests/unit/unit.h"

#define SEC NSEC_PER_SEC

/* A trace clock at 100 s, the host up since 500 s before that, in year 1970 and a bit. */
static const ClockTuple start = { 100 * SEC, 100 * SEC, 600 * SEC, 10000 * SEC };

/* @passed later; the clock was set by @set and the host slept for @slept since the start. */
static ClockTuple later(uint64_t passed, int64_t set, uint64_t slept) {
        return (ClockTuple){ .trace_ns = start.trace_ns + passed,
                             .monotonic_ns = start.monotonic_ns + passed,
                             .boottime_ns = start.boottime_ns + passed + slept,
                             .realtime_ns = start.realtime_ns + passed + slept + (uint64_t) set };
}

TEST(clocks_that_go_by_themselves_are_no_step) {
        ClockSteps steps = {};
        ClockTuple now = later(7 * SEC, CLOCK_STEP_NS_MIN - 1, 0);

        ck_assert_int_eq(clock_steps_note(&steps, &start, &now), 0);
        now = later(7 * SEC, 1 - CLOCK_STEP_NS_MIN, CLOCK_STEP_NS_MIN - 1);
        ck_assert_int_eq(clock_steps_note(&steps, &start, &now), 0);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, 107 * SEC), 10007 * SEC);
}

TEST(times_before_and_after_each_step_are_the_wall_clock_of_their_time) {
        ClockSteps steps = {};
        ClockTuple forward = later(10 * SEC, 3600 * SEC, 0),
                   back = later(20 * SEC, -7200 * (int64_t) SEC, 0),
                   slept = later(30 * SEC, -7200 * (int64_t) SEC, 50 * SEC);

        ck_assert_int_eq(clock_steps_note(&steps, &start, &forward), 1);
        ck_assert_int_eq(clock_steps_note(&steps, &start, &back), 1);
        ck_assert_int_eq(clock_steps_note(&steps, &start, &slept), 1);
        ck_assert_int_eq(clock_steps_note(&steps, &start, &slept), 0);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, 99 * SEC), 9999 * SEC);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, 109 * SEC), 10009 * SEC);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, 110 * SEC), 13610 * SEC);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, 119 * SEC), 13619 * SEC);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, 121 * SEC), 2821 * SEC);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, 131 * SEC), 2881 * SEC);
        clock_steps_done(&steps);
}

TEST(a_sleep_is_not_taken_for_a_clock_that_was_set) {
        ClockTuple now = later(5 * SEC, -30 * (int64_t) SEC, 20 * SEC);
        ClockShift shift = clock_shift(&start, &now);

        ck_assert_int_eq(shift.slept_ns, 20 * (int64_t) SEC);
        ck_assert_int_eq(shift.set_ns, -30 * (int64_t) SEC);
}

TEST(too_many_steps_keep_the_last_one_right) {
        ClockSteps steps = {};
        uint64_t n = CLOCK_STEPS_MAX + 10;

        for (uint64_t i = 1; i <= n; i++) {
                ClockTuple now = later(i * SEC, (int64_t) (i * SEC), 0);

                ck_assert_int_eq(clock_steps_note(&steps, &start, &now), 1);
        }
        ck_assert_uint_eq(steps.n, CLOCK_STEPS_MAX);
        ck_assert_uint_eq(clock_steps_realtime(&steps, &start, (100 + n) * SEC),
                          (10000 + 2 * n) * SEC);
        clock_steps_done(&steps);
}

TEST(steps_survive_a_round_trip) {
        ClockSteps steps = {}, again = {};
        ClockTuple now = later(10 * SEC, 3600 * SEC, 0);
        json_t *list;

        ck_assert_int_eq(clock_steps_note(&steps, &start, &now), 1);
        list = json_list_new(&clock_step_table, &steps);
        ck_assert_int_eq(json_list_read(&again, &clock_step_table, list), 0);
        ck_assert_uint_eq(again.n, 1);
        ck_assert_mem_eq(again.items, steps.items, sizeof(*steps.items));
        json_decref(list);
        clock_steps_done(&steps);
        clock_steps_done(&again);
}

TEST(what_no_daemon_wrote_is_refused) {
        static const char *const bad[] = {
                "{}",
                "[1]",
                "[null]",
                "[{}]",
                "[{\"trace_ns\":-1}]",
                "[{\"trace_ns\":5,\"realtime_ns\":1},{\"trace_ns\":4,\"realtime_ns\":1}]",
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                json_t *list = json_loads(bad[i], JSON_DECODE_ANY, NULL);
                ClockSteps steps = {};

                ck_assert_msg(json_list_read(&steps, &clock_step_table, list) ==
                                      JSON_FIELD_E_INVALID,
                              "%s", bad[i]);
                clock_steps_done(&steps);
                json_decref(list);
        }
}
