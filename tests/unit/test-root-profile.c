/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/root-profile.h"
#include "step-builder.h"
#include "unit.h"

static void feed(Pairing *pairing, Step s) {
        ck_assert_int_eq(pairing_step(pairing, &s), 0);
}

static const RootProfileRow *row_of(const RootProfile *p, uint32_t root, const Function *f) {
        Alike name = alike_of(f);

        return root_profile_find(p, root, &name, false);
}

START_TEST(an_outermost_call_is_one_sample)
        {
                _cleanup_(pairing_freep) Pairing *pairing = NULL;
                _cleanup_(root_profile_freep) RootProfile *p = NULL;
                const RootProfileRow *row;

                ck_assert_int_eq(pairing_new(&pairing), 0);
                ck_assert_int_eq(root_profile_new(&p, pairing), 0);
                for (int i = 0; i < 3; i++) {
                        feed(pairing, step_enter(&step_root, 0));
                        feed(pairing, step_leaf(&step_child, 1, 10));
                        feed(pairing, step_leaf(&step_child, 1, 20));
                        if (i == 2)
                                feed(pairing, step_leaf(&step_module, 1, 5));
                        feed(pairing, step_leave(&step_root, 0, 100));
                }
                ck_assert_int_eq(pairing_finish(pairing), 0);
                ck_assert_uint_eq(p->n_roots, 1);
                ck_assert_uint_eq(p->roots[0].duration_ns.n, 3);
                row = row_of(p, 0, &step_child);
                ck_assert_uint_eq(row->n, 6);
                ck_assert_uint_eq(row->self_ns.n, 3);
                ck_assert_uint_eq(row->self_ns.sum, 90);
                ck_assert_uint_eq(row_of(p, 0, &step_module)->self_ns.n, 1);
                ck_assert_uint_eq(row_of(p, 0, &step_root)->self_ns.sum, 300 - 90 - 5);
                ck_assert_uint_eq(p->n_edges, 2);
                ck_assert_ptr_null(row_of(p, 0, &step_irq));
        }
END_TEST

START_TEST(recursion_counts_once)
        {
                _cleanup_(pairing_freep) Pairing *pairing = NULL;
                _cleanup_(root_profile_freep) RootProfile *p = NULL;
                const RootProfileRow *row;

                ck_assert_int_eq(pairing_new(&pairing), 0);
                ck_assert_int_eq(root_profile_new(&p, pairing), 0);
                feed(pairing, step_enter(&step_root, 0));
                feed(pairing, step_enter(&step_child, 1));
                feed(pairing, step_leaf(&step_child, 2, 30));
                feed(pairing, step_leave(&step_child, 1, 50));
                feed(pairing, step_leave(&step_root, 0, 100));
                row = row_of(p, 0, &step_child);
                ck_assert_uint_eq(row->n, 1);
                ck_assert_uint_eq(row->total_ns.sum, 50);
                ck_assert_uint_eq(row->self_ns.sum, 50);
        }
END_TEST

START_TEST(tasks_do_not_mix_and_what_is_cut_off_does_not_count)
        {
                _cleanup_(pairing_freep) Pairing *pairing = NULL;
                _cleanup_(root_profile_freep) RootProfile *p = NULL;
                Step other = step_enter(&step_root, 0);

                other.pid = 18;
                ck_assert_int_eq(pairing_new(&pairing), 0);
                ck_assert_int_eq(root_profile_new(&p, pairing), 0);
                feed(pairing, step_enter(&step_root, 0));
                feed(pairing, other);
                feed(pairing, step_leaf(&step_child, 1, 10));
                other = step_leaf(&step_child, 1, 1000);
                other.pid = 18;
                feed(pairing, other);
                feed(pairing, step_leave(&step_root, 0, 100));
                ck_assert_int_eq(pairing_finish(pairing), 0);
                ck_assert_uint_eq(p->roots[0].n_cut, 1);
                ck_assert_uint_eq(p->roots[0].duration_ns.sum, 100);
                ck_assert_uint_eq(row_of(p, 0, &step_child)->self_ns.sum, 10);
        }
END_TEST

START_TEST(a_long_outermost_call_is_added_up_in_between)
        {
                _cleanup_(pairing_freep) Pairing *pairing = NULL;
                _cleanup_(root_profile_freep) RootProfile *p = NULL;

                ck_assert_int_eq(pairing_new(&pairing), 0);
                ck_assert_int_eq(root_profile_new(&p, pairing), 0);
                feed(pairing, step_enter(&step_root, 0));
                for (int i = 0; i < 20000; i++)
                        feed(pairing, step_leaf(i % 2 ? &step_child : &step_module, 1, 3));
                feed(pairing, step_leave(&step_root, 0, 100000));
                ck_assert_uint_eq(row_of(p, 0, &step_child)->n, 10000);
                ck_assert_uint_eq(row_of(p, 0, &step_child)->self_ns.n, 1);
                ck_assert_uint_eq(row_of(p, 0, &step_module)->self_ns.sum, 30000);
        }
END_TEST

START_TEST(what_interrupts_do_is_apart_and_nobody_calls_them)
        {
                static const Function irq = { .label = "irq_enter_rcu" SLACK,
                                              .n_label = 13,
                                              .n_name = 13 };
                _cleanup_(pairing_freep) Pairing *pairing = NULL;
                _cleanup_(root_profile_freep) RootProfile *p = NULL;
                Alike name = alike_of(&step_child);

                ck_assert_int_eq(pairing_new(&pairing), 0);
                ck_assert_int_eq(root_profile_new(&p, pairing), 0);
                feed(pairing, step_enter(&step_root, 0));
                feed(pairing, step_leaf(&step_child, 1, 3));
                feed(pairing, step_leaf(&irq, 1, 1));
                feed(pairing, step_enter(&step_irq, 1));
                feed(pairing, step_leaf(&step_child, 2, 40));
                feed(pairing, step_leave(&step_irq, 1, 50));
                feed(pairing, step_leave(&step_root, 0, 100));
                ck_assert_uint_eq(row_of(p, 0, &step_child)->self_ns.sum, 3);
                ck_assert_uint_eq(root_profile_find(p, 0, &name, true)->self_ns.sum, 40);
                ck_assert(!root_profile_find(p, 0, &name, true)->is_irq);
                name = alike_of(&irq);
                ck_assert(root_profile_find(p, 0, &name, true)->is_irq);
                ck_assert_uint_eq(p->n_edges, 2); /* root and tick call child */
        }
END_TEST

UNIT_SUITE("root-profile", what_interrupts_do_is_apart_and_nobody_calls_them,
           an_outermost_call_is_one_sample, recursion_counts_once,
           tasks_do_not_mix_and_what_is_cut_off_does_not_count,
           a_long_outermost_call_is_added_up_in_between)
