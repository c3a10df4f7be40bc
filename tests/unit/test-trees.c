/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/trees.h"
#include "step-builder.h"
#include "unit.h"

static Place place(Stacks *t, Step s) {
        TaskTree *task = trees_task(t, &s);

        ck_assert_ptr_nonnull(task);
        return task_tree_place(task, &s);
}

START_TEST(a_tree_is_from_its_root_to_its_root)
        {
                _cleanup_(trees_done) Stacks t = {};

                ck_assert_int_eq(place(&t, step_enter(&step_child, 0)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_enter(&step_root, 2)), PLACE_ROOT);
                ck_assert_int_eq(place(&t, step_enter(&step_child, 3)), PLACE_INSIDE);
                ck_assert_int_eq(place(&t, step_leaf(&step_root, 4, 1)), PLACE_INSIDE);
                ck_assert_int_eq(place(&t, step_leave(&step_child, 3, 1)), PLACE_INSIDE);
                ck_assert_int_eq(place(&t, step_leave(&step_root, 2, 1)), PLACE_END);
                ck_assert_int_eq(place(&t, step_leaf(&step_child, 2, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_leaf(&step_root, 2, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(&t, step_leaf(&step_child, 3, 1)), PLACE_OUTSIDE);
        }
END_TEST

START_TEST(a_lost_end_is_noticed_at_the_next_step_above)
        {
                _cleanup_(trees_done) Stacks t = {};

                ck_assert_int_eq(place(&t, step_enter(&step_root, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(&t, step_enter(&step_root, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(&t, step_enter(&step_child, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_enter(&step_root, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(&t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_leave(&step_root, 1, 1)), PLACE_OUTSIDE);
        }
END_TEST

START_TEST(an_interrupt_before_the_record_of_the_root_does_not_end_it_twice)
        {
                _cleanup_(trees_done) Stacks t = {};

                ck_assert_int_eq(place(&t, step_enter(&step_root, 0)), PLACE_ROOT);
                ck_assert_int_eq(place(&t, step_enter(&step_child, 0)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_leaf(&step_module, 1, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(&t, step_leave(&step_root, 0, 1)), PLACE_END);
                ck_assert_int_eq(place(&t, step_leave(&step_root, 0, 1)), PLACE_OUTSIDE);
        }
END_TEST

static int is_stray(Stacks *t, Step s, uint64_t n_lost) {
        TaskTree *task = trees_task(t, &s);

        return task_tree_is_stray(task, &s, task_tree_place(task, &s), n_lost);
}

START_TEST(a_return_from_what_was_never_entered_is_stray)
        {
                _cleanup_(trees_done) Stacks t = {};

                ck_assert(!is_stray(&t, step_enter(&step_root, 2), 0));
                ck_assert(is_stray(&t, step_leave(&step_child, 3, 1), 0));
                ck_assert(!is_stray(&t, step_enter(&step_child, 3), 0));
                ck_assert(is_stray(&t, step_leave(&step_module, 4, 1), 0));
                ck_assert(!is_stray(&t, step_leave(&step_child, 3, 1), 0));
                ck_assert(is_stray(&t, step_leave(&step_child, 3, 1), 0));
                ck_assert(!is_stray(&t, step_leave(&step_root, 2, 1), 0));
        }
END_TEST

START_TEST(a_return_whose_entry_may_be_lost_is_not_stray)
        {
                _cleanup_(trees_done) Stacks t = {};

                ck_assert(!is_stray(&t, step_enter(&step_root, 0), 7));
                ck_assert(!is_stray(&t, step_leave(&step_child, 1, 1), 8));
                ck_assert(!is_stray(&t, step_leave(&step_root, 0, 1), 8));
                ck_assert(!is_stray(&t, step_enter(&step_root, 0), 8));
                ck_assert(is_stray(&t, step_leave(&step_child, 1, 1), 8));
        }
END_TEST

START_TEST(a_return_that_an_interrupt_was_ahead_of_is_not_stray)
        {
                _cleanup_(trees_done) Stacks t = {};

                ck_assert(!is_stray(&t, step_enter(&step_root, 0), 0));
                ck_assert(!is_stray(&t, step_enter(&step_child, 1), 0));
                ck_assert(!is_stray(&t, step_enter(&step_module, 1), 0));
                ck_assert(!is_stray(&t, step_leave(&step_module, 1, 1), 0));
                ck_assert(!is_stray(&t, step_leave(&step_child, 1, 1), 0));
                ck_assert(!is_stray(&t, step_enter(&step_child, TREES_DEPTHS), 0));
                ck_assert(!is_stray(&t, step_leave(&step_module, TREES_DEPTHS, 1), 0));
        }
END_TEST

START_TEST(tasks_do_not_mix_and_each_cpu_has_its_idle_task)
        {
                _cleanup_(trees_done) Stacks t = {};

                for (int32_t pid = 1; pid <= 1000; pid++) {
                        Step s = step_enter(&step_root, 0);

                        s.pid = pid;
                        ck_assert_int_eq(place(&t, s), PLACE_ROOT);
                }
                for (int32_t pid = 1; pid <= 1000; pid++) {
                        Step s = step_leaf(&step_child, 1, 1);

                        s.pid = pid;
                        s.cpu = 5;
                        ck_assert_int_eq(place(&t, s), PLACE_INSIDE);
                }
                ck_assert_uint_eq(t.n, 1000);
                for (uint32_t cpu = 0; cpu < 3; cpu++) {
                        Step s = step_enter(&step_root, 0);

                        s.pid = 0;
                        s.cpu = cpu;
                        ck_assert_int_eq(place(&t, s), PLACE_ROOT);
                }
                ck_assert_uint_eq(t.n, 1003);
        }
END_TEST

UNIT_SUITE("trees", a_tree_is_from_its_root_to_its_root,
           a_lost_end_is_noticed_at_the_next_step_above,
           an_interrupt_before_the_record_of_the_root_does_not_end_it_twice,
           a_return_from_what_was_never_entered_is_stray,
           a_return_whose_entry_may_be_lost_is_not_stray,
           a_return_that_an_interrupt_was_ahead_of_is_not_stray,
           tasks_do_not_mix_and_each_cpu_has_its_idle_task)
