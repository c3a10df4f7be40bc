/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What was learned, as a file that nobody may be trusted to have written, what is shipped, and what follows from both. */

#include "daemon/lean/lean.h"
#include "scratch.h"

#define HEAD "ftraced lean 3\nkernel 6.12\nroots my_root\nlearned 9000000000000000000\ncalls 600\n"
#define TREE "root my_root\nkfree 1 2\n my_helper\nmy_helper 0 600000\n my_root\n"

static const char kernel_list[] = "kfree\nudp_sendmsg\nmy_root\nmy_helper\nip_make_skb\nkfree\n"
                                  "schedule\nsysvec_my_timer\nirq_enter_rcu\n";

/* A kernel, a store beside it, and its functions. */
typedef struct Case {
        Scratch s;
        Tracefs fs;
        Functions f;
        Strv roots, warnings;
} Case;

/* With what differs from the usual: my_root, --lean=auto, a tree if there is one. */
typedef struct Wish {
        const char *root;
        SpecLean lean;
        SpecLesson lesson;
        uint64_t depth;
        const char *hooked;
        LeanScope scope;
        const Load *load;
} Wish;

static void choose(LeanChoice *ret, Case *k, const Wish *w) {
        _cleanup_strv_ Strv roots = {};
        _cleanup_refusal_ Refusal refusal = {};
        _cleanup_spec_ Spec spec = SPEC_INIT;

        ck_assert_int_ge(strv_add(&roots, w->root ?: "my_root"), 0);
        spec.lean = w->lean ?: LEAN_AUTO;
        spec.lesson = w->lesson;
        spec.depth = w->depth;
        if (w->hooked)
                ck_assert_int_ge(strv_add(&spec.hooked, w->hooked), 0);
        *ret = (LeanChoice){};
        ck_assert_int_eq(lean_choose(ret,
                                     &(LeanQuestion){ .store_fd = k->s.fd,
                                                      .root_fd = k->s.fd,
                                                      .functions = &k->f,
                                                      .spec = &spec,
                                                      .roots = &roots,
                                                      .notrace = &(Strv){},
                                                      .scope = w->scope,
                                                      .load = w->load },
                                     &k->warnings, &refusal),
                         0);
}

/* Writes @text where the cache of my_root is. */
static void put_cache(Case *k, const char *text) {
        char key[LEAN_KEY_CHARS + 1], path[64];

        ck_assert_int_eq(lean_cache_make_key(k->s.fd, &k->f, &k->roots, key), 0);
        (void) snprintf(path, sizeof(path), LEAN_DIR "/%s", key);
        ck_assert_int_eq(dir_make(k->s.fd, LEAN_DIR, 0700), 0);
        ck_assert_int_eq(file_replace(k->s.fd, path, text, strlen(text), 0600), 0);
}

/* @cache: NULL: nothing was learned of my_root. */
static void case_init(Case *k, const char *cache) {
        *k = (Case){ .s = scratch_new() };
        ck_assert_int_eq(dir_make(k->s.fd, "proc", 0700), 0);
        ck_assert_int_eq(file_replace(k->s.fd, "proc/modules", "nf_nat 1 0 - Live 0x0\n", 22, 0600),
                         0);
        ck_assert_int_eq(file_replace(k->s.fd, "available_filter_functions", kernel_list,
                                      sizeof(kernel_list) - 1, 0600),
                         0);
        k->fs = (Tracefs){ .fd = k->s.fd, .root_fd = k->s.fd };
        ck_assert_int_eq(functions_load(&k->f, &k->fs), 0);
        ck_assert_int_eq(strv_add(&k->roots, "my_root"), 0);
        if (cache)
                put_cache(k, cache);
}

static void case_done(Case *k) {
        functions_done(&k->f);
        strv_done(&k->roots);
        strv_done(&k->warnings);
        scratch_done(&k->s);
}

#define CASE(k, cache)                                                                             \
        _cleanup_(case_done) Case k;                                                               \
        case_init(&k, (cache))
#define CASE_TEST(name, cache) TEST_WITH(name, (Case * k), CASE(k, cache), &k)

/* A host that is busy with @rate's function, whose hook costs 100 ns, over 10 ms. */
static Load busy_with(LeanFunction *rate) {
        return (Load){ { rate, 1 }, .window_ns = 10000000, .hook_ns = 100, .is_work = true };
}

static void check_words(const Strv *words, const char *expected) {
        _cleanup_free_ char *text = strv_join(words, " ");

        ck_assert_str_eq(text, expected);
}

