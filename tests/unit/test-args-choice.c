/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "types/args-choice.h"
#include "unit.h"

TEST(a_choice_is_a_function_or_fields_of_one) {
        ck_assert(args_choice_is_valid("udp_sendmsg"));
        ck_assert(args_choice_is_valid("udp_*"));
        ck_assert(args_choice_is_valid("udp_sendmsg(len)"));
        ck_assert(args_choice_is_valid("udp_*(size=len:u, (inet_sock)sk->x[3])"));
        ck_assert(!args_choice_is_valid("udp_sendmsg()"));
        ck_assert(!args_choice_is_valid("udp_sendmsg(len"));
        ck_assert(!args_choice_is_valid("udp_sendmsg(len)x"));
        ck_assert(!args_choice_is_valid("udp_sendmsg(len))"));
        ck_assert(!args_choice_is_valid("udp_sendmsg(a b)"));
        ck_assert(!args_choice_is_valid("(len)"));
        ck_assert(!args_choice_is_valid("udp_sendmsg(len\n-:x)"));
        ck_assert(!args_choice_is_valid("udp_sendmsg(a=$comm)"));
}

TEST(no_more_fields_than_a_probe_takes) {
        char text[256] = "f(a";

        for (int i = 1; i < ARGS_CHOICE_FIELDS_MAX; i++)
                strcat(text, ",a");
        strcat(text, ")");
        ck_assert(args_choice_is_valid(text));
        strcpy(text + strlen(text) - 1, ",a)");
        ck_assert(!args_choice_is_valid(text));
}

TEST(commas_in_parentheses_separate_fields_and_not_choices) {
        _cleanup_strv_ Strv choices = {}, fields = {};
        _cleanup_free_ char *function = NULL;

        ck_assert_int_eq(strv_split_outside(&choices, "a,b(c, (d)e.f),,g", ","), 0);
        ck_assert_uint_eq(choices.n, 3);
        ck_assert_str_eq(choices.items[0], "a");
        ck_assert_str_eq(choices.items[1], "b(c, (d)e.f)");
        ck_assert_str_eq(choices.items[2], "g");
        ck_assert_int_eq(args_choice_split(&fields, choices.items[1]), 0);
        ck_assert_uint_eq(fields.n, 2);
        ck_assert_str_eq(fields.items[0], "c");
        ck_assert_str_eq(fields.items[1], "(d)e.f");
        ck_assert_int_eq(args_choice_split(&fields, "plain"), 0);
        ck_assert_uint_eq(fields.n, 2);
        function = args_choice_function(choices.items[1]);
        ck_assert_str_eq(function, "b");
}
