/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/census.h"
#include "step-builder.h"
#include "unit.h"

START_TEST(where_only_ends_are_recorded_each_is_a_call)
        {
                _cleanup_census_ Census c = { .only_exits = true };
                Step ends[] = { step_leave(&step_module, 2, 5), step_leave(&step_child, 1, 9),
                                step_leave(&step_root, 0, 20), step_leave(&step_root, 0, 30) };

                for (size_t i = 0; i < ELEMENTSOF(ends); i++)
                        ck_assert_int_eq(census_step(&c, &ends[i]), 0);
                census_finish(&c);
                ck_assert_uint_eq(c.n_entries, 4);
                ck_assert_uint_eq(c.n_trees, 2);
                ck_assert_uint_eq(c.n_trees_complete, 2);
                ck_assert_uint_eq(c.n_below, 2);
                ck_assert_uint_eq(c.n_unmatched_exits + c.n_cut_exits, 0);
        }
END_TEST

static void feed(Census *c, Step s) {
        ck_assert_int_eq(census_step(c, &s), 0);
}

START_TEST(whole_trees_have_everything_in_pairs)
        {
                _cleanup_census_ Census c = {};

                for (int i = 0; i < 3; i++) {
                        feed(&c, step_enter(&step_root, 0));
                        feed(&c, step_leaf(&step_child, 1, 5));
                        feed(&c, step_enter(&step_child, 1));
                        feed(&c, step_leaf(&step_module, 2, 5));
                        feed(&c, step_leave(&step_child, 1, 5));
                        feed(&c, step_leave(&step_root, 0, 5));
                }
                feed(&c, step_leaf(&step_root, 0, 5));
                census_finish(&c);
                ck_assert_uint_eq(c.n_entries, 13);
                ck_assert_uint_eq(c.n_exits, 13);
                ck_assert_uint_eq(c.n_trees, 4);
                ck_assert_uint_eq(c.n_trees_complete, 4);
                ck_assert_uint_eq(c.n_below, 9);
                ck_assert_uint_eq(c.n_unmatched_entries + c.n_unmatched_exits, 0);
                ck_assert_uint_eq(c.n_cut_entries + c.n_cut_exits, 0);
                ck_assert_uint_eq(c.n_cpus, 1);
        }
END_TEST

START_TEST(what_the_ends_cut_off_is_not_called_missing)
        {
                _cleanup_census_ Census c = {};

                feed(&c, step_leave(&step_child, 2, 5));
                feed(&c, step_leaf(&step_child, 2, 5));
                feed(&c, step_leave(&step_child, 1, 5));
                feed(&c, step_leave(&step_root, 0, 5));
                feed(&c, step_enter(&step_root, 0));
                feed(&c, step_enter(&step_child, 1));
                census_finish(&c);
                ck_assert_uint_eq(c.n_cut_exits, 3);
                ck_assert_uint_eq(c.n_cut_entries, 2);
                ck_assert_uint_eq(c.n_unmatched_entries + c.n_unmatched_exits, 0);
                ck_assert_uint_eq(c.n_trees, 1);
                ck_assert_uint_eq(c.n_trees_complete, 0);
        }
END_TEST

START_TEST(what_is_missing_in_the_middle_is_counted)
        {
                _cleanup_census_ Census c = {};

                feed(&c, step_enter(&step_root, 0));
                feed(&c, step_enter(&step_child, 1));
                feed(&c, step_enter(&step_child, 2));
                feed(&c, step_leave(&step_root, 0, 5)); /* two returns are missing */
                feed(&c, step_enter(&step_root, 0));    /* and here a call */
                feed(&c, step_leave(&step_child, 1, 5));
                feed(&c, step_leave(&step_child, 0, 5)); /* not what is open there */
                census_finish(&c);
                ck_assert_uint_eq(c.n_unmatched_entries, 3);
                ck_assert_uint_eq(c.n_unmatched_exits, 2);
                ck_assert_uint_eq(c.n_cut_entries + c.n_cut_exits, 0);
        }
END_TEST

/* An interrupt between the end of a call and its record stands at the call's own depth. */
START_TEST(an_interrupt_before_the_record_of_a_return_is_a_sibling)
        {
                _cleanup_census_ Census c = {};

                feed(&c, step_enter(&step_root, 0));
                feed(&c, step_enter(&step_child, 1));
                feed(&c, step_leaf(&step_module, 2, 5));
                feed(&c, step_enter(&step_module, 1));
                feed(&c, step_leaf(&step_child, 2, 5));
                feed(&c, step_leave(&step_module, 1, 5));
                feed(&c, step_leaf(&step_module, 1, 5));
                feed(&c, step_leave(&step_child, 1, 5));
                feed(&c, step_leave(&step_root, 0, 5));
                census_finish(&c);
                ck_assert_uint_eq(c.n_entries, c.n_exits);
                ck_assert_uint_eq(c.n_unmatched_entries + c.n_unmatched_exits, 0);
                ck_assert_uint_eq(c.n_cut_entries + c.n_cut_exits, 0);
                ck_assert_uint_eq(c.n_trees_complete, 1);
        }
