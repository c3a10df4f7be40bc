/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "analyze/call-tree.h"
#include "fed.h"

typedef struct Grown {
        Pairing *pairing;
        CallTree *tree;
} Grown;

static Grown grown(void) {
        Grown g = { .pairing = fed_pairing() };

        ck_assert_int_eq(call_tree_new(&g.tree, g.pairing), 0);
        return g;
}

static void grown_done(Grown *g) {
        call_tree_free(g->tree);
        pairing_free(g->pairing);
}
#define _cleanup_grown_ _cleanup_(grown_done)
#define GROWN_TEST(name) TEST_WITH(name, (Grown * g), _cleanup_grown_ Grown g = grown(), &g)

/* All nodes as "name n total self; ", those below in parentheses. */
static const char *text_of(Grown *g) {
        static char text[1024];
        const CallNode *root = call_tree_root(g->tree);
        int32_t level = 1;
        size_t n = 0;

        text[0] = 0;
        for (const CallNode *c = call_node_next(root, root); c; c = call_node_next(root, c)) {
                for (; level < c->level; level++)
                        n += (size_t) snprintf(text + n, sizeof(text) - n, "(");
                for (; level > c->level; level--)
                        n += (size_t) snprintf(text + n, sizeof(text) - n, ")");
                n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%.*s %llu %llu %llu",
                                       n > 0 && text[n - 1] != '(' ? " " : "",
                                       (int) c->function->n_name, c->function->label,
                                       (unsigned long long) c->n, (unsigned long long) c->total_ns,
                                       (unsigned long long) c->self_ns);
        }
        for (; level > 1; level--)
                n += (size_t) snprintf(text + n, sizeof(text) - n, ")");
        return text;
}

static const char *finished(Grown *g) {
        ck_assert_int_eq(pairing_finish(g->pairing), 0);
        ck_assert_int_eq(call_tree_finish(g->tree), 0);
        ck_assert_uint_eq(call_tree_root(g->tree)->total_ns, g->pairing->total_ns);
        ck_assert_uint_eq(call_tree_root(g->tree)->n_below, g->pairing->n_calls);
        return text_of(g);
}

GROWN_TEST(calls_on_the_same_path_are_one_node) {
        for (int i = 0; i < 2; i++) {
                FEED(g->pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 30),
                     step_leaf(&step_module, 1, 5), step_leaf(&step_child, 1, 10),
                     step_leave(&step_root, 0, 100));
        }
        ck_assert_str_eq(finished(g), "root 2 200 110(child 4 80 80 leaf 2 10 10)");
        ck_assert_uint_eq(call_tree_n_nodes(g->tree), 3);
        ck_assert_uint_eq(call_tree_root(g->tree)->children->children->min_ns, 10);
        ck_assert_uint_eq(call_tree_root(g->tree)->children->children->max_ns, 30);
}

GROWN_TEST(the_same_function_is_a_node_under_each_caller) {
        FEED(g->pairing, step_enter(&step_root, 0), step_leaf(&step_module, 1, 5),
             step_enter(&step_child, 1), step_leaf(&step_module, 2, 50),
             step_leave(&step_child, 1, 60), step_leave(&step_root, 0, 100));
        ck_assert_str_eq(finished(g), "root 1 100 35(child 1 60 10(leaf 1 50 50) leaf 1 5 5)");
}

GROWN_TEST(what_took_longest_comes_first) {
        FEED(g->pairing, step_leaf(&step_child, 0, 5), step_leaf(&step_root, 0, 70),
             step_leaf(&step_module, 0, 50));
        ck_assert_str_eq(finished(g), "root 1 70 70 leaf 1 50 50 child 1 5 5");
}

GROWN_TEST(an_end_has_the_calls_before_it_that_are_deeper) {
        FEED(g->pairing, step_leaf(&step_child, 3, 30), step_leaf(&step_module, 3, 20),
             step_leave(&step_root, 2, 80));
        ck_assert_str_eq(finished(g), "root 1 80 30(child 1 30 30 leaf 1 20 20)");
        ck_assert_uint_eq(call_tree_root(g->tree)->children->n_cut, 0);
}

GROWN_TEST(ends_alone_make_a_tree) {
        for (int i = 0; i < 3; i++) {
                FEED(g->pairing, step_leave(&step_module, 3, 10), step_leave(&step_child, 2, 30),
                     step_leave(&step_module, 2, 20), step_leave(&step_root, 0, 100));
        }
        FEED(g->pairing, step_leave(&step_module, 1, 7));
        ck_assert_str_eq(finished(g), "root 3 300 150(child 3 90 60(leaf 3 30 30) leaf 3 60 60) "
                                      "leaf 1 7 7");
        ck_assert_uint_eq(call_tree_root(g->tree)->children->n_cut, 0);
}