TEST(a_cache_that_is_not_as_we_write_it_is_invalid) {
        static const char *const texts[] = {
                "",
                "ftraced lean 2\nkfree 0 0 0\n",
                HEAD,
                HEAD "kfree 0 1",
                HEAD "kfree\n",
                HEAD "kfree 0\n",
                HEAD "kfree 2 1\n",
                HEAD "kfree 0 4294967296\n",
                HEAD "kfree 0 -1\n",
                HEAD "udp_* 0 1\n",
                HEAD "../x 0 1\n",
                HEAD "\n",
                HEAD " udp_sendmsg\nkfree 0 1\n",
                HEAD "kfree 0 1\n a b\n",
                HEAD "kfree 0 1\n *\n",
                "ftraced lean 3\ncalls x\nkfree 0 1\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                LeanCache c;

                ck_assert_msg(lean_cache_parse(&c, texts[i]) == LEAN_CACHE_E_INVALID, "%s",
                              texts[i]);
        }
}

CASE_TEST(what_is_learned_is_read_back_and_grows, NULL) {
        _cleanup_lean_cache_ LeanCache first = { .n_calls = 60 }, second = { .n_calls = 70 },
                                       all = {};
        char key[LEAN_KEY_CHARS + 1];

        ck_assert_int_eq(lean_tree_add(&first.tree, "my_helper", true, 500), 0);
        ck_assert_int_eq(lean_tree_add(&first.tree, "not_of_this_kernel", true, 1), 0);
        ck_assert_int_eq(lean_tree_add(&second.tree, "my_helper", false, 400), 0);
        ck_assert_int_eq(lean_tree_add_caller(&second.tree, "my_root"), 0);
        ck_assert_int_eq(lean_tree_add(&second.tree, "kfree", true, 2000000), 0);
        ck_assert_int_eq(lean_learn(k->s.fd, k->s.fd, &k->f, &k->roots, "6.12", &first), 0);
        ck_assert_int_eq(lean_learn(k->s.fd, k->s.fd, &k->f, &k->roots, "6.12", &second), 0);
        ck_assert_int_eq(lean_cache_load(&all, k->s.fd, k->s.fd, &k->f, &k->roots, key), 0);
        ck_assert_uint_eq(all.n_calls, 130);
        ck_assert_uint_gt(all.learned_ns, 0);
        ck_assert_uint_eq(all.tree.n, 2);
        ck_assert_str_eq(all.tree.functions[0].name, "kfree");
        ck_assert_uint_eq(all.tree.functions[0].share_ppm, 1000000);
        ck_assert(!all.tree.functions[1].leaf);
        ck_assert_uint_eq(all.tree.functions[1].share_ppm, 500);
        check_words(&all.tree.functions[1].callers, "my_root");
}

CASE_TEST(another_kernel_or_set_of_modules_has_other_keys, NULL) {
        char keys[3][LEAN_KEY_CHARS + 1];

        ck_assert_int_eq(lean_cache_make_key(k->s.fd, &k->f, &k->roots, keys[0]), 0);
        free(k->f.modules);
        k->f.modules = strdup("nf_nat 2 3 - Live 0x0\n");
        ck_assert_int_eq(lean_cache_make_key(k->s.fd, &k->f, &k->roots, keys[1]), 0);
        ck_assert_str_eq(keys[0], keys[1]); /* its size does not matter */
        free(k->f.modules);
        k->f.modules = strdup("nf_nat 1 0\nnfs 1 0\n");
        ck_assert_int_eq(lean_cache_make_key(k->s.fd, &k->f, &k->roots, keys[2]), 0);
        ck_assert_str_ne(keys[0], keys[2]);
}

CASE_TEST(the_tree_is_hooked_with_where_tasks_wait, HEAD TREE) {
        _cleanup_lean_choice_ LeanChoice learned = {}, shipped = {};

        choose(&learned, k, &(Wish){});
        check_words(&learned.hooks.names,
                    "irq_enter_rcu kfree my_helper my_root schedule sysvec_my_timer");
        ck_assert_uint_eq(learned.hooks.lines.n, 7); /* kfree is there twice */
        ck_assert_int_eq((int) learned.tree_from, TREE_LEARNED);
        ck_assert_uint_eq(learned.n_known, 2);
        ck_assert_uint_eq(learned.learned_calls, 600);
        ck_assert(!learned.callees_unknown && !learned.learns);
        check_words(&learned.callees_unknown_of, "irq_enter_rcu schedule sysvec_my_timer");
        choose(&shipped, k, &(Wish){ .root = "udp_sendmsg" });
        ck_assert_int_eq((int) shipped.tree_from, TREE_SHIPPED);
        ck_assert(strv_finds(&shipped.hooks.names, "ip_make_skb"));
        ck_assert(!strv_finds(&shipped.hooks.names, "my_helper"));
        ck_assert_uint_eq(k->warnings.n, 0);
}

