/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/trees.h"
#include "step-builder.h"
#include "unit.h"

static Place place(Trees *t, Step s) {
        TaskTree *task = trees_task(t, &s);

        ck_assert_ptr_nonnull(task);
        return task_tree_place(task, &s);
}

START_TEST(a_tree_is_from_its_root_to_its_root)
        {
                _cleanup_(trees_freep) Trees *t = NULL;

                ck_assert_int_eq(trees_new(&t), 0);
                ck_assert_int_eq(place(t, step_enter(&step_child, 0)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_enter(&step_root, 2)), PLACE_ROOT);
                ck_assert_int_eq(place(t, step_enter(&step_child, 3)), PLACE_INSIDE);
                ck_assert_int_eq(place(t, step_leaf(&step_root, 4, 1)), PLACE_INSIDE);
                ck_assert_int_eq(place(t, step_leave(&step_child, 3, 1)), PLACE_INSIDE);
                ck_assert_int_eq(place(t, step_leave(&step_root, 2, 1)), PLACE_END);
                ck_assert_int_eq(place(t, step_leaf(&step_child, 2, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_leaf(&step_root, 2, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(t, step_leaf(&step_child, 3, 1)), PLACE_OUTSIDE);
        }
END_TEST

START_TEST(a_lost_end_is_noticed_at_the_next_step_above)
        {
                _cleanup_(trees_freep) Trees *t = NULL;

                ck_assert_int_eq(trees_new(&t), 0);
                ck_assert_int_eq(place(t, step_enter(&step_root, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(t, step_enter(&step_root, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(t, step_enter(&step_child, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_enter(&step_root, 1)), PLACE_ROOT);
                ck_assert_int_eq(place(t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_leave(&step_root, 1, 1)), PLACE_OUTSIDE);
        }
END_TEST

START_TEST(an_interrupt_before_the_record_of_the_root_does_not_end_it_twice)
        {
                _cleanup_(trees_freep) Trees *t = NULL;

                ck_assert_int_eq(trees_new(&t), 0);
                ck_assert_int_eq(place(t, step_enter(&step_root, 0)), PLACE_ROOT);
                ck_assert_int_eq(place(t, step_enter(&step_child, 0)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_leaf(&step_module, 1, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
                ck_assert_int_eq(place(t, step_leave(&step_root, 0, 1)), PLACE_END);
                ck_assert_int_eq(place(t, step_leave(&step_root, 0, 1)), PLACE_OUTSIDE);
        }
END_TEST

START_TEST(tasks_do_not_mix_and_each_cpu_has_its_idle_task)
        {
                _cleanup_(trees_freep) Trees *t = NULL;

                ck_assert_int_eq(trees_new(&t), 0);
                for (int32_t pid = 1; pid <= 1000; pid++) {
                        Step s = step_enter(&step_root, 0);

                        s.pid = pid;
                        ck_assert_int_eq(place(t, s), PLACE_ROOT);
                }
                for (int32_t pid = 1; pid <= 1000; pid++) {
                        Step s = step_leaf(&step_child, 1, 1);

                        s.pid = pid;
                        s.cpu = 5;
                        ck_assert_int_eq(place(t, s), PLACE_INSIDE);
                }
                ck_assert_uint_eq(trees_n(t), 1000);
                for (uint32_t cpu = 0; cpu < 3; cpu++) {
                        Step s = step_enter(&step_root, 0);

                        s.pid = 0;
                        s.cpu = cpu;
                        ck_assert_int_eq(place(t, s), PLACE_ROOT);
                }
                ck_assert_uint_eq(trees_n(t), 1003);
        }
END_TEST

UNIT_MAIN("trees", a_tree_is_from_its_root_to_its_root,
          a_lost_end_is_noticed_at_the_next_step_above,
          an_interrupt_before_the_record_of_the_root_does_not_end_it_twice,
          tasks_do_not_mix_and_each_cpu_has_its_idle_task)
