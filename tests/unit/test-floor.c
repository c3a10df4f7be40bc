/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/overhead.h"
#include "step-builder.h"
#include "unit.h"

/* @n trees: a root that calls a child, that calls a leaf; the child has @self_ns of its own. */
static void feed_trees(Pairing *p, size_t n, uint64_t self_ns, uint64_t leaf_ns) {
        for (size_t i = 0; i < n; i++) {
                const Step steps[] = {
                        step_enter(&step_root, 0),
                        step_enter(&step_child, 1),
                        step_leaf(&step_module, 2, leaf_ns),
                        step_leave(&step_child, 1, leaf_ns + self_ns + i),
                        step_leave(&step_root, 0, 10000),
                };

                for (size_t k = 0; k < ELEMENTSOF(steps); k++)
                        ck_assert_int_eq(pairing_step(p, &steps[k]), 0);
        }
}

START_TEST(callers_of_one_leaf_tell_the_cost)
        {
                _cleanup_(pairing_freep) Pairing *p = NULL;
                _cleanup_(floor_freep) Floor *f = NULL;
                Overhead o;

                ck_assert_int_eq(pairing_new(&p), 0);
                ck_assert_int_eq(floor_new(&f, p), 0);
                feed_trees(p, 20, 200, 30);
                o = overhead_of(f);
                ck_assert(o.has_cost);
                ck_assert_uint_eq(o.cost.caller_low_ns, 200);
                ck_assert_uint_eq(o.cost.caller_high_ns, 201);
                ck_assert_uint_eq(o.cost.leaf_ns, 30);
                ck_assert_ptr_eq(o.shown.root, &step_root);
                ck_assert_uint_eq(o.shown.n, 20);
                ck_assert_uint_eq(o.shown.total_ns, 200000);
                ck_assert_uint_eq(o.shown.n_below, 40);
                ck_assert_uint_eq(floor_real_ns(&o.cost, 10000, 1, 2, true),
                                  10000 - 2 * 200 - 3 * 30);
                ck_assert_uint_eq(floor_real_ns(&o.cost, 10000, 1, 2, false),
                                  10000 - 2 * 201 - 3 * 30);
                ck_assert_uint_eq(floor_real_ns(&o.cost, 10, 1, 2, false), 0);
        }
END_TEST

START_TEST(few_calls_tell_nothing)
        {
                _cleanup_(pairing_freep) Pairing *p = NULL;
                _cleanup_(floor_freep) Floor *f = NULL;
                Overhead o;

                ck_assert_int_eq(pairing_new(&p), 0);
                ck_assert_int_eq(floor_new(&f, p), 0);
                feed_trees(p, FLOOR_SAMPLES_MIN - 1, 200, 30);
                o = overhead_of(f);
                ck_assert(!o.has_cost && !o.is_too_little);
        }
END_TEST

/* @n trees: a root that calls a child that calls a leaf, after @self_ns of its own, and nine leaves. */
static void feed_broad_trees(Pairing *p, size_t n, uint64_t self_ns) {
        for (size_t i = 0; i < n; i++) {
                const Step child[] = { step_enter(&step_child, 1), step_leaf(&step_module, 2, 30),
                                       step_leave(&step_child, 1, self_ns + 30) };
                const Step enter = step_enter(&step_root, 0), leaf = step_leaf(&step_module, 1, 30),
                           leave = step_leave(&step_root, 0, 11 * 230);

                ck_assert_int_eq(pairing_step(p, &enter), 0);
                for (size_t k = 0; k < ELEMENTSOF(child); k++)
                        ck_assert_int_eq(pairing_step(p, &child[k]), 0);
                for (size_t k = 0; k < 9; k++)
                        ck_assert_int_eq(pairing_step(p, &leaf), 0);
                ck_assert_int_eq(pairing_step(p, &leave), 0);
        }
}

START_TEST(callers_that_do_something_do_not_make_it_all_the_tracers)
        {
                _cleanup_(pairing_freep) Pairing *p = NULL;
                _cleanup_(floor_freep) Floor *f = NULL;
                Overhead o;

                ck_assert_int_eq(pairing_new(&p), 0);
                ck_assert_int_eq(floor_new(&f, p), 0);
                feed_broad_trees(p, 980, 400);
                feed_broad_trees(p, 20, 150);
                o = overhead_of(f);
                ck_assert(o.has_cost);
                ck_assert_uint_eq(o.cost.caller_low_ns, 150);
                ck_assert_uint_eq(o.cost.caller_high_ns, 150); /* the lowest tenth take 400 */
                ck_assert_uint_eq(o.cost.leaf_ns, 30);
        }
END_TEST

START_TEST(one_of_thousands_is_no_floor)
        {
                _cleanup_(pairing_freep) Pairing *p = NULL;
                _cleanup_(floor_freep) Floor *f = NULL;
                Overhead o;

                ck_assert_int_eq(pairing_new(&p), 0);
                ck_assert_int_eq(floor_new(&f, p), 0);
                feed_trees(p, 1, 3, 1);
                feed_trees(p, 4000, 200, 30);
                o = overhead_of(f);
                ck_assert(o.has_cost);
                ck_assert_uint_ge(o.cost.caller_low_ns, 200);
                ck_assert_uint_eq(o.cost.leaf_ns, 30);
        }
END_TEST

START_TEST(several_roots_have_no_name)
        {
                _cleanup_(pairing_freep) Pairing *p = NULL;
                _cleanup_(floor_freep) Floor *f = NULL;
                const Step other = step_leaf(&step_child, 0, 7);

                ck_assert_int_eq(pairing_new(&p), 0);
                ck_assert_int_eq(floor_new(&f, p), 0);
                feed_trees(p, 1, 200, 30);
                ck_assert_int_eq(pairing_step(p, &other), 0);
                ck_assert_ptr_null(overhead_of(f).shown.root);
                ck_assert_uint_eq(overhead_of(f).shown.total_ns, 10007);
        }
END_TEST

UNIT_SUITE("floor", callers_that_do_something_do_not_make_it_all_the_tracers,
           callers_of_one_leaf_tell_the_cost, few_calls_tell_nothing, one_of_thousands_is_no_floor,
           several_roots_have_no_name)
