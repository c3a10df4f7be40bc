/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/census.h"
#include "step-builder.h"
#include "unit.h"

TEST(a_name_is_its_functions_and_its_clones) {
        static const struct {
                const char *pattern, *label;
                int has;
        } all[] = {
                { "kfree", "kfree", 1 },
                { "kfree", "kfree.part.0", 1 },
                { "kfree", "kfree.isra.4.cold", 1 },
                { "kfree.part.0", "kfree.part.0", 1 },
                { "kfree.part.0", "kfree.part.1", 0 },
                { "kfree", "kfree_skb", 0 },
                { "kf*", "kfree_skb", 1 },
                { "ovl_open", "ovl_open [overlay]", 1 },
                { "*overlay*", "ovl_open [overlay]", 0 },
                { "", ".text", 0 },
        };

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                const Function f = function_named(all[i].label);
                char *patterns[] = { (char *) "nobody", (char *) all[i].pattern };
                const Strv strv = { .items = patterns, .n = 2 };
                _cleanup_(name_set_done) NameSet s = { .patterns = &strv };

                ck_assert_int_eq(name_set_has(&s, &f), name_set_has(&s, &f));
                ck_assert_msg(name_set_has(&s, &f) == all[i].has, "%s", all[i].label);
        }
}

TEST(many_functions_keep_their_verdicts) {
        static Function functions[5000];
        static char labels[5000][16];
        char *items[] = { (char *) "f*7" };
        const Strv patterns = { .items = items, .n = 1 };
        _cleanup_(name_set_done) NameSet s = { .patterns = &patterns };

        for (unsigned round = 0; round < 2; round++)
                for (unsigned i = 0; i < ELEMENTSOF(functions); i++) {
                        (void) snprintf(labels[i], sizeof(labels[i]), "f%u", i);
                        functions[i] = function_named(labels[i]);
                        ck_assert_int_eq(name_set_has(&s, &functions[i]), i % 10 == 7);
                }
}

/* --- prune ------------------------------------------------------------------------------------ */

static char *items[1];
static const Strv patterns = { .items = items, .n = 1 };
static Prune prune;
static Stretch stretch;

static void prune_init(const char *pattern, bool is_below) {
        items[0] = (char *) pattern;
        prune = (Prune){ .names.patterns = &patterns, .is_below = is_below };
        stretch = (Stretch){};
}

static void expect(Step s, int hidden) {
        ck_assert_int_eq(prune_hides(&prune, &stretch, &s), hidden);
}

TEST(a_subtree_goes_and_nothing_else) {
        Step other = step_of(STEP_OTHER, NULL, 0);

        prune_init("chi*", false);
        expect(step_enter(&step_root, 0), 0);
        expect(step_enter(&step_child, 1), 1);
        expect(step_leaf(&step_module, 2, 5), 1);
        expect(step_enter(&step_root, 2), 1);
        expect(other, 1);
        expect(step_leave(&step_root, 2, 5), 1);
        expect(step_leave(&step_child, 1, 5), 1);
        expect(other, 0);
        expect(step_leaf(&step_child, 1, 5), 1);
        expect(step_leaf(&step_module, 1, 5), 0);
        expect(step_leave(&step_root, 0, 5), 0);
        name_set_done(&prune.names);
}

TEST(an_interrupt_before_a_hidden_return_stays) {
        prune_init("child", false);
        expect(step_enter(&step_root, 0), 0);
        expect(step_enter(&step_child, 1), 1);
        expect(step_enter(&step_module, 1), 0);
        expect(step_leave(&step_module, 1, 5), 0);
        expect(step_leave(&step_child, 1, 5), 1);
        expect(step_leave(&step_root, 0, 5), 0);
        name_set_done(&prune.names);
}

TEST(below_a_function_its_own_call_stays) {
        prune_init("child", true);
        expect(step_enter(&step_root, 0), 0);
        expect(step_enter(&step_child, 1), 0);
        expect(step_of(STEP_OTHER, NULL, 0), 1);
        expect(step_enter(&step_child, 2), 1);
        expect(step_leave(&step_child, 2, 5), 1);
        expect(step_leaf(&step_module, 2, 5), 1);
        expect(step_leave(&step_child, 1, 5), 0);
        expect(step_leaf(&step_child, 1, 5), 0);
        expect(step_enter(&step_irq, 1), 0);
        expect(step_leaf(&step_module, 2, 5), 0);
        name_set_done(&prune.names);
}

static bool is_irq(const Function *f) {
        return f == &step_child || f == &step_irq;
}

TEST(interrupts_can_be_meant_without_their_names) {
        const StepText said = { .irq_begin = true };
        const Function *const irqs[] = { &step_irq, &step_child };
        Step s = step_enter(&step_module, 1);

        prune_init("irq", true);
        prune.names.also = is_irq;
        for (size_t i = 0; i < ELEMENTSOF(irqs); i++) {
                expect(step_enter(irqs[i], 1), 0);
                expect(step_leaf(&step_module, 2, 5), 1);
                expect(step_leave(irqs[i], 1, 5), 0);
        }
        expect(step_enter(&step_root, 1), 0);
        expect(step_leaf(&step_module, 2, 5), 0);
        expect(step_leave(&step_root, 1, 5), 0);
        s.said = &said;
        expect(s, 0);
        expect(step_leaf(&step_child, 2, 5), 1);
        name_set_done(&prune.names);
}
