/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/census.h"
#include "step-builder.h"
#include "unit.h"

static void feed(Census *c, Step s) {
        ck_assert_int_eq(census_step(c, &s), 0);
}

#define STACKS_TEST(name) TEST_WITH(name, (Stacks * t), _cleanup_(stacks_done) Stacks t = {}, &t)

/* What is counted: entries, exits; trees, of them complete ones, and what is below; entries and exits without a partner;
 * of these entries ends of interrupts. */
#define EXPECT(wanted, only_exits, ...)                                                            \
        expect((wanted), (only_exits), (const Step[]){ __VA_ARGS__ },                              \
               sizeof((const Step[]){ __VA_ARGS__ }) / sizeof(Step))
static void expect(const char *wanted, bool only_exits, const Step *steps, size_t n) {
        _cleanup_census_ Census c = { .only_exits = only_exits };
        char text[160];

        for (size_t i = 0; i < n; i++)
                feed(&c, steps[i]);
        (void) snprintf(text, sizeof(text), "%d/%d trees %d/%d/%d unmatched %d/%d irq %d",
                        (int) c.n_entries, (int) c.n_exits, (int) c.n_trees,
                        (int) c.n_trees_complete, (int) c.n_below, (int) c.n_unmatched_entries,
                        (int) c.n_unmatched_exits, (int) c.n_unmatched_irq_exits);
        ck_assert_str_eq(text, wanted);
}

TEST(whole_trees_have_everything_in_pairs) {
        EXPECT("6/6 trees 2/2/4 unmatched 0/0 irq 0", false, step_enter(&step_root, 0),
               step_leaf(&step_child, 1, 5), step_enter(&step_child, 1),
               step_leaf(&step_module, 2, 5), step_leave(&step_child, 1, 5),
               step_leaf(&step_child, 1, 5), step_leave(&step_root, 0, 5),
               step_leaf(&step_root, 0, 5));
        /* Where only ends are recorded each is a call. */
        EXPECT("4/4 trees 2/2/2 unmatched 0/0 irq 0", true, step_leave(&step_module, 2, 5),
               step_leave(&step_child, 1, 9), step_leave(&step_root, 0, 20),
               step_leave(&step_root, 0, 30));
        /* An interrupt between the end of a call and its record stands at the call's own depth. */
        EXPECT("6/6 trees 1/1/5 unmatched 0/0 irq 0", false, step_enter(&step_root, 0),
               step_enter(&step_child, 1), step_leaf(&step_module, 2, 5),
               step_enter(&step_module, 1), step_leaf(&step_child, 2, 5),
               step_leave(&step_module, 1, 5), step_leaf(&step_module, 1, 5),
               step_leave(&step_child, 1, 5), step_leave(&step_root, 0, 5));
}

TEST(what_is_missing_in_the_middle_is_counted_and_what_the_ends_cut_off_is_not) {
        EXPECT("3/4 trees 1/0/1 unmatched 0/0 irq 0", false, step_leave(&step_child, 2, 5),
               step_leaf(&step_child, 2, 5), step_leave(&step_child, 1, 5),
               step_leave(&step_root, 0, 5), step_enter(&step_root, 0), step_enter(&step_child, 1));
        /* Two returns are missing, then a call, and the last one is not what is open there. */
        EXPECT("4/3 trees 2/1/2 unmatched 3/2 irq 0", false, step_enter(&step_root, 0),
               step_enter(&step_child, 1), step_enter(&step_child, 2), step_leave(&step_root, 0, 5),
               step_enter(&step_root, 0), step_leave(&step_child, 1, 5),
               step_leave(&step_child, 0, 5));
        /* A return that never comes is missing once its caller has returned. */
        EXPECT("3/2 trees 1/1/2 unmatched 1/0 irq 0", false, step_enter(&step_root, 0),
               step_enter(&step_child, 1), step_leaf(&step_module, 1, 5),
               step_leave(&step_root, 0, 5));
}

TEST(ends_of_interrupts_without_a_return_are_counted_apart) {
        const Function irq_exit = { .label = "irq_exit_rcu", .n_label = 12, .root = -1 };

        EXPECT("7/3 trees 2/1/5 unmatched 2/0 irq 1", false, step_enter(&step_root, 0),
               step_enter(&irq_exit, 1), step_leave(&irq_exit, 1, 5), step_enter(&irq_exit, 1),
               step_leaf(&step_child, 1, 5), step_enter(&step_child, 1),
               step_leave(&step_root, 0, 5), step_enter(&step_root, 0),
               step_enter(&irq_exit, 1)); /* the end cuts it off */
}

TEST(losses_are_counted_and_make_no_cpu) {
        _cleanup_census_ Census c = {};
        Step lost = { .kind = STEP_LOST, .cpu = 3, .n_lost = 7 };
        Step other = { .kind = STEP_OTHER, .cpu = 1, .timestamp_ns = 5 };

        feed(&c, lost);
        lost.n_lost = 0;
        feed(&c, lost);
        feed(&c, other);
        ck_assert_uint_eq(c.n_gaps, 2);
        ck_assert_uint_eq(c.n_lost, 7);
        ck_assert_uint_eq(c.n_cpus, 1);
        ck_assert_uint_eq(c.first_ns, 5);
}

