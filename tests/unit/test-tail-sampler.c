/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/steps.h"
#include "step-builder.h"
#include "unit.h"

#define STEPS_MAX 1000

static TailSampler tail = { .n_max = STEPS_MAX };

static void push(SampledTree *tree, const Function *function, uint32_t cpu) {
        Step s = step_leaf(function, 0, 5);

        s.cpu = cpu;
        ck_assert_int_eq(tail_sampler_push(&tail, tree, &s, NULL), 0);
}

static void expect(const Function *function, uint32_t cpu) {
        Step s;

        ck_assert(tail_sampler_pop(&tail, 0, &s));
        ck_assert_ptr_eq(s.function, function);
        ck_assert_uint_eq(s.cpu, cpu);
}

static void expect_nothing(void) {
        Step s;

        ck_assert(!tail_sampler_pop(&tail, 0, &s));
}

TEST(a_tree_holds_back_what_came_after_its_beginning) {
        SampledTree *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

        push(NULL, &step_irq, 0);
        push(a, &step_root, 1);
        push(b, &step_child, 2);
        push(a, &step_root, 3);
        expect(&step_irq, 0);
        expect_nothing();
        tail_sampler_end(&tail, b, true);
        expect_nothing();
        tail_sampler_end(&tail, a, true);
        expect(&step_root, 1);
        expect(&step_child, 2);
        expect(&step_root, 3);
        expect_nothing();
        tail_sampler_done(&tail);
}

TEST(a_tree_that_is_dropped_takes_its_steps_along) {
        SampledTree *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

        push(a, &step_root, 0);
        push(b, &step_child, 1);
        push(a, &step_root, 2);
        push(NULL, &step_irq, 3);
        tail_sampler_end(&tail, a, false);
        tail_sampler_end(&tail, b, true);
        expect(&step_child, 1);
        expect(&step_irq, 3);
        expect_nothing();
        tail_sampler_done(&tail);
}

TEST(too_long_a_tree_is_kept) {
        SampledTree *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

        push(b, &step_child, 0);
        for (uint32_t i = 0; i < STEPS_MAX; i++)
                push(a, &step_root, i);
        expect(&step_child, 0);
        expect(&step_root, 0);
        expect(&step_root, 1);
        /* What comes of it later goes as well. */
        push(a, &step_irq, 7);
        tail_sampler_end(&tail, a, false);
        tail_sampler_end(&tail, b, false);
        for (uint32_t i = 2; i < STEPS_MAX; i++)
                expect(&step_root, i);
        expect(&step_irq, 7);
        expect_nothing();
        tail_sampler_done(&tail);
}
