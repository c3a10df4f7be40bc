/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/outliers.h"
#include "step-builder.h"
#include "unit.h"

typedef struct Fed {
        Pairing *pairing;
        Outliers *outliers;
} Fed;

static Fed fed(size_t n_wanted) {
        Fed f;

        ck_assert_int_eq(pairing_new(&f.pairing), 0);
        ck_assert_int_eq(outliers_new(&f.outliers, f.pairing, n_wanted), 0);
        return f;
}

static void fed_done(Fed *f) {
        outliers_free(f->outliers);
        pairing_free(f->pairing);
}
#define _cleanup_fed_ _cleanup_(fed_done)

/* A call of @root that takes @ns, of which @below is @child's. */
static void feed(Fed *f, const Function *root, uint64_t ns, const Function *child, uint64_t below) {
        const Step steps[] = {
                step_enter(root, 0),
                step_leaf(child, 1, below),
                step_leave(root, 0, ns),
        };

        for (size_t i = 0; i < ELEMENTSOF(steps); i++)
                ck_assert_int_eq(pairing_step(f->pairing, &steps[i]), 0);
}

static void finish(Fed *f) {
        ck_assert_int_eq(pairing_finish(f->pairing), 0);
        ck_assert_int_eq(outliers_finish(f->outliers), 0);
}

START_TEST(the_slowest_come_first)
        {
                static const uint64_t wanted[] = { 999, 998, 997 };
                _cleanup_fed_ Fed f = fed(ELEMENTSOF(wanted));

                for (uint64_t i = 0; i < 1000; i++)
                        feed(&f, &step_root, i * 37 % 1000, &step_child, 0);
                finish(&f);
                ck_assert_uint_eq(outliers_n(f.outliers), ELEMENTSOF(wanted));
                for (size_t i = 0; i < ELEMENTSOF(wanted); i++)
                        ck_assert_uint_eq(outliers_get(f.outliers, i)->duration_ns, wanted[i]);
        }
END_TEST

START_TEST(of_equals_the_first_are_kept)
        {
                _cleanup_fed_ Fed f = fed(2);

                for (int i = 0; i < 10; i++)
                        feed(&f, &step_root, 100, &step_child, 10);
                finish(&f);
                ck_assert_uint_eq(outliers_get(f.outliers, 0)->number, 1);
                ck_assert_uint_eq(outliers_get(f.outliers, 1)->number, 2);
        }
END_TEST

START_TEST(a_usual_call_is_near_the_median)
        {
                _cleanup_fed_ Fed f = fed(1);
                const Invocation *usual;

                for (uint64_t i = 0; i < 10000; i++)
                        feed(&f, &step_root, 1000 + i * 7919 % 10000, &step_child, 10);
                finish(&f);
                usual = outliers_usual(f.outliers, outliers_get(f.outliers, 0));
                ck_assert_ptr_nonnull(usual);
                ck_assert_uint_gt(usual->duration_ns, 5000);
                ck_assert_uint_lt(usual->duration_ns, 7000);
        }
END_TEST

START_TEST(each_root_has_its_own_median)
        {
                _cleanup_fed_ Fed f = fed(1);
                const Invocation *slow;

                for (int i = 0; i < 9; i++) {
                        feed(&f, &step_root, 100, &step_child, 10);
                        feed(&f, &step_child, 500, &step_module, 10);
                }
                feed(&f, &step_root, 9000, &step_child, 10);
                finish(&f);
                slow = outliers_get(f.outliers, 0);
                ck_assert_uint_eq(slow->duration_ns, 9000);
                ck_assert_uint_eq(quantiles_at(outliers_quantiles(f.outliers, slow), 500), 100);
                ck_assert_uint_eq(outliers_usual(f.outliers, slow)->duration_ns, 100);
        }
END_TEST

START_TEST(differences_add_up_and_the_greatest_is_first)
        {
                _cleanup_fed_ Fed f = fed(1);
                _cleanup_free_ Difference *list = NULL;
                const Invocation *slow, *usual;
                int64_t sum = 0;
                size_t n;

                for (int i = 0; i < 9; i++)
                        feed(&f, &step_root, 100, &step_child, 10);
                feed(&f, &step_root, 5000, &step_module, 4700);
                finish(&f);
                slow = outliers_get(f.outliers, 0);
                usual = outliers_usual(f.outliers, slow);
                ck_assert_int_eq(outliers_compare(&list, &n, slow, usual), 0);
                ck_assert_uint_eq(n, 3);
                ck_assert_ptr_eq(list[0].function, &step_module);
                ck_assert_uint_eq(list[0].n_usual, 0);
                ck_assert_uint_eq(list[0].n, 1);
                ck_assert_ptr_eq(list[2].function, &step_child);
                ck_assert_uint_eq(list[2].n, 0);
                for (size_t i = 0; i < n; i++)
                        sum += (int64_t) (list[i].self_ns - list[i].usual_self_ns);
                ck_assert_int_eq(sum, 4900);
        }
END_TEST

START_TEST(a_single_call_has_nothing_to_be_compared_with)
        {
                _cleanup_fed_ Fed f = fed(10);

                feed(&f, &step_root, 100, &step_child, 10);
                finish(&f);
                ck_assert_uint_eq(outliers_n(f.outliers), 1);
                ck_assert_ptr_null(outliers_usual(f.outliers, outliers_get(f.outliers, 0)));
        }
END_TEST

UNIT_MAIN("outliers", the_slowest_come_first, of_equals_the_first_are_kept,
          a_usual_call_is_near_the_median, each_root_has_its_own_median,
          differences_add_up_and_the_greatest_is_first,
          a_single_call_has_nothing_to_be_compared_with)