CASE_TEST(while_the_roots_are_not_called_usual_loads_count, HEAD TREE) {
        _cleanup_lean_choice_ LeanChoice quiet = {}, work = {}, kept = {};
        LeanFunction rate = { .name = (char *) "kfree", .n_calls = 2500 };
        _cleanup_(session_meta_freep) SessionMeta *m = MADE(SessionMeta, session_meta_new);
        Load load = { .is_work = false };

        choose(&quiet, k, &(Wish){ .load = &load });
        check_words(&quiet.left_out, "kfree");
        check_words(&quiet.left_out_why, "usual");
        /* It waits, but not below the roots, as far as anybody knows: nothing is missing. */
        ck_assert(!strv_finds(&quiet.hooks.names, "schedule"));
        ck_assert_int_eq(lean_choice_tell(&quiet, m), 0);
        check_words(&m->left_out_why, "usual");
        load = busy_with(&rate);
        choose(&work, k, &(Wish){ .load = &load });
        check_words(&work.left_out_why, "cost");
        ck_assert(strv_finds(&work.hooks.names, "schedule"));
        ck_assert_int_eq(lean_choice_tell(&work, m), 0);
        check_words(&m->left_out, "kfree");
        check_words(&m->left_out_why, "cost");
        /* Before it records everything is hooked: what begins is recorded. */
        choose(&kept, k, &(Wish){});
        ck_assert_uint_eq(kept.left_out.n, 0);
}

TEST(what_nobody_knows_is_learned_as_it_is_asked_for) {
        static const struct {
                Wish wish;
                TreeOrigin from;
                bool learns, hooks_all;
                const char *warning;
        } cases[] = {
                { {}, TREE_LESSON, true, true, "learning what my_root calls: for 0.3 s" },
                { { .lesson = LESSON_NO }, TREE_UNKNOWN, true, false, "(Lesson=no)" },
                { { .lesson = LESSON_WHOLE }, TREE_ALL, true, true, NULL },
                { { .depth = 3 }, TREE_ALL, false, true, "cannot be learned with" },
                { { .depth = 3, .lesson = LESSON_NO }, TREE_UNKNOWN, false, false, "(Lesson=no)" },
                { { .lean = LEAN_OFF }, TREE_ALL, true, true, NULL },
                { { .scope = LEAN_LESSON }, TREE_LESSON, true, true, NULL },
                { { .scope = LEAN_ROOTS }, TREE_UNKNOWN, true, false, NULL },
        };
        CASE(k, NULL);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_lean_choice_ LeanChoice c = {};

                strv_done(&k.warnings);
                choose(&c, &k, &cases[i].wish);
                ck_assert_msg((c.hooks.names.n == 0) == cases[i].hooks_all, "%zu", i);
                ck_assert_msg(c.tree_from == cases[i].from, "%zu", i);
                ck_assert_msg(c.learns == cases[i].learns, "%zu", i);
                ck_assert_uint_eq(k.warnings.n, cases[i].warning ? 1 : 0);
                if (cases[i].warning)
                        ck_assert_ptr_nonnull(strstr(k.warnings.items[0], cases[i].warning));
                ck_assert(c.callees_unknown == !cases[i].hooks_all);
        }
}

TEST(what_was_learned_from_few_calls_is_used_and_learned_on) {
        CASE(k, "ftraced lean 3\nlearned 1\ncalls 3\n" TREE);
        _cleanup_lean_choice_ LeanChoice few = {}, damaged = {};

        choose(&few, &k, &(Wish){});
        ck_assert(strv_finds(&few.hooks.names, "my_helper"));
        ck_assert(few.learns && few.tree_from == TREE_LEARNED);
        ck_assert_uint_eq(k.warnings.n, 0);
        put_cache(&k, "garbage\n");
        choose(&damaged, &k, &(Wish){});
        ck_assert_int_eq((int) damaged.tree_from, TREE_LESSON);
        ck_assert_ptr_nonnull(strstr(k.warnings.items[0], "is damaged"));
}

CASE_TEST(of_a_list_is_told_what_of_the_tree_it_lacks, NULL) {
        _cleanup_lean_choice_ LeanChoice unknown = {}, known = {};

        choose(&unknown, k, &(Wish){ .hooked = "kfree" });
        check_words(&unknown.hooks.names, "kfree my_root");
        ck_assert(unknown.callees_unknown && unknown.tree_from == TREE_FILE);
        put_cache(k, HEAD TREE);
        choose(&known, k, &(Wish){ .hooked = "kfree" });
        check_words(&known.left_out, "my_helper");
        check_words(&known.left_out_in, "my_root");
        check_words(&known.left_out_why, "filter");
        ck_assert(!known.callees_unknown);
}