GROWN_TEST(memory_does_not_grow_with_ends) {
        const CallNode *top = call_tree_root(g->tree), *lowest = top, *highest = top;

        for (int i = 0; i < 100000; i++) {
                FEED(g->pairing, step_leave(&step_module, 3, 10), step_leave(&step_child, 2, 30),
                     step_leave(&step_root, 0, 100));
        }
        ck_assert_str_eq(finished(g), "root 100000 10000000 7000000(child 100000 3000000 2000000("
                                      "leaf 100000 1000000 1000000))");
        lowest = highest = top->children;
        for (const CallNode *c = lowest; c; c = c->children) {
                lowest = MIN(lowest, c);
                highest = MAX(highest, c);
        }
        /* All are of the first handful. */
        ck_assert_uint_lt((uintptr_t) highest - (uintptr_t) lowest, 256 * sizeof(*top));
}

GROWN_TEST(what_is_open_at_the_end_took_what_was_seen) {
        Step late = step_leaf(&step_module, 2, 30);

        FEED(g->pairing, step_enter(&step_root, 0), step_enter(&step_child, 1));
        late.timestamp_ns += 500;
        FEED(g->pairing, late);
        ck_assert_str_eq(finished(g), "root 1 530 0(child 1 530 500(leaf 1 30 30))");
        ck_assert_uint_eq(call_tree_root(g->tree)->children->n_cut, 1);
}

static bool is_leaf(void *userdata, const Function *function) {
        (void) userdata;
        return function == &step_module;
}

static bool is_module(void *userdata, const Function *function) {
        (void) userdata;
        return function_plain(function) == &step_module;
}

TEST(callers_are_below_what_they_call) {
        _cleanup_grown_ Grown g = grown(), turned = {};

        FEED(g.pairing, step_enter(&step_root, 0), step_leaf(&step_module, 1, 5),
             step_enter(&step_child, 1), step_leaf(&step_module, 2, 50),
             step_leave(&step_child, 1, 60), step_leave(&step_root, 0, 100));
        (void) finished(&g);
        ck_assert_int_eq(call_tree_callers(&turned.tree, g.tree, is_leaf, NULL), 0);
        ck_assert_str_eq(text_of(&turned), "leaf 2 55 55(child 1 50 50(root 1 50 50) root 1 5 5)");
}

TEST(recursion_counts_once_among_callers) {
        _cleanup_grown_ Grown g = grown(), turned = {};

        FEED(g.pairing, step_enter(&step_module, 0), step_leaf(&step_module, 1, 50),
             step_leave(&step_module, 0, 60));
        (void) finished(&g);
        ck_assert_int_eq(call_tree_callers(&turned.tree, g.tree, is_leaf, NULL), 0);
        ck_assert_str_eq(text_of(&turned), "leaf 2 60 60(leaf 1 0 50)");
        ck_assert_uint_eq(call_tree_root(turned.tree)->total_ns, 60);
}

/* --- from where calls were made --------------------------------------------------------------- */

static const Function inlined = { .label = "inl",
                                  .n_label = 3,
                                  .n_name = 3,
                                  .kind = FUNCTION_INLINED },
                      child_1 = { .label = "child (a.c:1)",
                                  .n_label = 13,
                                  .n_name = 5,
                                  .n_place = 8,
                                  .plain = &step_child },
                      child_2 = { .label = "child (a.c:2)",
                                  .n_label = 13,
                                  .n_name = 5,
                                  .n_place = 8,
                                  .plain = &step_child };
static const CallWay direct = { .n = 1, .functions = { &child_1 } },
                     through = { .n = 2, .functions = { &inlined, &child_2 } };

/* What was asked, in the order of questions: "root: child ? child; ". */
typedef struct Asked {
        char text[512];
        size_t n;
} Asked;

static void note(Asked *a, const char *s) {
        a->n += (size_t) snprintf(a->text + a->n, sizeof(a->text) - a->n, "%s", s);
}

/* Every other call is through what was inlined. */
static int find_ways(void *userdata, const Function *caller, const Function *const *callees,
                     size_t n, bool has_ended, const CallWay **ret) {
        Asked *a = userdata;

        note(a, caller->label);
        note(a, ":");
        for (size_t i = 0; i < n; i++) {
                note(a, callees[i] ? " " : " ?");
                note(a, callees[i] ? callees[i]->label : "");
                ret[i] = !callees[i] ? NULL : i % 2 ? &through : &direct;
        }
        note(a, has_ended ? "; " : " ...; ");
        return 0;
}

static Grown asking(Asked *a) {
        Grown g = grown();

        g.pairing->find_ways = find_ways;
        g.pairing->ways_userdata = a;
        return g;
}

