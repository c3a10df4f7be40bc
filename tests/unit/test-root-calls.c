/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/root-calls.h"
#include "step-builder.h"
#include "unit.h"

typedef struct Fed {
        Pairing *pairing;
        RootCalls *calls;
} Fed;

static Fed fed(void) {
        Fed f;

        ck_assert_int_eq(pairing_new(&f.pairing), 0);
        ck_assert_int_eq(root_calls_new(&f.calls, f.pairing), 0);
        return f;
}

static void fed_done(Fed *f) {
        root_calls_free(f->calls);
        pairing_free(f->pairing);
}
#define _cleanup_fed_ _cleanup_(fed_done)

static void feed(Fed *f, Step s, int32_t pid, uint64_t at_ns) {
        s.pid = pid;
        s.timestamp_ns = at_ns;
        ck_assert_int_eq(pairing_step(f->pairing, &s), 0);
}

START_TEST(the_root_with_most_time_is_found_and_its_calls_are_in_order)
        {
                _cleanup_fed_ Fed f = fed();
                const RootCallsRow *row;

                feed(&f, step_enter(&step_root, 0), 1, 1000);
                feed(&f, step_leaf(&step_child, 0, 700), 2, 1100);
                feed(&f, step_leaf(&step_root, 0, 300), 3, 1200);
                feed(&f, step_leave(&step_root, 0, 500), 1, 1500);
                ck_assert_int_eq(pairing_finish(f.pairing), 0);
                row = root_calls_most(f.calls);
                ck_assert_ptr_eq(row->root, &step_root);
                ck_assert_uint_eq(row->n, 2);
                ck_assert_uint_eq(row->total_ns, 800);
                ck_assert_int_eq(row->calls[0].task, 1);
                ck_assert_uint_eq(row->calls[0].duration_ns, 500);
                ck_assert_uint_eq(root_calls_number(f.calls, &row->calls[0]), 1);
                ck_assert_uint_eq(root_calls_number(f.calls, &row->calls[1]), 3);
        }
END_TEST

START_TEST(the_slowest_hundredth_is_one_at_least_and_whole)
        {
                _cleanup_fed_ Fed f = fed();
                _cleanup_free_ const RootCall **one = NULL, **many = NULL;
                const RootCallsRow *row;
                size_t n;

                for (uint64_t i = 1; i <= 450; i++)
                        feed(&f, step_leaf(&step_root, 0, i * 17 % 451), 1, i * 1000);
                feed(&f, step_enter(&step_root, 0), 2, 1000); /* which has no end */
                feed(&f, step_leaf(&step_child, 1, 1), 2, 9000000);
                ck_assert_int_eq(pairing_finish(f.pairing), 0);
                row = root_calls_most(f.calls);
                ck_assert_uint_eq(row->n, 451);
                ck_assert_int_eq(root_calls_slowest(row, 1, &one, &n), 0);
                ck_assert_uint_eq(n, 1);
                ck_assert_uint_eq(one[0]->duration_ns, 450);
                ck_assert_int_eq(root_calls_slowest(row, SIZE_MAX, &many, &n), 0);
                ck_assert_uint_eq(n, 5);
                ck_assert_uint_eq(many[4]->duration_ns, 446);
        }
END_TEST

START_TEST(without_calls_there_is_no_root)
        {
                _cleanup_fed_ Fed f = fed();

                ck_assert_int_eq(pairing_finish(f.pairing), 0);
                ck_assert_ptr_null(root_calls_most(f.calls));
        }
END_TEST

UNIT_SUITE("root-calls", the_root_with_most_time_is_found_and_its_calls_are_in_order,
           the_slowest_hundredth_is_one_at_least_and_whole, without_calls_there_is_no_root)
