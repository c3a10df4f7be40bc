/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a function's own time may be besides, of what was not hooked. */

#include "calls/function.h"
#include "meta/meta.h"
#include "unit.h"

static SessionMeta *meta_of(const char *left_out, const char *callers) {
        SessionMeta *m = MADE(SessionMeta, session_meta_new);

        m->id = strdup("0123456789abcdef");
        m->n_known = 10;
        m->n_hooked = 6;
        m->tree_from = TREE_LEARNED;
        ck_assert_int_ge(strv_split(&m->left_out, left_out, " "), 0);
        ck_assert_int_ge(strv_split(&m->left_out_in, callers, "/"), 0);
        return m;
}

static int32_t below(const SessionMeta *m, const char *function) {
        _cleanup_(unhooked_done) Unhooked u;
        bool was_left_out;

        ck_assert_int_eq(unhooked_init(&u, m), 0);
        return unhooked_below(&u, function, &was_left_out);
}

TEST(below_a_function_is_what_it_calls_by_what_was_not_hooked_alone) {
        /* hot > a > b > a again; c is hot's and d's. */
        _cleanup_(session_meta_freep) SessionMeta *m = meta_of("a b c", "hot b/a/hot d");
        static const struct {
                const char *function;
                int32_t n;
        } cases[] = { { "hot", 3 }, { "d", 1 },     { "a", 1 }, { "b", 1 },
                      { "c", 0 },   { "other", 0 }, { "ho", 0 } };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                ck_assert_msg(below(m, cases[i].function) == cases[i].n, "%s: %d",
                              cases[i].function, (int) below(m, cases[i].function));
}

TEST(what_is_called_by_nobody_knows_whom_is_below_all) {
        _cleanup_(session_meta_freep) SessionMeta *m = meta_of("a b c", "hot .../b");

        ck_assert_int_eq(below(m, "other"), 2); /* a, which has other callers, and c */
        ck_assert_int_eq(below(m, "b"), 2);
        ck_assert_int_eq(below(m, "a"), 1);
}

TEST(it_is_unknown_of_all_of_some_or_untold) {
        _cleanup_(session_meta_freep) SessionMeta *m = meta_of("a", "hot");

        ck_assert_int_ge(strv_add(&m->callees_unknown_of, "f"), 0);
        ck_assert_int_eq(below(m, "f"), UNHOOKED_UNKNOWN);
        ck_assert_int_eq(below(m, "g"), 0);
        m->callees_unknown = true;
        ck_assert_int_eq(below(m, "g"), UNHOOKED_UNKNOWN);
        *m->id = 0; /* of another program's file */
        ck_assert_int_eq(below(m, "f"), UNHOOKED_UNTOLD);
}

TEST(words_claim_no_more_than_is_known) {
        ck_assert_str_eq(UNHOOKED_TEXT(UNHOOKED_UNTOLD), "");
        ck_assert_str_eq(UNHOOKED_TEXT(0), "");
        ck_assert_str_eq(UNHOOKED_TEXT(1), " or below it (1 function not hooked)");
        ck_assert_str_eq(UNHOOKED_TEXT(1234), " or below it (1,234 functions not hooked)");
        ck_assert_str_eq(UNHOOKED_TEXT(UNHOOKED_UNKNOWN),
                         " or below it (its callees are not known)");
}

static void check_description(const SessionMeta *m, const char *expected, const char *scope) {
        _cleanup_buf_ Buf out = BUF_INIT, of = BUF_INIT;

        unhooked_describe(&out, m);
        unhooked_describe_scope(&of, m);
        EXPECT_TEXT(out, expected);
        EXPECT_TEXT(of, scope);
}

TEST(a_recording_says_how_many_were_hooked_and_why_not_all) {
        _cleanup_(session_meta_freep) SessionMeta *m = meta_of("a b c d", "hot/hot/hot/hot");

        ck_assert_int_ge(strv_split(&m->left_out_why, "cost filter cost cost", " "), 0);
        check_description(m,
                          "hooked 6 of 10 known functions; left out: 3 for their cost "
                          "(a, c, ...), 1 by filters (b)",
                          " for the 6 functions that were hooked of 10 known");
        m->left_out_why.n--;
        check_description(m,
                          "hooked 6 of 10 known functions; left out: 2 for their cost "
                          "(a, c), 1 by filters (b), 1 (d)",
                          " for the 6 functions that were hooked of 10 known");
        m->left_out_why.n++;
        m->n_hooked = 0; /* all but these */
        m->n_known = 0;
        strv_done(&m->left_out_why);
        check_description(m, "hooked all other functions; left out: 4 (a, b, ...)", "");
        strv_done(&m->left_out);
        check_description(m, "", "");
        m->n_hooked = 12; /* a whole tree, and waiting ones */
        m->n_known = 10;
        check_description(m, "hooked 10 of 10 known functions",
                          " for the 10 functions that were hooked of 10 known");
        m->n_known = 0;
        m->n_hooked = 7;
        m->callees_unknown = true;
        check_description(m, "hooked 7 functions; what else they call is not known",
                          " for the 7 functions that were hooked");
        m->tree_from = TREE_UNKNOWN;
        check_description(m,
                          "hooked 7 functions; what else they call is not known, since "
                          "nothing was learned",
                          " for the 7 functions that were hooked");
        m->start.trace_ns = 100;
        m->narrowed_ns = 200; /* a lesson that ended with the session */
        check_description(m,
                          "hooked all functions at first, then 7 functions; what else "
                          "they call is not known, since learning did not finish",
                          " for the 7 functions that were hooked");
        m->tree_from = TREE_ALL;
        m->n_hooked = 0; /* as earlier versions did */
        check_description(m, "hooked nearly all functions; what else they call is not known", "");
        m->spec.flat = true;
        check_description(m, "", "");
}
