/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "causes/anatomy.h"
#include "fed.h"

typedef struct Fed {
        Pairing *pairing, *other;
        Anatomy *anatomy;
        AnatomyParts parts; /* where part_of() is */
} Fed;

static Fed fed(void) {
        Fed f = { .pairing = fed_pairing(), .other = fed_pairing() };

        ck_assert_int_eq(anatomy_new(&f.anatomy), 0);
        ck_assert_int_eq(anatomy_add_source(f.anatomy, f.pairing), 0);
        return f;
}

static void fed_done(Fed *f) {
        anatomy_free(f->anatomy);
        pairing_free(f->pairing);
        pairing_free(f->other);
}

static const AnatomyPart *part_of(Fed *f, size_t call, const char *name, int32_t level) {
        f->parts = anatomy_parts(f->anatomy, &f->anatomy->calls[call]);
        while (anatomy_next(&f->parts)) {
                const CallNode *node = f->anatomy->nodes[f->parts.part.node];

                if (node->level == level && node->function->n_name == strlen(name) &&
                    memcmp(node->function->label, name, strlen(name)) == 0)
                        return &f->parts.part;
        }
        return NULL;
}

FED_TEST(the_parts_of_a_call_add_up_to_it) {
        uint64_t sum = 0;

        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        feed_at(f->pairing, step_leaf(&step_child, 1, 300), 1100);
        feed_at(f->pairing, step_leaf(&step_child, 1, 200), 1500);
        feed_at(f->pairing, step_leaf(&step_module, 1, 100), 1800);
        feed_at(f->pairing, step_leave(&step_root, 0, 1000), 2000);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_uint_eq(f->anatomy->n_calls, 1);
        ck_assert_uint_eq(f->anatomy->calls[0].n_parts, 3);
        f->parts = anatomy_parts(f->anatomy, f->anatomy->calls);
        while (anatomy_next(&f->parts))
                sum += f->parts.part.run_ns + f->parts.part.wait_ns;
        ck_assert_uint_eq(sum, 1000);
        ck_assert_uint_eq(part_of(f, 0, "child", 2)->n, 2);
        ck_assert_uint_eq(part_of(f, 0, "child", 2)->run_ns, 500);
        ck_assert_uint_eq(part_of(f, 0, "root", 1)->run_ns, 400);
}

FED_TEST(an_interrupt_stands_below_the_root_whomever_it_met) {
        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        feed_at(f->pairing, step_enter(&step_child, 1), 1100);
        feed_at(f->pairing, step_enter(&step_irq, 2), 1200);
        feed_at(f->pairing, step_leaf(&step_module, 3, 50), 1250);
        feed_at(f->pairing, step_leave(&step_irq, 2, 200), 1400);
        feed_at(f->pairing, step_leave(&step_child, 1, 500), 1600);
        feed_at(f->pairing, step_leave(&step_root, 0, 1000), 2000);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_ptr_nonnull(part_of(f, 0, "tick", 2));
        ck_assert_uint_eq(part_of(f, 0, "tick", 2)->run_ns, 150);
        ck_assert_ptr_nonnull(part_of(f, 0, "leaf", 3));
        ck_assert_uint_eq(part_of(f, 0, "child", 2)->run_ns, 300);
        ck_assert_uint_eq(part_of(f, 0, "root", 1)->run_ns, 500);
}

TEST(functions_of_two_recordings_that_are_called_alike_are_one) {
        static const Function clone = {
                .address = 9, .label = "child.isra.4" SLACK, .n_label = 12, .n_name = 12
        };
        const Function root = step_root;
        _cleanup_fed_ Fed f = fed();

        ck_assert_int_eq(anatomy_add_source(f.anatomy, f.other), 0);
        feed_at(f.pairing, step_enter(&step_root, 0), 1000);
        feed_at(f.pairing, step_leaf(&step_child, 1, 300), 1100);
        feed_at(f.pairing, step_leave(&step_root, 0, 1000), 2000);
        feed_at(f.other, step_enter(&root, 0), 1000);
        feed_at(f.other, step_leaf(&clone, 1, 700), 1100);
        feed_at(f.other, step_leave(&root, 0, 1000), 2000);
        ck_assert_int_eq(pairing_finish(f.pairing), 0);
        ck_assert_int_eq(pairing_finish(f.other), 0);
        ck_assert_uint_eq(f.anatomy->n_calls, 2);
        ck_assert_uint_eq(f.anatomy->calls[0].source, 0);
        ck_assert_uint_eq(f.anatomy->calls[1].source, 1);
        ck_assert_uint_eq(part_of(&f, 0, "child", 2)->node, part_of(&f, 1, "child", 2)->node);
        ck_assert_uint_eq(f.anatomy->calls[0].root, f.anatomy->calls[1].root);
}

FED_TEST(a_call_that_was_cut_is_counted_and_left_out) {
        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_uint_eq(f->anatomy->n_calls, 0);
        ck_assert_uint_eq(f->anatomy->n_all, 1);
        ck_assert_uint_eq(f->anatomy->n_cut, 1);
}