TEST(the_deepest_possible_stack_is_counted) {
        _cleanup_census_ Census c = {};

        for (int32_t depth = 0; depth <= 1023; depth++)
                feed(&c, step_enter(&step_root, depth));
        for (int32_t depth = 1023; depth >= 0; depth--)
                feed(&c, step_leave(&step_root, depth, 1));
        ck_assert_uint_eq(c.n_unmatched_entries + c.n_unmatched_exits, 0);
        ck_assert_uint_eq(c.n_trees_complete, 1);
        ck_assert_uint_eq(c.n_below, 1023);
}

/* --- trees ------------------------------------------------------------------------------------ */

static Place place(Stacks *t, Step s) {
        Stack *stack = trees_get(t, &s);

        ck_assert_ptr_nonnull(stack);
        return task_tree_place(stack, &s);
}

STACKS_TEST(a_tree_is_from_its_root_to_its_root) {
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

STACKS_TEST(a_lost_end_is_noticed_at_the_next_step_above) {
        ck_assert_int_eq(place(t, step_enter(&step_root, 1)), PLACE_ROOT);
        ck_assert_int_eq(place(t, step_enter(&step_root, 1)), PLACE_ROOT);
        ck_assert_int_eq(place(t, step_enter(&step_child, 1)), PLACE_OUTSIDE);
        ck_assert_int_eq(place(t, step_enter(&step_root, 1)), PLACE_ROOT);
        ck_assert_int_eq(place(t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
        ck_assert_int_eq(place(t, step_leave(&step_root, 1, 1)), PLACE_OUTSIDE);
}

STACKS_TEST(an_interrupt_before_the_record_of_the_root_does_not_end_it_twice) {
        ck_assert_int_eq(place(t, step_enter(&step_root, 0)), PLACE_ROOT);
        ck_assert_int_eq(place(t, step_enter(&step_child, 0)), PLACE_OUTSIDE);
        ck_assert_int_eq(place(t, step_leaf(&step_module, 1, 1)), PLACE_OUTSIDE);
        ck_assert_int_eq(place(t, step_leave(&step_child, 0, 1)), PLACE_OUTSIDE);
        ck_assert_int_eq(place(t, step_leave(&step_root, 0, 1)), PLACE_END);
        ck_assert_int_eq(place(t, step_leave(&step_root, 0, 1)), PLACE_OUTSIDE);
}

static int is_stray(Stacks *t, Step s, uint64_t n_lost) {
        Stack *stack = trees_get(t, &s);

        return task_tree_is_stray(stack, &s, task_tree_place(stack, &s), n_lost);
}

STACKS_TEST(a_return_from_what_was_never_entered_is_stray) {
        ck_assert(!is_stray(t, step_enter(&step_root, 2), 0));
        ck_assert(is_stray(t, step_leave(&step_child, 3, 1), 0));
        ck_assert(!is_stray(t, step_enter(&step_child, 3), 0));
        ck_assert(is_stray(t, step_leave(&step_module, 4, 1), 0));
        ck_assert(!is_stray(t, step_leave(&step_child, 3, 1), 0));
        ck_assert(is_stray(t, step_leave(&step_child, 3, 1), 0));
        ck_assert(!is_stray(t, step_leave(&step_root, 2, 1), 0));
}

STACKS_TEST(a_return_whose_entry_may_be_lost_is_not_stray) {
        ck_assert(!is_stray(t, step_enter(&step_root, 0), 7));
        ck_assert(!is_stray(t, step_leave(&step_child, 1, 1), 8));
        ck_assert(!is_stray(t, step_leave(&step_root, 0, 1), 8));
        ck_assert(!is_stray(t, step_enter(&step_root, 0), 8));
        ck_assert(is_stray(t, step_leave(&step_child, 1, 1), 8));
}

STACKS_TEST(a_return_that_an_interrupt_was_ahead_of_is_not_stray) {
        ck_assert(!is_stray(t, step_enter(&step_root, 0), 0));
        ck_assert(!is_stray(t, step_enter(&step_child, 1), 0));
        ck_assert(!is_stray(t, step_enter(&step_module, 1), 0));
        ck_assert(!is_stray(t, step_leave(&step_module, 1, 1), 0));
        ck_assert(!is_stray(t, step_leave(&step_child, 1, 1), 0));
}

STACKS_TEST(tasks_do_not_mix_and_each_cpu_has_its_idle_task) {
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
        ck_assert_uint_eq(t->n, 1000);
        for (uint32_t cpu = 0; cpu < 3; cpu++) {
                Step s = step_enter(&step_root, 0);

                s.pid = 0;
                s.cpu = cpu;
                ck_assert_int_eq(place(t, s), PLACE_ROOT);
        }
        ck_assert_uint_eq(t->n, 1003);
}
