/* SPDX-License-Identifier: GPL-2.0-or-later */

/* In which order functions go that others call too often. */

#include "daemon/lean/lean.h"
#include "unit.h"

static void add(LeanTree *t, const char *name, bool leaf, uint64_t share_ppm, const char *caller) {
        ck_assert_int_eq(lean_tree_add(t, name, leaf, share_ppm), 0);
        if (caller)
                ck_assert_int_eq(lean_tree_add_caller(t, caller), 0);
}

/* root -> { upper -> { lower, part }, idle, schedule -> pick -> rq_lock } */
static void make_tree(LeanTree *t) {
        add(t, "root", false, 1000000, NULL);
        add(t, "upper", false, 800000, "root");
        add(t, "other", false, 300000, "root");
        add(t, "lower", false, 500000, "upper");
        add(t, "part", true, 200000, "upper");
        add(t, "idle", true, 100, "root");
        add(t, "schedule", false, 100000, "root");
        add(t, "pick", false, 50000, "schedule");
        add(t, "rq_lock", true, 40000, "pick");
        lean_tree_sort(t);
}

/* What goes of @tree, all of which is hooked, when its functions are called so often. */
static void expect_out(const LeanTree *tree, const char *root, LeanFunction *rates, size_t n_rates,
                       uint64_t budget_ppm, const char *wanted) {
        Load load = { .rates = { rates, n_rates }, .window_ns = 10000000, .hook_ns = 100 };
        _cleanup_strv_ Strv hooked = {}, roots = {}, out = {};
        _cleanup_(ranks_done) Ranks ranks = {};
        _cleanup_free_ char *text = NULL;

        ck_assert(!root || strv_add(&roots, root) >= 0);
        for (size_t i = 0; i < tree->n; i++)
                ck_assert_int_ge(strv_add(&hooked, tree->functions[i].name), 0);
        ck_assert_int_eq(thinning_rank(&ranks, tree, &hooked, &roots), 0);
        ck_assert_int_eq(thinning_choose(&ranks, &load, budget_ppm, &out), 0);
        text = strv_join(&out, " ");
        ck_assert_msg(streq(text, wanted), "%s", text);
}

TEST(what_tells_least_goes_first_and_each_layer_keeps_one) {
        static const struct {
                uint64_t budget_ppm;
                const char *left_out;
        } cases[] = {
                { UINT64_MAX, "" },
                { 80000, "" },
                { 79999, "idle" },
                { 69999, "idle pick" },
                { 59999, "idle pick rq_lock" },
                { 49999, "idle part pick rq_lock" },
                { 39999, "idle other part pick rq_lock" }, /* upper is left at its depth */
                { 9999, "idle other part pick rq_lock schedule" },
                { 0, "idle other part pick rq_lock schedule" },
        };
        LeanFunction rates[] = { { .name = (char *) "idle", .n_calls = 1000 },
                                 { .name = (char *) "lower", .n_calls = 1000 },
                                 { .name = (char *) "other", .n_calls = 1000 },
                                 { .name = (char *) "part", .n_calls = 1000 },
                                 { .name = (char *) "pick", .n_calls = 1000 },
                                 { .name = (char *) "root", .n_calls = 1000 },
                                 { .name = (char *) "rq_lock", .n_calls = 1000 },
                                 { .name = (char *) "schedule", .n_calls = 1000 },
                                 { .name = (char *) "upper", .n_calls = 1000 } };
        _cleanup_lean_tree_ LeanTree tree = {};

        make_tree(&tree);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                expect_out(&tree, "root", rates, ELEMENTSOF(rates), cases[i].budget_ppm,
                           cases[i].left_out);
}

TEST(of_a_class_the_most_called_goes_first_and_the_uncalled_stays) {
        LeanFunction rates[] = { { .name = (char *) "a", .n_calls = 10 },
                                 { .name = (char *) "b", .n_calls = 1000 } };
        _cleanup_lean_tree_ LeanTree tree = {};

        add(&tree, "a", true, 0, NULL);
        add(&tree, "b", true, 0, NULL);
        add(&tree, "c", true, 0, NULL);
        expect_out(&tree, NULL, rates, 2, 5000, "b");
}

TEST(a_tree_need_not_name_its_root) {
        LeanFunction rates[] = { { .name = (char *) "lower", .n_calls = 1000 },
                                 { .name = (char *) "other", .n_calls = 1000 },
                                 { .name = (char *) "upper", .n_calls = 1000 } };
        _cleanup_lean_tree_ LeanTree tree = {};

        add(&tree, "lower", false, 0, "upper");
        add(&tree, "other", false, 0, "root");
        add(&tree, "upper", false, 0, "root");
        expect_out(&tree, "root", rates, 3, 0, "other");
}