TEST(what_was_inlined_is_between_with_the_time_below_it) {
        Asked asked = {};
        _cleanup_grown_ Grown g = asking(&asked);

        FEED(g.pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 30),
             step_leaf(&step_child, 1, 10), step_leaf(&step_child, 1, 2),
             step_leaf(&step_child, 1, 1), step_leave(&step_root, 0, 100));
        ck_assert_str_eq(finished(&g), "root 1 100 57(child 2 32 32 inl 0 11 0(child 2 11 11))");
        ck_assert_str_eq(asked.text, "root: child child child child; ");
        ck_assert_int_eq(call_tree_finish(g.tree), 0); /* and no more the second time */
        ck_assert_uint_eq(call_tree_root(g.tree)->children->children->next->total_ns, 11);
}

TEST(interrupts_and_what_is_not_called_directly_have_no_way) {
        Asked asked = {};
        _cleanup_grown_ Grown g = asking(&asked);

        FEED(g.pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 30),
             step_leaf(&step_irq, 1, 3), step_leaf(&step_module, 3, 5),
             step_leaf(&step_child, 1, 1), step_leave(&step_root, 0, 100));
        (void) finished(&g);
        ck_assert_str_eq(asked.text, "root: child child; ");
}

TEST(what_may_lack_in_between_is_told) {
        Asked asked = {};
        _cleanup_grown_ Grown g = asking(&asked);
        Step left_out = step_leave(&step_root, 0, 100);

        FEED(g.pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 30),
             step_of(STEP_LOST, NULL, 0), step_leaf(&step_child, 1, 1),
             step_leaf(&step_child, 1, 1), step_leave(&step_root, 0, 100));
        left_out.n_left_out = 1;
        FEED(g.pairing, step_enter(&step_root, 0), step_leaf(&step_child, 1, 30), left_out);
        ck_assert_int_eq(pairing_finish(g.pairing), 0);
        ck_assert_str_eq(asked.text, "root: child ? child child ...; root: ? child ...; ");
}

TEST(recursion_at_two_lines_counts_once_among_callers) {
        static const Function again = {
                .label = "leaf", .n_label = 4, .n_name = 4, .plain = &step_module
        };
        static const CallWay self = { .n = 1, .functions = { &again } };
        _cleanup_grown_ Grown g = grown(), turned = {};
        CallNode *top = call_tree_child(g.tree, call_tree_root(g.tree), &step_module), *below;
        Frame frame = { .function = &step_module, .way = &self };

        below = call_tree_enter(g.tree, top, frame.way, frame.function);
        call_node_add(below, &(Call){ .frame = &frame, .duration_ns = 50, .self_ns = 50 });
        call_node_add(top, &(Call){ .frame = &frame, .duration_ns = 60, .self_ns = 10 });
        ck_assert_int_eq(call_tree_finish(g.tree), 0);
        ck_assert_int_eq(call_tree_callers(&turned.tree, g.tree, is_module, NULL), 0);
        ck_assert_uint_eq(call_tree_root(turned.tree)->total_ns, 60);
}

/* Both roots stand below whom the kernel's stacks say, which have no calls; who has none stands at the top. */
GROWN_TEST(roots_stand_below_their_callers) {
        static char text[] = "callers: leaf < module";
        static const Callers of_root = { .root = &step_root,
                                         .text = text,
                                         .n = 2,
                                         .functions = { &step_module, &step_irq } },
                             of_child = { .root = &step_child,
                                          .text = text,
                                          .n = 2,
                                          .functions = { &step_module, &step_irq } };

        FEED(g->pairing, step_enter(&step_root, 0),
             (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_root },
             step_leaf(&step_child, 1, 30), step_leave(&step_root, 0, 100));
        FEED(g->pairing, step_enter(&step_child, 0),
             (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_child },
             step_leave(&step_child, 0, 50));
        FEED(g->pairing, step_leaf(&step_root, 0, 7));
        ck_assert_str_eq(finished(g), "tick 0 150 0(leaf 0 150 0(root 1 100 70(child 1 30 30) "
                                      "child 1 50 50)) root 1 7 7");
}

