/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/alike.h"
#include "unit.h"

static bool are_alike(const char *a, const char *b) {
        Function f = { .label = a, .n_label = (uint32_t) strlen(a) };
        Function g = { .label = b, .n_label = (uint32_t) strlen(b) };
        Alike x, y;

        f.n_name = (uint32_t) strcspn(a, " ");
        g.n_name = (uint32_t) strcspn(b, " ");
        x = alike_of(&f);
        y = alike_of(&g);
        if (alike_equal(&x, &y))
                ck_assert_uint_eq(alike_hash(&x), alike_hash(&y));
        return alike_equal(&x, &y);
}

START_TEST(clones_are_their_function)
        {
                ck_assert(are_alike("skb_clone.part.50", "skb_clone"));
                ck_assert(are_alike("validate_xmit_skb.isra.92.part.93", "validate_xmit_skb.cold"));
                ck_assert(are_alike("ttwu_do_activate.constprop.93", "ttwu_do_activate"));
                ck_assert(!are_alike("skb_clone", "skb_clone_sk"));
        }
END_TEST

START_TEST(system_calls_are_alike_in_every_era)
        {
                ck_assert(are_alike("SyS_write", "__x64_sys_write"));
                ck_assert(are_alike("__arm64_sys_write", "ksys_write"));
                ck_assert(are_alike("sys_write", "__se_sys_write"));
                ck_assert(!are_alike("SyS_write", "__x64_sys_writev"));
                ck_assert(!are_alike("write", "SyS_write"));
                ck_assert(are_alike("sys_", "sys_"));
        }
END_TEST

START_TEST(a_module_may_have_become_part_of_the_kernel)
        { ck_assert(are_alike("nf_hook_slow [nf_conntrack]", "nf_hook_slow")); }
END_TEST

/* A child of @parent. */
static CallNode *child(CallTree *t, CallNode *parent, const Function *function) {
        CallNode *n = call_tree_child(t, parent, function);

        ck_assert_ptr_nonnull(n);
        n->n = 1;
        return n;
}

START_TEST(a_twin_has_the_same_callers)
        {
                static const Function functions[] = {
                        { .label = "a.part.3", .n_label = 8, .n_name = 8 },
                        { .label = "b", .n_label = 1, .n_name = 1 },
                        { .label = "SyS_write", .n_label = 9, .n_name = 9 },
                        { .label = "a", .n_label = 1, .n_name = 1 },
                        { .label = "__x64_sys_write", .n_label = 15, .n_name = 15 },
                };
                const Function *a_part = &functions[0], *b = &functions[1], *write = &functions[2];
                _cleanup_(call_tree_freep) CallTree *t = NULL;
                _cleanup_(hash_done) Hash path_match = {};
                CallNode *root, *a, *a_b, *w, *w_b;

                ck_assert_int_eq(call_tree_new(&t, NULL), 0);
                root = call_tree_root(t);
                a = child(t, root, a_part);
                a_b = child(t, a, b);
                w = child(t, root, write);
                w_b = child(t, w, b);
                ck_assert_int_eq(call_tree_finish(t), 0);
                ck_assert_int_eq(alike_index_nodes(&path_match, t), 0);
                ck_assert_ptr_eq(alike_find_node(&path_match, root, &functions[3]), a);
                ck_assert_ptr_eq(alike_find_node(&path_match, root, &functions[4]), w);
                ck_assert_ptr_eq(alike_find_node(&path_match, a, b), a_b);
                ck_assert_ptr_eq(alike_find_node(&path_match, w, b), w_b);
                ck_assert_ptr_null(alike_find_node(&path_match, root, b));
                ck_assert_ptr_null(alike_find_node(&path_match, a, a_part));
                ck_assert_ptr_null(alike_find_node(&path_match, NULL, b));
        }
END_TEST

UNIT_SUITE("alike", a_twin_has_the_same_callers, clones_are_their_function,
           system_calls_are_alike_in_every_era, a_module_may_have_become_part_of_the_kernel)
