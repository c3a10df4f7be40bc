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
static void expect_out(const LeanTree *tree, const char *root, CallRate *rates, size_t n_rates,
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
        CallRate rates[] = { { (char *) "idle", 1000 },    { (char *) "lower", 1000 },
                             { (char *) "other", 1000 },   { (char *) "part", 1000 },
                             { (char *) "pick", 1000 },    { (char *) "root", 1000 },
                             { (char *) "rq_lock", 1000 }, { (char *) "schedule", 1000 },
                             { (char *) "upper", 1000 } };
        _cleanup_lean_tree_ LeanTree tree = {};

        make_tree(&tree);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                expect_out(&tree, "root", rates, ELEMENTSOF(rates), cases[i].budget_ppm,
                           cases[i].left_out);
}

TEST(of_a_class_the_most_called_goes_first_and_the_uncalled_stays) {
        CallRate rates[] = { { (char *) "a", 10 }, { (char *) "b", 1000 } };
        _cleanup_lean_tree_ LeanTree tree = {};

        add(&tree, "a", true, 0, NULL);
        add(&tree, "b", true, 0, NULL);
        add(&tree, "c", true, 0, NULL);
        expect_out(&tree, NULL, rates, 2, 5000, "b");
}

TEST(a_tree_need_not_name_its_root) {
        CallRate rates[] = { { (char *) "lower", 1000 },
                             { (char *) "other", 1000 },
                             { (char *) "upper", 1000 } };
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

static void read_rates(CallRates *ret, const char *text) {
        ck_assert_int_eq(call_rates_read(ret, text), 0);
}

TEST(answers_are_sorted_and_what_has_one_name_is_one) {
        _cleanup_call_rates_ CallRates r = {};

        read_rates(&r, "vfs_read 3 3 1 0\n caller\nkfree 5 5 1 0\nvfs_read 4 4 1 0\nnone 0 "
                       "0 1 0\n");
        ck_assert_uint_eq(r.n, 2);
        ck_assert_str_eq(r.items[0].name, "kfree");
        ck_assert_uint_eq(r.items[0].n, 5);
        ck_assert_str_eq(r.items[1].name, "vfs_read");
        ck_assert_uint_eq(r.items[1].n, 7);
}

TEST(what_is_no_answer_is_refused) {
        static const char *const texts[] = { "kfree\n", "kfree 1 2\n", "kfree -1 1 1 1\n",
                                             "kfree 1 1 1 1" };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                CallRates r;

                ck_assert_msg(call_rates_read(&r, texts[i]) == CALL_RATES_E_INVALID, "%s",
                              texts[i]);
        }
}

TEST(what_was_called_below_the_roots_is_not_others) {
        _cleanup_call_rates_ CallRates all = {}, own = {}, none = {};

        read_rates(&all, "ip_output 100 100 1 0\nkfree 500 500 1 0\n");
        read_rates(&own, "ip_output 120 120 1 0\nkfree 400 400 1 0\nnever_sampled 9 9 1 0\n");
        call_rates_subtract(&all, &none);
        ck_assert_uint_eq(all.items[0].n, 100);
        call_rates_subtract(&all, &own);
        ck_assert_uint_eq(all.items[0].n, 0);
        ck_assert_uint_eq(all.items[1].n, 100);
}

TEST(what_calls_cost_is_a_share_of_a_cpu) {
        _cleanup_call_rates_ CallRates r = {};

        read_rates(&r, "a 1000 1000 1 0\nb 2000 2000 1 0\n");
        ck_assert_uint_eq(call_rates_get(&r, "b"), 2000);
        ck_assert_uint_eq(call_rates_get(&r, "c"), 0);
        ck_assert_uint_eq(call_rates_get(&(CallRates){}, "c"), 0);
        ck_assert(call_rates_cost_ppm(1000, UINT64_C(100000000), 100) == 1000);
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
