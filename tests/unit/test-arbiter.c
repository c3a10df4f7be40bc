/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/admission/admission.h"
#include "tests/unit/unit.h"

static Arbiter arbiter;

static Strv list(const char *words) {
        Strv v = {};

        ck_assert_int_eq(strv_split(&v, words, " "), 0);
        return v;
}

/* What is in the way of a session; NULL: nothing, and it has joined. */
static const char *join(const char *name, const char *roots, const char *notrace,
                        ClaimValues values) {
        _cleanup_strv_ Strv r = list(roots), n = list(notrace);
        const Claim *holder = NULL;
        const char *what = NULL;
        Claim *claim;
        int looked = arbiter_look(&arbiter, &r, &n, &values, &holder, &what);
        int joined = arbiter_join(&arbiter, &claim, name, 1000, &r, &n, &values, &holder, &what);

        ck_assert_int_eq(looked, joined);
        ck_assert(joined == 0 || joined == ARBITER_E_HELD);
        if (joined == ARBITER_E_HELD)
                ck_assert_str_eq(holder->session, "first");
        return joined == 0 ? NULL : what;
}

static const Claim *claim_of(const char *name) {
        for (size_t i = 0; i < arbiter.n; i++)
                if (streq(arbiter.claims[i]->session, name))
                        return arbiter.claims[i];
        return NULL;
}

static void check_list(Strv v, const char *wanted) {
        _cleanup_free_ char *joined = strv_join(&v, " ");

        ck_assert_str_eq(joined ?: "", wanted);
        strv_done(&v);
}

TEST(roots_are_united_and_each_session_adds_what_no_other_has) {
        Strv own = {}, all = {}, neighbours = {};

        ck_assert_ptr_null(join("first", "a b", "", (ClaimValues){}));
        ck_assert_ptr_null(join("second", "b c", "", (ClaimValues){}));
        ck_assert_int_eq(arbiter_own_roots(&arbiter, claim_of("second"), &own), 0);
        check_list(own, "c");
        ck_assert_int_eq(arbiter_all_roots(&arbiter, &all), 0);
        check_list(all, "a b c");
        ck_assert_int_eq(arbiter_neighbours(&arbiter, claim_of("first"), &neighbours), 0);
        check_list(neighbours, "second");

        arbiter_leave(&arbiter, (Claim *) claim_of("first"));
        own = all = (Strv){};
        ck_assert_int_eq(arbiter_own_roots(&arbiter, claim_of("second"), &own), 0);
        check_list(own, "b c");
        ck_assert_int_eq(arbiter_all_roots(&arbiter, &all), 0);
        check_list(all, "b c");
        arbiter_done(&arbiter);
}

TEST(each_value_that_is_one_for_all_sessions_keeps_others_out_by_its_file) {
        static const struct {
                ClaimValues values;
                const char *notrace, *file;
        } cases[] = {
                { { .depth = 3 }, "", "max_graph_depth" },
                { {}, "n", "set_graph_notrace" },
                { { .thresh_us = 5 }, "", "tracing_thresh" },
                { { .no_irqs = true }, "", "options/funcgraph-irqs" },
                { { .no_sleep_time = true }, "", "options/sleep-time" },
                { { .args = true }, "", "options/funcgraph-args" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const char *what;

                ck_assert_ptr_null(join("first", "a", "", (ClaimValues){}));
                what = join("second", "a", cases[i].notrace, cases[i].values);
                ck_assert_ptr_nonnull(what);
                ck_assert_str_eq(what, cases[i].file);
                arbiter_done(&arbiter);

                ck_assert_ptr_null(join("first", "a", cases[i].notrace, cases[i].values));
                what = join("second", "a", "", (ClaimValues){});
                ck_assert_ptr_nonnull(what);
                ck_assert_str_eq(what, cases[i].file);
                ck_assert_ptr_null(join("equal", "a", cases[i].notrace, cases[i].values));
                arbiter_done(&arbiter);
        }
}

TEST(a_depth_is_shared_only_with_the_same_roots) {
        ck_assert_ptr_null(join("first", "a b", "", (ClaimValues){ .depth = 2 }));
        ck_assert_ptr_nonnull(join("second", "a", "", (ClaimValues){ .depth = 2 }));
        ck_assert_ptr_nonnull(join("second", "a c", "", (ClaimValues){ .depth = 2 }));
        ck_assert_ptr_null(join("second", "a b", "", (ClaimValues){ .depth = 2 }));
        arbiter_done(&arbiter);
}

TEST(a_threshold_is_shared_with_other_roots_only_if_both_are_flat) {
        const ClaimValues slow = { .thresh_us = 9 };
        const ClaimValues flat = { .thresh_us = 9, .flat = true };
        const char *what;

        ck_assert_ptr_null(join("first", "a", "", flat));
        ck_assert_ptr_null(join("second", "b", "", flat));
        arbiter_done(&arbiter);

        ck_assert_ptr_null(join("first", "a", "", flat));
        what = join("second", "b", "", slow);
        ck_assert_ptr_nonnull(what);
        ck_assert_str_eq(what, "set_graph_function (with --slower, but without --flat)");
        ck_assert_ptr_null(join("second", "a", "", slow));
        arbiter_done(&arbiter);
}

TEST(who_was_refused_holds_nothing) {
        Strv all = {};

        ck_assert_ptr_null(join("first", "a", "", (ClaimValues){}));
        ck_assert_ptr_nonnull(join("second", "b", "", (ClaimValues){ .depth = 1 }));
        ck_assert_ptr_null(claim_of("second"));
        ck_assert_int_eq(arbiter_all_roots(&arbiter, &all), 0);
        check_list(all, "a");
        arbiter_leave(&arbiter, (Claim *) claim_of("first"));
        ck_assert_ptr_null(join("second", "b", "", (ClaimValues){ .depth = 1 }));
        arbiter_done(&arbiter);
}