FED_TEST(parts_of_a_call_with_very_many_are_added_up_on_the_way) {
        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        for (uint64_t i = 0; i < 100000; i++)
                feed_at(f->pairing, step_leaf(i % 2 ? &step_child : &step_module, 1, 2),
                        1010 + 10 * i);
        feed_at(f->pairing, step_leave(&step_root, 0, 2000000), 2001000);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_uint_eq(f->anatomy->calls[0].n_parts, 3);
        ck_assert_uint_eq(part_of(f, 0, "child", 2)->n, 50000);
        ck_assert_uint_eq(part_of(f, 0, "root", 1)->run_ns, 1800000);
}

FED_TEST(of_more_calls_than_there_is_room_for_half_stay_evenly) {
        static const uint64_t n_fed = ANATOMY_CALLS_MAX + 1000;
        uint64_t n_early = 0;

        for (uint64_t i = 0; i < n_fed; i++) {
                feed_at(f->pairing, step_enter(&step_root, 0), 1000 + 100 * i);
                feed_at(f->pairing, step_leaf(&step_child, 1, i % 7), 1010 + 100 * i);
                feed_at(f->pairing, step_leave(&step_root, 0, 50), 1050 + 100 * i);
        }
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_uint_eq(f->anatomy->n_all, n_fed);
        ck_assert_uint_gt(f->anatomy->n_calls, n_fed / 2 - n_fed / 50);
        ck_assert_uint_lt(f->anatomy->n_calls, n_fed / 2 + n_fed / 50);
        for (size_t i = 0; i < f->anatomy->n_calls; i++) {
                const AnatomyCall *c = &f->anatomy->calls[i];

                n_early += c->number <= n_fed / 4;
                /* Each has its own parts still. */
                ck_assert_uint_eq(c->n_parts, 2);
                ck_assert_uint_eq(part_of(f, i, "child", 2)->run_ns, (c->number - 1) % 7);
        }
        ck_assert_uint_gt(n_early, f->anatomy->n_calls / 5);
        ck_assert_uint_lt(n_early, f->anatomy->n_calls * 3 / 10);
}

/* --- variables -------------------------------------------------------------------------------- */

/* A leaf with @args, as a text has them, below root or not. */
static void feed_args(Fed *f, const char *args, int32_t depth) {
        const StepText said = { .args = args, .n_args = (uint32_t) strlen(args) };
        Step s = step_leaf(&step_child, depth, 5);

        s.said = &said;
        feed_at(f->pairing, s, 1100);
}

static bool is_value(const Fed *f, size_t i, const char *name, bool is_negative,
                     uint64_t magnitude) {
        const VariableValue *v = &f->anatomy->values[i];

        return streq(f->anatomy->variables[v->variable].name, name) &&
               v->is_negative == is_negative && v->magnitude == magnitude;
}

TEST(arguments_and_what_is_returned_have_their_names_and_signs) {
        static const char args[] = "sk=0xffff888003d5c000, len=0x40, how=-1 [BAD]";
        const StepText said = { .args = args, .n_args = sizeof(args) - 1 };
        Step s = step_leaf(&step_root, 0, 5);
        _cleanup_fed_ Fed f = fed();

        s.said = &said;
        s.has_retval = true;
        s.retval = (uint32_t) -90;
        FEED(f.pairing, s);
        ck_assert_int_eq(pairing_finish(f.pairing), 0);
        ck_assert_uint_eq(f.anatomy->calls[0].n_values, 4);
        ck_assert(is_value(&f, 0, "sk", false, 0xffff888003d5c000));
        ck_assert(is_value(&f, 1, "len", false, 64));
        ck_assert(is_value(&f, 2, "how", true, 1));
        ck_assert(is_value(&f, 3, "ret", true, 90));
}

FED_TEST(below_the_outermost_call_addresses_and_what_is_too_much_are_left_out) {
        feed_at(f->pairing, step_enter(&step_root, 0), 1000);
        feed_args(f, "sk=0xffff888003d5c000", 1);
        for (size_t i = 0; i < 2 * VARIABLES_VALUES_MAX; i++)
                feed_args(f, "len=3", 1);
        feed_at(f->pairing, step_leave(&step_root, 0, 500), 2000);
        feed_args(f, "len=4", 0);
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_uint_eq(f->anatomy->n_variables, 2); /* of two places */
        ck_assert_uint_eq(f->anatomy->calls[0].n_values, VARIABLES_VALUES_MAX);
        ck_assert(is_value(f, VARIABLES_VALUES_MAX, "len", false, 4));
}

FED_TEST(there_are_no_more_variables_than_a_thousand) {
        for (unsigned i = 0; i < 2 * VARIABLES_MAX; i++) {
                char args[32];

                (void) snprintf(args, sizeof(args), "a%u=3", i);
                feed_args(f, args, 0);
        }
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_uint_eq(f->anatomy->n_variables, VARIABLES_MAX);
}