TEST(a_function_of_many_callers_is_said_to_have_others) {
        CASE(k, HEAD "root my_root\nkfree 1 2\n ip_make_skb\n my_helper\n my_root\n"
                     " udp_sendmsg\nmy_helper 0 600000\n my_root\n");
        _cleanup_lean_choice_ LeanChoice busy = {};
        LeanFunction rate = { .name = (char *) "kfree", .n_calls = 2500 };
        Load load = busy_with(&rate);

        choose(&busy, &k, &(Wish){ .load = &load });
        check_words(&busy.left_out_in, "ip_make_skb my_helper my_root udp_sendmsg ...");
}

CASE_TEST(what_costs_others_too_much_is_left_out_and_told_for_good, HEAD TREE) {
        _cleanup_lean_choice_ LeanChoice busy = {}, watched = {}, quiet = {};
        _cleanup_(session_meta_freep) SessionMeta *m = MADE(SessionMeta, session_meta_new);
        LeanFunction rate = { .name = (char *) "kfree", .n_calls = 2500 };
        Load load = busy_with(&rate);

        choose(&busy, k, &(Wish){ .load = &load });
        check_words(&busy.left_out, "kfree");
        check_words(&busy.left_out_in, "my_helper");
        check_words(&busy.left_out_why, "cost");
        ck_assert(!strv_finds(&busy.hooks.names, "kfree"));
        ck_assert_int_eq(lean_choice_tell(&busy, m), 0);
        choose(&watched, k, &(Wish){ .load = &load, .lesson = LESSON_WHOLE });
        ck_assert_uint_eq(watched.left_out.n, 0);
        rate.n_calls = 1500; /* 1.5 % */
        choose(&quiet, k, &(Wish){ .load = &load });
        ck_assert_uint_eq(quiet.left_out.n, 0);
        ck_assert_int_eq(lean_choice_tell(&quiet, m), 0);
        check_words(&m->left_out, "kfree"); /* for a part of the recording */
}

CASE_TEST(where_a_guard_wants_less_leaves_go, HEAD TREE) {
        _cleanup_lean_choice_ LeanChoice c = {};

        choose(&c, k, &(Wish){ .scope = LEAN_CALLERS });
        check_words(&c.left_out, "kfree");
        check_words(&c.left_out_why, "guard");
        ck_assert(strv_finds(&c.hooks.names, "my_helper"));
        ck_assert(strv_finds(&c.hooks.names, "schedule"));
}

TEST(interrupts_are_told_from_what_waits) {
        ck_assert(waiting_is_interrupt("sysvec_apic_timer_interrupt"));
        ck_assert(waiting_is_interrupt("irq_exit_rcu"));
        ck_assert(!waiting_is_interrupt("__do_softirq"));
        ck_assert(!waiting_is_interrupt("schedule"));
        ck_assert(waiting_is("schedule", WAITING_SCHEDULER));
        ck_assert(waiting_is("rwsem_down_write_slowpath", WAITING_OTHER));
        ck_assert(!waiting_is("udp_sendmsg", WAITING_OTHER));
}

TEST(an_answer_is_read_line_by_line_or_refused) {
        static const char *const bad[] = { "kfree\n",
                                           "kfree 1 2 3\n",
                                           "kfree 1 2 3 4 5\n",
                                           "kfree 1 2 3 -4\n",
                                           "kfree 1 2 3 99999999999999999999\n",
                                           " kfree 1 2 3 4\n",
                                           "kfree 1 2 3 4\n caller other\n",
                                           "kfree 1 2 3 4\n \n",
                                           "kfree 1 2 3 4" };
        _cleanup_lean_tree_ LeanTree t = {};
        const LeanFunction *f;

        ck_assert_int_eq(learner_read(&t, "kfree 5 4 1 900\n my_helper\n 0x/\n"
                                          "my/root 7 7 0 7\n caller\nmy_root 1 1 0 1000\n"),
                         0);
        ck_assert_uint_eq(t.n, 2);
        f = lean_tree_find(&t, "kfree");
        ck_assert_uint_eq(f->n_calls, 5);
        ck_assert_uint_eq(f->n_own, 4);
        ck_assert(f->leaf);
        ck_assert_uint_eq(f->total_ns, 900);
        check_words(&f->callers, "my_helper");
        f = lean_tree_find(&t, "my_root");
        ck_assert(!f->leaf);
        ck_assert_uint_eq(f->callers.n, 0);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                ck_assert_msg(learner_read(&t, bad[i]) == LEARNER_E_INVALID, "%zu", i);
}
