/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/stacks.h"
#include "step-builder.h"
#include "unit.h"

static Stacks stacks;

static Stack *stack_of(int32_t pid, uint32_t cpu) {
        Step s = { .pid = pid, .cpu = cpu };
        Stack *stack;

        stack = stacks_get(&stacks, &s);
        ck_assert_ptr_nonnull(stack);
        return stack;
}

TEST(a_stack_is_a_tasks_and_idle_tasks_are_a_cpus) {
        ck_assert_int_ne(stack_of(1, 0)->key, stack_of(2, 0)->key);
        ck_assert_int_eq(stack_of(1, 0)->key, stack_of(1, 7)->key);
        ck_assert_int_ne(stack_of(0, 0)->key, stack_of(0, 1)->key);
        ck_assert_int_ne(stack_of(0, 0)->key, stack_of(STEP_PID_UNKNOWN(0), 0)->key);
        stacks_done(&stacks);
}

TEST(the_named_frame_ends_though_a_sibling_is_open) {
        Stack *s = stack_of(1, 0);
        Frame *f;

        (void) stack_push(s, &step_root, 0);
        (void) stack_push(s, &step_child, 1);
        (void) stack_push(s, &step_module, 1);
        ck_assert_ptr_null(stack_pop_deeper(s, 1));
        f = stack_find(s, 1, &step_child);
        ck_assert_ptr_nonnull(f);
        ck_assert_ptr_eq(stack_caller(s, 1)->function, &step_root);
        stack_remove(s, f);
        ck_assert_ptr_eq(stack_find(s, 1, NULL)->function, &step_module);
        ck_assert_ptr_null(stack_find(s, 1, &step_child));
        ck_assert_ptr_null(stack_caller(s, 0));
        stacks_done(&stacks);
}

TEST(siblings_do_not_pile_up) {
        Stack *s = stack_of(1, 0);
        int n_popped = 0;

        for (int i = 0; i < 1000; i++) {
                while (stack_pop_before_call(s, 3))
                        n_popped++;
                ck_assert_ptr_nonnull(stack_push(s, &step_child, 3));
        }
        ck_assert_uint_eq(s->n, STACK_SIBLINGS_MAX);
        ck_assert_int_eq(n_popped, 1000 - STACK_SIBLINGS_MAX);
        stacks_done(&stacks);
}

TEST(a_task_that_is_named_keeps_what_is_open) {
        Step named = { .kind = STEP_TASK, .pid = 42, .cpu = 3 };

        (void) stack_push(stack_of(STEP_PID_UNKNOWN(3), 3), &step_root, 0);
        ck_assert_int_eq(stacks_name_task(&stacks, &named), 0);
        ck_assert_uint_eq(stack_of(42, 0)->n, 1);
        ck_assert_int_eq(stack_of(42, 0)->pid, 42);
        ck_assert_uint_eq(stack_of(STEP_PID_UNKNOWN(3), 3)->n, 0);
        stacks_done(&stacks);
}

TEST(tasks_with_nothing_open_are_forgotten_in_the_end) {
        (void) stack_push(stack_of(1, 0), &step_root, 0);
        for (int32_t pid = 2; pid < 1000000; pid++)
                (void) stack_of(pid, 0);
        ck_assert_uint_le(stacks.n, 2 * 65536);
        ck_assert_uint_eq(stack_of(1, 0)->n, 1);
        stacks_done(&stacks);
}
