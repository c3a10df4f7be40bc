/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Whose calls are too many, of what a worker counted. */

#include "daemon/lean/call-rates.h"
#include "unit.h"

#define WINDOW_NS UINT64_C(100000000)
#define HOOK_NS 100

static void read_rates(CallRates *ret, const char *text) {
        ck_assert_int_eq(call_rates_read(ret, text), 0);
}

/* "NAME=PPM ..." of the hot ones, the worst first. */
static char *find_hot(const CallRates *r, uint64_t budget_ppm, const char *root) {
        _cleanup_free_ uint32_t *ppm = NULL;
        _cleanup_strv_ Strv keep = {}, hot = {}, words = {};

        ck_assert_int_eq(strv_add(&keep, root), 0);
        ck_assert_int_eq(call_rates_find_hot(r, WINDOW_NS, HOOK_NS, budget_ppm, &keep, &hot, &ppm),
                         0);
        for (size_t i = 0; i < hot.n; i++)
                ck_assert_int_eq(strv_addf(&words, "%s=%u", hot.items[i], ppm[i]), 0);
        return strv_join(&words, " ");
}

START_TEST(answers_are_sorted_and_what_has_one_name_is_one)
        {
                _cleanup_call_rates_ CallRates r = {};

                read_rates(&r, "vfs_read 3\n caller\nkfree 5\nvfs_read 4\nnone 0\n");
                ck_assert_uint_eq(r.n, 2);
                ck_assert_str_eq(r.items[0].name, "kfree");
                ck_assert_uint_eq(r.items[0].n, 5);
                ck_assert_str_eq(r.items[1].name, "vfs_read");
                ck_assert_uint_eq(r.items[1].n, 7);
        }
END_TEST

START_TEST(what_is_no_answer_is_refused)
        {
                static const char *const texts[] = { "kfree\n", "kfree 1 2\n", "kfree -1\n",
                                                     "kfree 1" };

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

                read_rates(&all, "ip_output 100\nkfree 500\n");
                read_rates(&own, "ip_output 120\nkfree 400\nnever_sampled 9\n");
                call_rates_subtract(&all, &none);
                ck_assert_uint_eq(all.items[0].n, 100);
                call_rates_subtract(&all, &own);
                ck_assert_uint_eq(all.items[0].n, 0);
                ck_assert_uint_eq(all.items[1].n, 100);
        }
END_TEST

/* 1000 calls in 100 ms, 100 ns each, are a thousandth of a CPU. */
START_TEST(the_worst_go_until_the_rest_fits)
        {
                _cleanup_call_rates_ CallRates r = {};
                static const struct {
                        uint64_t budget_ppm;
                        const char *hot;
                } cases[] = {
                        { 7000, "" },
                        { 6999, "c=4000" },
                        { 3000, "c=4000" },
                        { 2999, "c=4000 b=2000" },
                        { 0, "c=4000 b=2000 a=1000" },
                };

                read_rates(&r, "a 1000\nb 2000\nc 4000\n");
                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_free_ char *hot = find_hot(&r, cases[i].budget_ppm, "d");

                        ck_assert_str_eq(hot, cases[i].hot);
                }
        }
END_TEST

START_TEST(roots_are_never_hot)
        {
                _cleanup_call_rates_ CallRates r = {};
                _cleanup_free_ char *hot = NULL;

                read_rates(&r, "a 1000\nb 2000\nc 4000\n");
                hot = find_hot(&r, 2500, "c");
                ck_assert_str_eq(hot, "b=2000");
        }
END_TEST

START_TEST(of_nothing_nothing_is_hot)
        {
                _cleanup_free_ char *hot = find_hot(&(CallRates){}, 0, "a");

                ck_assert_str_eq(hot, "");
        }
END_TEST

UNIT_SUITE("call-rates", answers_are_sorted_and_what_has_one_name_is_one,
           what_is_no_answer_is_refused, what_was_called_below_the_roots_is_not_others,
           the_worst_go_until_the_rest_fits, roots_are_never_hot, of_nothing_nothing_is_hot)