END_TEST

START_TEST(a_return_that_never_comes_is_missing_once_its_caller_has_returned)
        {
                _cleanup_census_ Census c = {};

                feed(&c, step_enter(&step_root, 0));
                feed(&c, step_enter(&step_child, 1));
                feed(&c, step_leaf(&step_module, 1, 5));
                feed(&c, step_leave(&step_root, 0, 5));
                census_finish(&c);
                ck_assert_uint_eq(c.n_unmatched_entries, 1);
                ck_assert_uint_eq(c.n_cut_entries, 0);
        }
END_TEST

START_TEST(ends_of_interrupts_without_a_return_are_counted_apart)
        {
                const Function irq_exit = { .label = "irq_exit_rcu", .n_label = 12, .root = -1 };
                _cleanup_census_ Census c = {};

                feed(&c, step_enter(&step_root, 0));
                feed(&c, step_enter(&irq_exit, 1));
                feed(&c, step_leave(&irq_exit, 1, 5));
                feed(&c, step_enter(&irq_exit, 1));
                feed(&c, step_leaf(&step_child, 1, 5));
                feed(&c, step_enter(&step_child, 1));
                feed(&c, step_leave(&step_root, 0, 5));
                feed(&c, step_enter(&step_root, 0));
                feed(&c, step_enter(&irq_exit, 1)); /* the end cuts it off */
                census_finish(&c);
                ck_assert_uint_eq(c.n_unmatched_entries, 2);
                ck_assert_uint_eq(c.n_unmatched_irq_exits, 1);
                ck_assert_uint_eq(c.n_cut_entries, 2);
        }
END_TEST

START_TEST(losses_are_counted_and_make_no_cpu)
        {
                _cleanup_census_ Census c = {};
                Step lost = { .kind = STEP_LOST, .cpu = 3, .n_lost = 7 };
                Step other = { .kind = STEP_OTHER, .cpu = 1, .timestamp_ns = 5 };

                feed(&c, lost);
                lost.n_lost = 0;
                feed(&c, lost);
                feed(&c, other);
                census_finish(&c);
                ck_assert_uint_eq(c.n_gaps, 2);
                ck_assert_uint_eq(c.n_lost, 7);
                ck_assert_uint_eq(c.n_cpus, 1);
                ck_assert_uint_eq(c.first_ns, 5);
        }
END_TEST

START_TEST(the_deepest_possible_stack_is_counted)
        {
                _cleanup_census_ Census c = {};

                for (int32_t depth = 0; depth <= 1023; depth++)
                        feed(&c, step_enter(&step_root, depth));
                for (int32_t depth = 1023; depth >= 0; depth--)
                        feed(&c, step_leave(&step_root, depth, 1));
                census_finish(&c);
                ck_assert_uint_eq(c.n_unmatched_entries + c.n_unmatched_exits, 0);
                ck_assert_uint_eq(c.n_trees_complete, 1);
                ck_assert_uint_eq(c.n_below, 1023);
        }
END_TEST

/* --- trees ------------------------------------------------------------------------------------ */

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

UNIT_SUITE("census", a_tree_is_from_its_root_to_its_root,
           a_lost_end_is_noticed_at_the_next_step_above,
           an_interrupt_before_the_record_of_the_root_does_not_end_it_twice,
           a_return_from_what_was_never_entered_is_stray,
           a_return_whose_entry_may_be_lost_is_not_stray,
           a_return_that_an_interrupt_was_ahead_of_is_not_stray,
           tasks_do_not_mix_and_each_cpu_has_its_idle_task, whole_trees_have_everything_in_pairs,
           what_the_ends_cut_off_is_not_called_missing, what_is_missing_in_the_middle_is_counted,
           an_interrupt_before_the_record_of_a_return_is_a_sibling,
           a_return_that_never_comes_is_missing_once_its_caller_has_returned,
           ends_of_interrupts_without_a_return_are_counted_apart,
           losses_are_counted_and_make_no_cpu, where_only_ends_are_recorded_each_is_a_call,
           the_deepest_possible_stack_is_counted)
