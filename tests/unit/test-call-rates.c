/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whose calls are too many, of what a worker counted. */

#include "daemon/lean/lean.h"
#include "unit.h"

#define WINDOW_NS UINT64_C(100000000)
#define HOOK_NS 100

static void read_rates(CallRates *ret, const char *text) {
        ck_assert_int_eq(call_rates_read(ret, text), 0);
}

START_TEST(answers_are_sorted_and_what_has_one_name_is_one)
        {
                _cleanup_call_rates_ CallRates r = {};

                read_rates(&r, "vfs_read 3 3 1 0\n caller\nkfree 5 5 1 0\nvfs_read 4 4 1 0\nnone 0 "
                               "0 1 0\n");
                ck_assert_uint_eq(r.n, 2);
                ck_assert_str_eq(r.items[0].name, "kfree");
                ck_assert_uint_eq(r.items[0].n, 5);
                ck_assert_str_eq(r.items[1].name, "vfs_read");
                ck_assert_uint_eq(r.items[1].n, 7);
        }
END_TEST

START_TEST(what_is_no_answer_is_refused)
        {
                static const char *const texts[] = { "kfree\n", "kfree 1 2\n", "kfree -1 1 1 1\n",
                                                     "kfree 1 1 1 1" };

                for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                        CallRates r;

                        ck_assert_msg(call_rates_read(&r, texts[i]) == CALL_RATES_E_INVALID, "%s",
                                      texts[i]);
                }
        }
END_TEST

START_TEST(what_was_called_below_the_roots_is_not_others)
        {
                _cleanup_call_rates_ CallRates all = {}, own = {}, none = {};

                read_rates(&all, "ip_output 100 100 1 0\nkfree 500 500 1 0\n");
                read_rates(&own,
                           "ip_output 120 120 1 0\nkfree 400 400 1 0\nnever_sampled 9 9 1 0\n");
                call_rates_subtract(&all, &none);
                ck_assert_uint_eq(all.items[0].n, 100);
                call_rates_subtract(&all, &own);
                ck_assert_uint_eq(all.items[0].n, 0);
                ck_assert_uint_eq(all.items[1].n, 100);
        }
END_TEST

START_TEST(what_calls_cost_is_a_share_of_a_cpu)
        {
                _cleanup_call_rates_ CallRates r = {};

                read_rates(&r, "a 1000 1000 1 0\nb 2000 2000 1 0\n");
                ck_assert_uint_eq(call_rates_get(&r, "b"), 2000);
                ck_assert_uint_eq(call_rates_get(&r, "c"), 0);
                ck_assert_uint_eq(call_rates_get(&(CallRates){}, "c"), 0);
                ck_assert(call_rates_cost_ppm(1000, WINDOW_NS, HOOK_NS) == 1000);
        }
END_TEST

UNIT_SUITE("call-rates", answers_are_sorted_and_what_has_one_name_is_one,
           what_is_no_answer_is_refused, what_was_called_below_the_roots_is_not_others,
           what_calls_cost_is_a_share_of_a_cpu)
