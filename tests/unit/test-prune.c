/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/prune.h"
#include "step-builder.h"
#include "unit.h"

static Strv patterns;

static Prune *prune_of(const char *pattern) {
        Prune *p;

        ck_assert_int_eq(strv_add(&patterns, pattern), 0);
        ck_assert_int_eq(prune_new(&p, &patterns), 0);
        return p;
}

static void expect(Prune *p, Step s, int hidden) {
        ck_assert_int_eq(prune_hides(p, &s), hidden);
}

START_TEST(a_subtree_goes_and_nothing_else)
        {
                _cleanup_(prune_freep) Prune *p = prune_of("child");
                Step other = step_of(STEP_OTHER, NULL, 0), lost = { .kind = STEP_LOST };

                expect(p, step_enter(&step_root, 0), 0);
                expect(p, step_enter(&step_child, 1), 1);
                expect(p, step_leaf(&step_module, 2, 5), 1);
                expect(p, step_enter(&step_root, 2), 1);
                expect(p, other, 1);
                expect(p, lost, 0);
                expect(p, step_leave(&step_root, 2, 5), 1);
                expect(p, step_leave(&step_child, 1, 5), 1);
                expect(p, other, 0);
                expect(p, step_leaf(&step_child, 1, 5), 1);
                expect(p, step_leaf(&step_module, 1, 5), 0);
                expect(p, step_leave(&step_root, 0, 5), 0);
        }
END_TEST

START_TEST(an_interrupt_before_a_hidden_return_stays)
        {
                _cleanup_(prune_freep) Prune *p = prune_of("child");

                expect(p, step_enter(&step_root, 0), 0);
                expect(p, step_enter(&step_child, 1), 1);
                expect(p, step_enter(&step_module, 1), 0);
                expect(p, step_leave(&step_module, 1, 5), 0);
                expect(p, step_leave(&step_child, 1, 5), 1);
                expect(p, step_leave(&step_root, 0, 5), 0);
        }
END_TEST

START_TEST(tasks_do_not_hide_each_other)
        {
                _cleanup_(prune_freep) Prune *p = prune_of("chi*");
                Step s = step_leaf(&step_module, 1, 5);

                expect(p, step_enter(&step_child, 0), 1);
                s.pid = 18;
                expect(p, s, 0);
        }
END_TEST

START_TEST(a_name_stands_for_its_clones)
        {
                static const Function clone = { .label = "child.isra.4.part.5" SLACK,
                                                .n_label = 19,
                                                .n_name = 19 };
                _cleanup_(prune_freep) Prune *p = prune_of("child");

                expect(p, step_leaf(&clone, 0, 5), 1);
        }
END_TEST

START_TEST(below_a_function_its_own_call_stays)
        {
                Prune *p = NULL;

                ck_assert_int_eq(strv_add(&patterns, "child"), 0);
                ck_assert_int_eq(prune_new_below(&p, &patterns, NULL), 0);
                expect(p, step_enter(&step_root, 0), 0);
                expect(p, step_enter(&step_child, 1), 0);
                expect(p, step_of(STEP_OTHER, NULL, 0), 1);
                expect(p, step_enter(&step_child, 2), 1);
                expect(p, step_leave(&step_child, 2, 5), 1);
                expect(p, step_leaf(&step_module, 2, 5), 1);
                expect(p, step_leave(&step_child, 1, 5), 0);
                expect(p, step_leaf(&step_child, 1, 5), 0);
                expect(p, step_enter(&step_irq, 1), 0);
                expect(p, step_leaf(&step_module, 2, 5), 0);
                prune_free(p);
        }
END_TEST

static bool is_child(const Function *f) {
        return f == &step_child;
}

START_TEST(interrupts_can_be_meant_without_their_names)
        {
                const StepText said = { .irq_begin = true };
                Step s = step_enter(&step_module, 1);
                Prune *p = NULL;

                ck_assert_int_eq(strv_add(&patterns, "irq"), 0);
                ck_assert_int_eq(prune_new_below(&p, &patterns, is_child), 0);
                expect(p, step_enter(&step_irq, 1), 0);
                expect(p, step_leaf(&step_child, 2, 5), 1);
                expect(p, step_leave(&step_irq, 1, 5), 0);
                expect(p, step_enter(&step_root, 1), 0);
                expect(p, step_leaf(&step_module, 2, 5), 0);
                expect(p, step_leave(&step_root, 1, 5), 0);
                expect(p, step_enter(&step_child, 1), 0);
                expect(p, step_leaf(&step_module, 2, 5), 1);
                expect(p, step_leave(&step_child, 1, 5), 0);
                s.said = &said;
                expect(p, s, 0);
                expect(p, step_leaf(&step_child, 2, 5), 1);
                prune_free(p);
        }
END_TEST

UNIT_SUITE("prune", a_subtree_goes_and_nothing_else, an_interrupt_before_a_hidden_return_stays,
           tasks_do_not_hide_each_other, a_name_stands_for_its_clones,
           below_a_function_its_own_call_stays, interrupts_can_be_meant_without_their_names)
