/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/array.h"
#include "unit.h"

TEST(order_and_terminator_are_kept_over_growth) {
        _cleanup_strv_ Strv v = {};
        char text[16];

        for (int i = 0; i < 1000; i++) {
                snprintf(text, sizeof(text), "%d", i);
                ck_assert_int_eq(strv_add(&v, text), 0);
                ck_assert_ptr_null(v.items[v.n]);
        }
        ck_assert_uint_eq(v.n, 1000);
        ck_assert_str_eq(v.items[999], "999");
        ck_assert(strv_contains(&v, "500"));
        ck_assert(!strv_contains(&v, "1000"));
}

TEST(splitting_skips_empty_words) {
        _cleanup_strv_ Strv v = {};
        _cleanup_free_ char *joined = NULL;

        ck_assert_int_eq(strv_split(&v, ",a,,b c,", ", "), 0);
        joined = strv_join(&v, "|");
        ck_assert_str_eq(joined, "a|b|c");
}

TEST(sorting_drops_duplicates_and_growth_goes_on) {
        _cleanup_strv_ Strv v = {};
        _cleanup_free_ char *joined = NULL;

        ck_assert_int_eq(strv_split(&v, "b a c a b b", " "), 0);
        strv_sort_unique(&v);
        ck_assert_uint_eq(v.n, 3);
        ck_assert_ptr_null(v.items[3]);
        ck_assert_int_eq(strv_split(&v, "z y x w v u t s r", " "), 0);
        joined = strv_join(&v, "");
        ck_assert_str_eq(joined, "abczyxwvutsr");
}

TEST(copies_are_equal_and_independent) {
        _cleanup_strv_ Strv v = {}, copy = {};

        ck_assert_int_eq(strv_split(&v, "a b", " "), 0);
        ck_assert_int_eq(strv_copy(&copy, &v), 0);
        ck_assert(strv_equal(&v, &copy));
        ck_assert_int_eq(strv_add(&v, "c"), 0);
        ck_assert(!strv_equal(&v, &copy));
        strv_done(&v);
        ck_assert_str_eq(copy.items[1], "b");
}

TEST(an_empty_list_joins_to_nothing) {
        _cleanup_strv_ Strv v = {};
        _cleanup_free_ char *joined = strv_join(&v, ", ");

        strv_sort_unique(&v);
        ck_assert_str_eq(joined, "");
}

TEST(a_formatted_string_is_a_string) {
        _cleanup_strv_ Strv v = {};

        ck_assert_int_eq(strv_addf(&v, "%s-%d", "cpu", 3), 0);
        ck_assert_uint_eq(v.n, 1);
        ck_assert_str_eq(v.items[0], "cpu-3");
}

TEST(what_is_picked_is_in_both_or_in_one) {
        _cleanup_strv_ Strv words = {}, sorted = {}, both = {}, one = {};
        _cleanup_free_ char *in_both = NULL, *in_one = NULL;

        ck_assert_int_eq(strv_split(&words, "d b a c b", " "), 0);
        ck_assert_int_eq(strv_split(&sorted, "a b e", " "), 0);
        ck_assert_int_eq(strv_pick(&both, &words, &sorted, true), 0);
        ck_assert_int_eq(strv_pick(&one, &words, &sorted, false), 0);
        in_both = strv_join(&both, " ");
        in_one = strv_join(&one, " ");
        ck_assert_str_eq(in_both, "b a b");
        ck_assert_str_eq(in_one, "d c");
}

TEST(a_word_that_is_there_is_not_new) {
        _cleanup_strv_ Strv v = {}, more = {};

        ck_assert_int_eq(strv_split(&more, "a b", " "), 0);
        ck_assert_int_eq(strv_add_new(&v, "b"), 0);
        ck_assert_int_eq(strv_add_new(&v, "b"), 0);
        ck_assert_uint_eq(v.n, 1);
        ck_assert_int_eq(strv_extend(&v, &more), 0);
        ck_assert_uint_eq(v.n, 3);
        ck_assert_str_eq(v.items[2], "b");
}