/* Up to Linux 5.10 a probe is recorded before the call; whose call was lost says nothing of the next one. */
GROWN_TEST(callers_may_come_before_their_root) {
        static char text[] = "callers: leaf";
        static const Callers of_root = {
                .root = &step_root, .text = text, .n = 1, .functions = { &step_module }
        };
        static const Step told = { .kind = STEP_OTHER, .pid = 17, .callers = &of_root };

        FEED(g->pairing, told, step_leaf(&step_irq, 0, 30), step_leaf(&step_root, 0, 100),
             step_leaf(&step_root, 0, 7));
        FEED(g->pairing, told, (Step){ .kind = STEP_LOST, .n_lost = 1 },
             step_leaf(&step_root, 0, 5));
        FEED(g->pairing, step_enter(&step_child, 0), told, step_leave(&step_child, 0, 60),
             step_leaf(&step_root, 0, 1));
        FEED(g->pairing, told, step_leaf(&step_child, 0, 20), step_leaf(&step_root, 0, 1));
        ck_assert_str_eq(finished(g), "leaf 0 100 0(root 1 100 100) child 2 80 80 tick 1 30 30 "
                                      "root 4 14 14");
}

/* The inner one's do not become the outer one's. */
GROWN_TEST(callers_of_a_root_within_itself_are_the_inner_ones) {
        static char text[] = "callers: leaf";
        static const Callers outer = {
                .root = &step_root, .text = text, .n = 1, .functions = { &step_module }
        };
        static const Callers inner = {
                .root = &step_root, .text = text, .n = 2, .functions = { &step_module, &step_root }
        };
        static const Step told[] = { { .kind = STEP_OTHER, .pid = 17, .callers = &outer },
                                     { .kind = STEP_OTHER, .pid = 17, .callers = &inner } };

        FEED(g->pairing, told[0], step_enter(&step_root, 0), told[1], step_leaf(&step_root, 1, 20),
             step_leave(&step_root, 0, 100));
        ck_assert_str_eq(finished(g), "leaf 0 100 0(root 1 100 80(root 1 20 20))");
}

/* Of its caller one call was recorded, and the one that it was called by was not: there the tree has the time of both. */
GROWN_TEST(above_a_caller_with_calls_is_the_time_of_all) {
        static char text[] = "callers: tick";
        static const Callers of_module = { .root = &step_module,
                                           .text = text,
                                           .n = 1,
                                           .functions = { &step_irq } },
                             of_child = { .root = &step_child,
                                          .text = text,
                                          .n = 2,
                                          .functions = { &step_module, &step_irq } };

        FEED(g->pairing, step_enter(&step_module, 0),
             (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_module },
             step_leave(&step_module, 0, 100));
        FEED(g->pairing, step_enter(&step_child, 0),
             (Step){ .kind = STEP_OTHER, .pid = 17, .callers = &of_child },
             step_leave(&step_child, 0, 50));
        ck_assert_str_eq(finished(g), "tick 0 150 0(leaf 1 100 100(child 1 50 50))");
}

GROWN_TEST(a_thousand_levels_are_a_thousand_nodes) {
        const CallNode *node;
        int32_t n = 0;

        for (int32_t depth = 0; depth < 1000; depth++)
                FEED(g->pairing, step_enter(depth % 2 ? &step_child : &step_root, depth));
        for (int32_t depth = 999; depth >= 0; depth--)
                FEED(g->pairing, step_leave(depth % 2 ? &step_child : &step_root, depth,
                                            (uint64_t) (1000 - depth)));
        (void) pairing_finish(g->pairing);
        ck_assert_int_eq(call_tree_finish(g->tree), 0);
        for (node = call_tree_root(g->tree); node->children; node = node->children)
                ck_assert_int_eq(node->level, n++);
        ck_assert_int_eq(node->level, 1000);
        ck_assert_uint_eq(call_tree_root(g->tree)->total_ns, 1000);
}

GROWN_TEST(a_threshold_leaves_no_more_nodes_than_asked_and_callers_first) {
        const CallNode *root;

        for (int32_t depth = 0; depth < 100; depth++)
                FEED(g->pairing, step_enter(depth % 2 ? &step_child : &step_root, depth));
        for (int32_t depth = 99; depth >= 0; depth--)
                FEED(g->pairing, step_leave(depth % 2 ? &step_child : &step_root, depth,
                                            (uint64_t) (100 - depth) / 3));
        (void) pairing_finish(g->pairing);
        ck_assert_int_eq(call_tree_finish(g->tree), 0);
        root = call_tree_root(g->tree);
        for (size_t n_max = 0; n_max < 110; n_max++) {
                uint64_t least_ns;
                size_t n = 0;

                ck_assert_int_eq(call_tree_threshold(&least_ns, g->tree, n_max), 0);
                for (const CallNode *c = call_node_next(root, root); c;
                     c = call_node_next(root, c)) {
                        n += c->share_ns >= least_ns;
                        if (c->share_ns >= least_ns && c->level > 1)
                                ck_assert_uint_ge(c->parent->share_ns, least_ns);
                }
                ck_assert_uint_le(n, n_max);
                ck_assert_uint_ge(n + 3, MIN(n_max, (size_t) 100));
        }
}
