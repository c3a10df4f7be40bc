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

UNIT_SUITE("census", whole_trees_have_everything_in_pairs,
           what_the_ends_cut_off_is_not_called_missing, what_is_missing_in_the_middle_is_counted,
           an_interrupt_before_the_record_of_a_return_is_a_sibling,
           a_return_that_never_comes_is_missing_once_its_caller_has_returned,
           ends_of_interrupts_without_a_return_are_counted_apart,
           losses_are_counted_and_make_no_cpu, where_only_ends_are_recorded_each_is_a_call,
           the_deepest_possible_stack_is_counted)