TEST(what_is_not_hooked_any_more_stays_out) {
        Load first = {}, second = {}, third = {};

        for (const char *const *s = (const char *const[]){ "a", "b", "c", NULL }; *s; s++)
                ck_assert_int_ge(strv_add(&first.counted, *s), 0);
        ck_assert_int_ge(strv_add(&second.counted, "b"), 0);
        ck_assert_int_ge(strv_add(&second.counted, "c"), 0);
        ck_assert_int_ge(strv_add(&third.counted, "c"), 0);
        ck_assert_int_eq(load_keep(&first, &(Load){}), 0);
        ck_assert_uint_eq(first.out.n, 0);
        ck_assert_int_eq(load_keep(&second, &first), 0);
        ck_assert_uint_eq(second.out.n, 1);
        ck_assert_str_eq(second.out.items[0], "a");
        ck_assert_int_eq(load_keep(&third, &second), 0);
        ck_assert_uint_eq(third.out.n, 2);
        load_done(&first);
        load_done(&second);
        load_done(&third);
}

/* --- how often ------------------------------------------------------------------------------- */

TEST(answers_are_sorted_and_what_has_one_name_is_one) {
        _cleanup_lean_tree_ LeanTree t = {};

        ck_assert_int_eq(learner_read(&t, "vfs_read 3 3 1 6\n caller\nkfree 5 5 1 0\n"
                                          "vfs_read 4 2 0 1\n other\n"),
                         0);
        ck_assert_uint_eq(t.n, 2);
        ck_assert_str_eq(t.functions[0].name, "kfree");
        ck_assert_uint_eq(t.functions[0].n_calls, 5);
        ck_assert_str_eq(t.functions[1].name, "vfs_read");
        ck_assert_uint_eq(t.functions[1].n_calls, 7);
        ck_assert_uint_eq(t.functions[1].n_own, 5);
        ck_assert_uint_eq(t.functions[1].total_ns, 7);
        ck_assert_uint_eq(t.functions[1].callers.n, 2);
        ck_assert(!t.functions[1].leaf);
}

TEST(what_was_called_below_the_roots_is_not_others) {
        _cleanup_lean_tree_ LeanTree own = {};
        Load load = { .window_ns = UINT64_C(100000000), .hook_ns = 100 };

        ck_assert_int_eq(learner_read(&load.rates, "ip_output 100 100 1 0\nkfree 500 500 1 0\n"),
                         0);
        ck_assert_int_eq(learner_read(&own, "ip_output 120 120 1 0\nkfree 400 400 1 0\n"
                                            "never_sampled 9 9 1 0\n"),
                         0);
        load_subtract(&load, &(LeanTree){});
        ck_assert_uint_eq(load.rates.functions[0].n_calls, 100);
        load_subtract(&load, &own);
        ck_assert_uint_eq(load.rates.functions[0].n_calls, 0);
        ck_assert_uint_eq(load.rates.functions[1].n_calls, 100);
        ck_assert(load_cost_ppm(&load, 1000) == 1000); /* a share of a CPU */
        load_done(&load);
}

/* --- what is shipped --------------------------------------------------------------------------- */

static char *left_out(const char *root, uint64_t budget_ppm) {
        static const char *const names[] = { "pipe_read", "read_zero", "schedule", "udp_sendmsg",
                                             "write_null" };
        _cleanup_lean_tree_ LeanTree tree = {};
        _cleanup_strv_ Strv hooked = {}, roots = {}, out = {};
        _cleanup_(ranks_done) Ranks ranks = {};

        ck_assert_int_ge(strv_add(&roots, root), 0);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                ck_assert_int_eq(lean_tree_add(&tree, names[i], true, 1000), 0);
                ck_assert_int_ge(strv_add(&hooked, names[i]), 0);
        }
        ck_assert_int_eq(thinning_rank(&ranks, &tree, &hooked, &roots), 0);
        ck_assert_int_eq(usual_loads_thin(&ranks, &roots, budget_ppm, &out), 0);
        return strv_join(&out, " ");
}

TEST(what_usual_work_calls_often_goes_first) {
        static const struct {
                const char *root;
                uint64_t budget_ppm;
                const char *left_out;
        } cases[] = {
                { "udp_sendmsg", UINT64_MAX, "" },
                { "udp_sendmsg", 1000, "pipe_read read_zero schedule write_null" },
                /* dd goes its way, pipes do not */
                { "write_null", 1000, "pipe_read schedule" },
                /* and others find nothing of it */
                { "pipe_read", 1000, "read_zero schedule write_null" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = left_out(cases[i].root, cases[i].budget_ppm);

                ck_assert_msg(streq(text, cases[i].left_out), "%zu: %s", i, text);
        }
}
