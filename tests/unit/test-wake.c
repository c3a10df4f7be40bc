/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "export/wake.h"
#include "unit.h"

static Wake says(const char *text, Woken *ret) {
        return wake_of(&(Step){ .kind = STEP_OTHER, .text = text }, ret);
}

START_TEST(events_of_the_scheduler_name_who_is_woken_and_who_runs)
        {
                Woken who = {};

                ck_assert_int_eq(
                        says("sched_wakeup: comm=server pid=17 prio=120 target_cpu=001", &who),
                        WAKE_WAKES);
                ck_assert_int_eq(who.pid, 17);
                ck_assert_int_eq(says("sched_switch: prev_comm=a prev_pid=16 prev_prio=120 "
                                      "prev_state=S ==> next_comm=b next_pid=18 next_prio=120",
                                      &who),
                                 WAKE_RUNS);
                ck_assert_int_eq(who.pid, 18);
                ck_assert_str_eq(who.comm, "b");
        }
END_TEST

START_TEST(a_name_cannot_pretend_to_be_a_pid)
        {
                Woken who = {};

                ck_assert_int_eq(says("sched_waking: comm=x pid=1 pid=17 prio=120", &who),
                                 WAKE_WAKES);
                ck_assert_int_eq(who.pid, 17);
        }
END_TEST

START_TEST(other_events_say_nothing)
        {
                Woken who = {};

                ck_assert_int_eq(says("sched_migrate_task: comm=a pid=1", &who), WAKE_NONE);
                ck_assert_int_eq(says("sched_wakeup: comm=a pid=x", &who), WAKE_NONE);
                ck_assert_int_eq(says("sched_wakeup: comm=a pid=99999999999999999999", &who),
                                 WAKE_NONE);
                ck_assert_int_eq(says(NULL, &who), WAKE_NONE);
                ck_assert_int_eq(wake_of(&(Step){ .kind = STEP_LOST }, &who), WAKE_NONE);
        }
END_TEST

UNIT_MAIN("wake", events_of_the_scheduler_name_who_is_woken_and_who_runs,
          a_name_cannot_pretend_to_be_a_pid, other_events_say_nothing)
