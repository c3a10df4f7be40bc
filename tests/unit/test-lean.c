/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What was learned, as a file that nobody may be trusted to have written, and what follows from it. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "daemon/lean/lean.h"
#include "daemon/lean/learner.h"
#include "daemon/lean/ordinary.h"
#include "scratch.h"

#define HEAD                                                                                       \
        "ftraced lean 2\nkernel 6.12\nroots udp_sendmsg\nlearned 9000000000000000000\ncalls 600\n"

static const char kernel_list[] = "kfree\nudp_sendmsg\n__rcu_read_lock\nip_make_skb\nkfree\n";

/* A kernel, a store beside it, and its functions. */
static void set_up(Scratch *s, Tracefs *fs, Functions *f) {
        ck_assert_int_eq(dir_make(s->fd, "proc", 0700), 0);
        ck_assert_int_eq(file_replace(s->fd, "proc/modules", "nf_nat 1 0 - Live 0x0\n", 22, 0600),
                         0);
        ck_assert_int_eq(file_replace(s->fd, "available_filter_functions", kernel_list,
                                      sizeof(kernel_list) - 1, 0600),
                         0);
        *fs = (Tracefs){ .fd = s->fd, .root_fd = s->fd };
        ck_assert_int_eq(functions_load(f, fs), 0);
}

static void add_root(Strv *roots) {
        ck_assert_int_eq(strv_add(roots, "udp_sendmsg"), 0);
}

static int truncate_to(int dir_fd, const char *path, uint64_t n) {
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDWR | O_CLOEXEC);

        return ftruncate(fd, (long) n);
}

static bool is_being_learned; /* what the next choose() is told */
static uint64_t depth;        /* of its spec */

static int choose(LeanChoice *ret, const Scratch *s, const Functions *f, SpecLean lean,
                  Strv *warnings) {
        _cleanup_strv_ Strv roots = {};
        _cleanup_refusal_ Refusal refusal = {};
        Spec spec = SPEC_INIT;

        add_root(&roots);
        spec.lean = lean;
        spec.depth = depth;
        *ret = (LeanChoice){};
        return lean_choose(ret,
                           &(LeanQuestion){ .store_fd = s->fd,
                                            .root_fd = s->fd,
                                            .functions = f,
                                            .spec = &spec,
                                            .roots = &roots,
                                            .notrace = &(Strv){},
                                            .is_being_learned = is_being_learned },
                           warnings, &refusal);
}

/* Writes @text where the cache of udp_sendmsg is. */
static void put_cache(const Scratch *s, const Functions *f, const char *text) {
        char key[LEAN_KEY_CHARS + 1], path[64];
        _cleanup_strv_ Strv roots = {};

        add_root(&roots);
        ck_assert_int_eq(lean_cache_make_key(s->fd, f, &roots, key), 0);
        (void) snprintf(path, sizeof(path), LEAN_DIR "/%s", key);
        ck_assert_int_eq(dir_make(s->fd, LEAN_DIR, 0700), 0);
        ck_assert_int_eq(file_replace(s->fd, path, text, strlen(text), 0600), 0);
}

START_TEST(a_cache_that_is_not_as_we_write_it_is_invalid)
        {
                static const char *const texts[] = {
                        "",
                        "ftraced lean 1\nkfree\n",
                        HEAD,
                        HEAD "udp_sendmsg",
                        HEAD "udp_sendmsg 1\n",
                        HEAD "udp_*\n",
                        HEAD "udp sendmsg\n",
                        HEAD "../x\n",
                        HEAD "tasks read\nkfree 1 2\n",
                        HEAD "tasks read\nkfree 4294967296\n",
                        HEAD "tasks read\nkfree -1\n",
                        HEAD "tasks read\ntasks read\nkfree 1\n",
                        HEAD "tasks READ\nkfree 1\n",
                        HEAD "tasks a b c d e f g h i j k l m n o p q\nkfree\n",
                        HEAD "tasks read\nfixed 1 2\nkfree 1\n",
                        HEAD "\n",
                        HEAD " udp_sendmsg\nkfree\n",
                        HEAD "kfree\n a b\n",
                        HEAD "kfree\n *\n",
                        "ftraced lean 2\ncalls x\nkfree\n",
                };

                for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                        LeanCache c;

                        ck_assert_msg(lean_cache_parse(&c, texts[i]) == LEAN_CACHE_E_INVALID, "%s",
                                      texts[i]);
                }
        }
END_TEST

START_TEST(what_was_written_is_read_back)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_lean_cache_ LeanCache c = { .learned_ns = 5, .n_calls = 7 }, back = {};
                _cleanup_strv_ Strv roots = {};
                const uint32_t ppm[] = { 3, 0 };

                add_root(&roots);
                ck_assert_int_eq(strv_split(&c.tasks, "read pipe", " "), 0);
                c.fixed_ppm[1] = 11;
                ck_assert_int_eq(lean_cache_add(&c, "kfree", ppm, 2), 0);
                ck_assert_int_eq(lean_cache_add(&c, "ip_make_skb", NULL, 0), 0);
                ck_assert_int_eq(lean_cache_add_caller(&c, "udp_sendmsg"), 0);
                ck_assert_int_eq(lean_cache_add(&c, "kfree", NULL, 0), 0);
                for (size_t i = 0; i < 2 * LEAN_MAX_CALLERS; i++) {
                        const char name[] = { (char) ('a' + i), 0 };

                        ck_assert_int_eq(lean_cache_add_caller(&c, name), 0);
                }
                lean_cache_sort(&c);
                ck_assert_int_eq(lean_cache_write(&c, s.fd, "abc", "6.12", &roots), 0);
                ck_assert_int_eq(lean_cache_read(&back, s.fd, "abc"), 0);
                ck_assert_uint_eq(back.learned_ns, 5);
                ck_assert_uint_eq(back.n_calls, 7);
                ck_assert_uint_eq(back.n, 2);
                ck_assert_uint_eq(back.fixed_ppm[1], 11);
                ck_assert_uint_eq(lean_cache_find(&back, "kfree")->ppm[0], 3);
                ck_assert_uint_eq(lean_cache_find(&back, "kfree")->callers.n, LEAN_MAX_CALLERS);
                ck_assert_uint_eq(lean_cache_find(&back, "ip_make_skb")->callers.n, 1);
                ck_assert_ptr_null(lean_cache_find(&back, "kfre"));
        }
END_TEST

START_TEST(what_was_learned_longest_ago_makes_room)
        {
                _cleanup_lean_cache_ LeanCache c = { .learned_ns = 5, .n_calls = 7 };
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_strv_ Strv roots = {};
                char key[LEAN_KEY_CHARS + 1], path[64];
                size_t n = 0;

                add_root(&roots);
                ck_assert_int_eq(lean_cache_add(&c, "kfree", NULL, 0), 0);
                for (unsigned i = 0; i < LEAN_MAX_FILES + 20; i++) {
                        const struct timespec at[2] = { { .tv_sec = 1000 + i },
                                                        { .tv_sec = 1000 + i } };

                        (void) snprintf(key, sizeof(key), "%032x", i);
                        (void) snprintf(path, sizeof(path), LEAN_DIR "/%s", key);
                        ck_assert_int_eq(lean_cache_write(&c, s.fd, key, "6.12", &roots), 0);
                        ck_assert_int_eq(utimensat(s.fd, path, at, 0), 0);
                }
                for (unsigned i = 0; i < LEAN_MAX_FILES + 20; i++) {
                        bool is_there;

                        (void) snprintf(path, sizeof(path), LEAN_DIR "/%032x", i);
                        is_there = faccessat(s.fd, path, F_OK, 0) >= 0;
                        ck_assert_msg(is_there == (i >= 20), "%u", i);
                        n += is_there;
                }
                ck_assert_uint_eq(n, LEAN_MAX_FILES);

                /* However few, if they are long. */
                ck_assert_int_eq(truncate_to(s.fd, path, LEAN_MAX_BYTES), 0);
                ck_assert_int_eq(lean_cache_write(&c, s.fd, "new", "6.12", &roots), 0);
                ck_assert_int_ge(faccessat(s.fd, LEAN_DIR "/new", F_OK, 0), 0);
                ck_assert_int_lt(faccessat(s.fd, path, F_OK, 0), 0);
        }
END_TEST

START_TEST(modules_and_roots_make_another_key_and_the_order_of_modules_does_not)
        {
                static const char *const modules[] = { "a 1\nb 2\n", "b 9\na 1\n", "a 1\n" };
                _cleanup_scratch_ Scratch s = SCRATCH;
                char keys[4][LEAN_KEY_CHARS + 1];
                _cleanup_strv_ Strv roots = {};
                Functions f = {};

                add_root(&roots);
                for (size_t i = 0; i < 3; i++) {
                        f.modules = (char *) modules[i];
                        ck_assert_int_eq(lean_cache_make_key(s.fd, &f, &roots, keys[i]), 0);
                }
                ck_assert_int_eq(strv_add(&roots, "vfs_read"), 0);
                ck_assert_int_eq(lean_cache_make_key(s.fd, &f, &roots, keys[3]), 0);
                ck_assert_str_eq(keys[0], keys[1]);
                ck_assert_str_ne(keys[0], keys[2]);
                ck_assert_str_ne(keys[2], keys[3]);
        }
END_TEST

START_TEST(what_costs_most_is_left_out_until_the_rest_fits_and_roots_stay)
        {
                _cleanup_strv_ Strv roots = {}, names = {}, left_out = {}, all = {}, none = {};
                _cleanup_lean_cache_ LeanCache c = {};
                _cleanup_free_ char *text = NULL;

                add_root(&roots);
                ck_assert_int_eq(lean_cache_parse(&c, HEAD "tasks read pipe\n"
                                                           "fixed 0 5000\n"
                                                           "udp_sendmsg 900000 0\n"
                                                           "a 30000 0\n"
                                                           "b 0 16000\n"
                                                           "c 0 14000\n"
                                                           "d 1000 0\n"
                                                           "e\n"),
                                 0);
                ck_assert_int_eq(lean_select(&c, &roots, 20000, &names, &left_out), 0);
                text = strv_join(&left_out, " ");
                ck_assert_str_eq(text, "a b d");
                ck_assert(strv_contains(&names, "udp_sendmsg"));
                ck_assert_uint_eq(names.n, 3);
                ck_assert_int_eq(lean_select(&c, &roots, UINT64_MAX, &all, &none), 0);
                ck_assert_uint_eq(all.n, 6);
                ck_assert_uint_eq(none.n, 0);
        }
END_TEST

START_TEST(what_is_not_known_is_learned_with_everything_hooked)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv warnings = {};
                _cleanup_lean_choice_ LeanChoice last = {};
                static const struct {
                        const char *cache; /* NULL: what was there before */
                        SpecLean lean;
                        bool learns, hooks_ordinary;
                } cases[] = {
                        { NULL, LEAN_AUTO, true, false },
                        { NULL, LEAN_FULL, true, true },
                        { NULL, LEAN_OFF, true, true },
                        { "ftraced lean 2\nlearned 9000000000000000000\ncalls 99\nkfree\n",
                          LEAN_AUTO, true, false }, /* too few */
                        { "ftraced lean 2\nlearned 1\ncalls 600\nkfree\n", LEAN_AUTO, true, false },
                        { HEAD "ordinary no\nip_make_skb\n", LEAN_FULL, true, true },
                        { NULL, LEAN_AUTO, false, true },
                };
                Tracefs fs;

                set_up(&s, &fs, &f);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_lean_choice_ LeanChoice choice = {};
                        _cleanup_free_ char *lines = NULL;

                        if (cases[i].cache)
                                put_cache(&s, &f, cases[i].cache);
                        ck_assert_int_eq(choose(&choice, &s, &f, cases[i].lean, &warnings), 0);
                        ck_assert_int_eq(choice.learns, cases[i].learns);
                        ck_assert_int_eq(choice.hooks.names.n == 0,
                                         choice.learns || cases[i].lean == LEAN_OFF);
                        lines = strv_join(&choice.not_hooked.lines, " ");
                        ck_assert_str_eq(lines, cases[i].hooks_ordinary ? "" : "3 1 5");
                        ck_assert_uint_eq(choice.n_ordinary, cases[i].hooks_ordinary ? 0 : 2);
                }
                strv_done(&warnings);

                put_cache(&s, &f, "garbage\n");
                ck_assert_int_eq(choose(&last, &s, &f, LEAN_AUTO, &warnings), 0);
                ck_assert(last.learns);
                ck_assert_uint_eq(warnings.n, 2);
                ck_assert(strstr(warnings.items[0], "damaged"));
        }
END_TEST

START_TEST(whoever_has_all_functions_hooked_is_told_why)
        {
                static const struct {
                        const char *cache;
                        SpecLean lean;
                        uint64_t depth;
                        bool is_being_learned;
                        const char *why; /* NULL: nothing is said */
                } cases[] = {
                        { NULL, LEAN_AUTO, 0, false,
                          "is not known yet; all functions but 2 that ordinary work calls are "
                          "hooked" },
                        { NULL, LEAN_FULL, 0, false, "is not known yet; all functions are hooked" },
                        { NULL, LEAN_FULL, 0, true,
                          "what udp_sendmsg calls is still being learned; all functions are "
                          "hooked" },
                        { NULL, LEAN_AUTO, 3, false, "is not learned from a part of it (--depth" },
                        { NULL, LEAN_OFF, 0, true, NULL },
                        { "learned 9000000000000000000\ncalls 99\nkfree\n", LEAN_AUTO, 0, false,
                          "too few calls of udp_sendmsg were seen (99 of 100)" },
                        { "learned 1\ncalls 600\nkfree\n", LEAN_AUTO, 0, false,
                          "not known any more, after a week; all functions but 2 that" },
                        { "learned 9000000000000000000\ncalls 600\nkfree\n", LEAN_AUTO, 0, true,
                          NULL },
                };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_scratch_ Scratch s = SCRATCH;
                        _cleanup_(functions_done) Functions f = {};
                        _cleanup_lean_choice_ LeanChoice choice = {};
                        _cleanup_strv_ Strv warnings = {};
                        char text[128];
                        Tracefs fs;

                        set_up(&s, &fs, &f);
                        (void) snprintf(text, sizeof(text), "ftraced lean 2\n%s",
                                        cases[i].cache ?: "");
                        if (cases[i].cache)
                                put_cache(&s, &f, text);
                        depth = cases[i].depth;
                        is_being_learned = cases[i].is_being_learned;
                        ck_assert_int_eq(choose(&choice, &s, &f, cases[i].lean, &warnings), 0);
                        ck_assert_uint_eq(warnings.n, cases[i].why != NULL);
                        if (cases[i].why)
                                ck_assert_msg(strstr(warnings.items[0], cases[i].why), "%s",
                                              warnings.items[0]);
                }
        }
END_TEST

START_TEST(what_the_kernel_does_not_have_is_not_hooked_and_the_root_always_is)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_lean_choice_ LeanChoice choice = {};
                _cleanup_strv_ Strv warnings = {};
                _cleanup_free_ char *names = NULL, *lines = NULL;
                Tracefs fs;

                set_up(&s, &fs, &f);
                put_cache(&s, &f, HEAD "kfree\nno_such_function\n");
                ck_assert_int_eq(choose(&choice, &s, &f, LEAN_FULL, &warnings), 0);
                ck_assert(!choice.learns);
                names = strv_join(&choice.hooks.names, " ");
                lines = strv_join(&choice.hooks.lines, " ");
                ck_assert_str_eq(names, "kfree udp_sendmsg");
                ck_assert_str_eq(lines, "1 5 2");
        }
END_TEST

START_TEST(learning_adds_to_what_is_known)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_lean_choice_ LeanChoice choice = {};
                _cleanup_lean_cache_ LeanCache new = { .n_calls = 50 };
                _cleanup_strv_ Strv roots = {}, warnings = {};
                Tracefs fs;

                set_up(&s, &fs, &f);
                add_root(&roots);
                put_cache(&s, &f, "ftraced lean 2\nlearned 9000000000000000000\ncalls 60\nkfree\n");
                ck_assert_int_eq(lean_cache_add(&new, "ip_make_skb", NULL, 0), 0);
                ck_assert_int_eq(lean_cache_add(&new, "no_such_function", NULL, 0), 0);
                ck_assert_int_eq(lean_learn(s.fd, s.fd, &f, &roots, "6.12", &new), 0);
                ck_assert_int_eq(choose(&choice, &s, &f, LEAN_FULL, &warnings), 0);
                ck_assert_uint_eq(choice.hooks.names.n, 3);
        }
END_TEST

/* "NAME ..." */
static void check_names(const Strv *names, const char *wanted) {
        _cleanup_free_ char *text = strv_join(names, " ");

        ck_assert_str_eq(text, wanted);
}

START_TEST(what_this_host_calls_often_stays_out_and_is_named)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv hot = {}, found = {}, warnings = {};
                uint64_t since_ns;
                Tracefs fs;

                set_up(&s, &fs, &f);
                ck_assert_int_eq(ordinary_find_host(&f, s.fd, s.fd, &found, &since_ns), 0);
                ck_assert_uint_eq(since_ns, 0);
                /* That nothing is called often is known, too. */
                ck_assert_int_eq(ordinary_learn_host(&f, s.fd, s.fd, "6.12", &hot, true), 0);
                ck_assert_int_eq(ordinary_find_host(&f, s.fd, s.fd, &found, &since_ns), 0);
                ck_assert_uint_gt(since_ns, 0);
                ck_assert_uint_eq(found.n, 0);

                ck_assert_int_eq(strv_add(&hot, "ip_make_skb"), 0);
                for (int i = 0; i < 2; i++) {
                        _cleanup_lean_choice_ LeanChoice choice = {};

                        ck_assert_int_eq(ordinary_learn_host(&f, s.fd, s.fd, "6.12",
                                                             i == 0 ? &hot : &(Strv){}, i > 0),
                                         0);
                        ck_assert_int_eq(choose(&choice, &s, &f, LEAN_AUTO, &warnings), 0);
                        check_names(&choice.not_hooked.names,
                                    i == 0 ? "__rcu_read_lock kfree ip_make_skb"
                                           : "__rcu_read_lock kfree");
                        check_names(&choice.left_out, i == 0 ? "ip_make_skb" : "");
                }
        }
END_TEST

START_TEST(what_the_roots_are_known_to_call_is_named_where_it_is_left_out)
        {
                static const char more[] = "ip_output\nkfree\nudp_sendmsg\n__rcu_read_lock\n";
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_lean_choice_ LeanChoice unknown = {}, learned = {}, weighed = {};
                _cleanup_strv_ Strv warnings = {};
                Tracefs fs;

                set_up(&s, &fs, &f);
                functions_done(&f);
                f = (Functions){};
                ck_assert_int_eq(file_replace(s.fd, "available_filter_functions", more,
                                              sizeof(more) - 1, 0600),
                                 0);
                ck_assert_int_eq(functions_load(&f, &fs), 0);
                ck_assert_int_eq(choose(&unknown, &s, &f, LEAN_AUTO, &warnings), 0);
                check_names(&unknown.not_hooked.names, "__rcu_read_lock ip_output kfree");
                check_names(&unknown.left_out, "ip_output");
                ck_assert_uint_eq(unknown.left_out_in.n, 1);
                put_cache(&s, &f, HEAD "udp_sendmsg\n");
                ck_assert_int_eq(choose(&learned, &s, &f, LEAN_AUTO, &warnings), 0);
                check_names(&learned.left_out, "ip_output");
                ck_assert_uint_eq(learned.left_out_in.n, 1);
                /* What the reference workload pays for it is not what TCP pays. */
                put_cache(&s, &f,
                          HEAD "tasks read\nfixed 0\nip_output 5\nkfree 5\nudp_sendmsg 0\n");
                ck_assert_int_eq(choose(&weighed, &s, &f, LEAN_AUTO, &warnings), 0);
                check_names(&weighed.hooks.names, "kfree udp_sendmsg");
                check_names(&weighed.left_out, "ip_output");
        }
END_TEST

START_TEST(without_weights_the_ordinary_and_the_hot_are_left_out)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv hot = {}, roots = {}, warnings = {};
                static const struct {
                        const char *hooks, *left_out;
                        SpecLean lean;
                } cases[] = {
                        { "ip_make_skb udp_sendmsg", "kfree", LEAN_AUTO },
                        { "udp_sendmsg", "ip_make_skb kfree", LEAN_AUTO },
                        { "ip_make_skb kfree udp_sendmsg", "", LEAN_FULL },
                };
                const uint32_t ppm[] = { 5000, 7000 };
                Tracefs fs;

                set_up(&s, &fs, &f);
                add_root(&roots);
                put_cache(&s, &f, HEAD "ip_make_skb\nkfree\nudp_sendmsg\n");
                ck_assert_int_eq(strv_split(&hot, "ip_make_skb udp_sendmsg", " "), 0);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_lean_choice_ LeanChoice choice = {};

                        ck_assert_int_eq(choose(&choice, &s, &f, cases[i].lean, &warnings), 0);
                        check_names(&choice.hooks.names, cases[i].hooks);
                        check_names(&choice.left_out, cases[i].left_out);
                        ck_assert_int_eq(lean_learn_hot(s.fd, s.fd, &f, &roots, "6.12", &hot, ppm),
                                         0);
                }
                ck_assert_uint_eq(warnings.n, 0);
        }
END_TEST

START_TEST(what_was_hot_is_tried_again_when_it_is_weighed_again)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_lean_choice_ LeanChoice hot = {}, again = {};
                _cleanup_lean_cache_ LeanCache new = {};
                _cleanup_strv_ Strv roots = {}, warnings = {}, names = {};
                const uint32_t ppm[] = { 90000 };
                Tracefs fs;

                set_up(&s, &fs, &f);
                add_root(&roots);
                put_cache(&s, &f,
                          HEAD "tasks read host\nfixed 0 0\nip_make_skb 5 0\nudp_sendmsg\n");
                ck_assert_int_eq(strv_add(&names, "ip_make_skb"), 0);
                ck_assert_int_eq(lean_learn_hot(s.fd, s.fd, &f, &roots, "6.12", &names, ppm), 0);
                ck_assert_int_eq(choose(&hot, &s, &f, LEAN_AUTO, &warnings), 0);
                check_names(&hot.left_out, "ip_make_skb");
                ck_assert_int_eq(strv_split(&new.tasks, "read host", " "), 0);
                ck_assert_int_eq(lean_cache_add(&new, "ip_make_skb", (uint32_t[]){ 7, 0 }, 2), 0);
                ck_assert_int_eq(lean_learn(s.fd, s.fd, &f, &roots, "6.12", &new), 0);
                ck_assert_int_eq(choose(&again, &s, &f, LEAN_AUTO, &warnings), 0);
                check_names(&again.hooks.names, "ip_make_skb udp_sendmsg");
        }
END_TEST

START_TEST(what_was_learned_long_ago_is_not_added_to)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_lean_cache_ LeanCache new = {}, now = {};
                char key[LEAN_KEY_CHARS + 1];
                _cleanup_strv_ Strv roots = {};
                Tracefs fs;

                set_up(&s, &fs, &f);
                add_root(&roots);
                put_cache(&s, &f, "ftraced lean 2\nlearned 1\ncalls 600\nkfree\nudp_sendmsg\n");
                new.n_calls = 7;
                ck_assert_int_eq(lean_cache_add(&new, "udp_sendmsg", NULL, 0), 0);
                ck_assert_int_eq(lean_learn(s.fd, s.fd, &f, &roots, "6.12", &new), 0);
                ck_assert_int_eq(lean_cache_make_key(s.fd, &f, &roots, key), 0);
                ck_assert_int_eq(lean_cache_read(&now, s.fd, key), 0);
                ck_assert_uint_eq(now.n, 1);
                ck_assert_uint_eq(now.n_calls, 7);
        }
END_TEST

START_TEST(what_everybody_calls_is_hooked_only_if_it_was_seen_to_cost_little)
        {
                _cleanup_scratch_ Scratch s = SCRATCH;
                _cleanup_(functions_done) Functions f = {};
                _cleanup_strv_ Strv roots = {}, warnings = {};
                static const struct {
                        const char *cache, *hooks, *left_out;
                } cases[] = {
                        { "tasks read\nfixed 0\nip_make_skb\nkfree\nudp_sendmsg\n",
                          "ip_make_skb udp_sendmsg", "kfree" },
                        { "tasks read\nfixed 0\nip_make_skb\nkfree 5\nudp_sendmsg\n",
                          "ip_make_skb kfree udp_sendmsg", "" },
                };
                Tracefs fs;

                set_up(&s, &fs, &f);
                add_root(&roots);
                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        _cleanup_lean_choice_ LeanChoice choice = {};
                        char text[256];

                        (void) snprintf(text, sizeof(text), HEAD "%s", cases[i].cache);
                        put_cache(&s, &f, text);
                        ck_assert_int_eq(choose(&choice, &s, &f, LEAN_AUTO, &warnings), 0);
                        check_names(&choice.hooks.names, cases[i].hooks);
                        check_names(&choice.left_out, cases[i].left_out);
                }
                ck_assert_uint_eq(warnings.n, 0);
        }
END_TEST

START_TEST(an_answer_of_the_worker_that_is_no_answer_is_refused)
        {
                static const struct {
                        const char *text;
                        int r;
                } cases[] = {
                        { "", LEARNER_E_END },
                        { "kfree 1 2\n", 0 },
                        { "kfree 1\n", LEARNER_E_INVALID },
                        { "kfree 1 2 3\n", LEARNER_E_INVALID },
                        { "kfree 1 2", LEARNER_E_INVALID },
                        { "kfree 1 -2\n", LEARNER_E_INVALID },
                        { "kfree 1  2\n", LEARNER_E_INVALID },
                        { " 1 2\n", LEARNER_E_INVALID },
                        { "kfree 1 99999999999999999999\n", LEARNER_E_INVALID },
                };

                for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                        const char *text = cases[i].text;
                        uint64_t counts[2];
                        char name[256];

                        ck_assert_msg(learner_next(&text, 2, name, counts) == cases[i].r, "%s",
                                      cases[i].text);
                }
        }
END_TEST

UNIT_SUITE("lean", a_cache_that_is_not_as_we_write_it_is_invalid, what_was_written_is_read_back,
           what_was_learned_longest_ago_makes_room,
           modules_and_roots_make_another_key_and_the_order_of_modules_does_not,
           what_costs_most_is_left_out_until_the_rest_fits_and_roots_stay,
           what_is_not_known_is_learned_with_everything_hooked,
           whoever_has_all_functions_hooked_is_told_why,
           what_the_kernel_does_not_have_is_not_hooked_and_the_root_always_is,
           what_this_host_calls_often_stays_out_and_is_named,
           what_the_roots_are_known_to_call_is_named_where_it_is_left_out,
           without_weights_the_ordinary_and_the_hot_are_left_out,
           what_was_hot_is_tried_again_when_it_is_weighed_again,
           what_was_learned_long_ago_is_not_added_to,
           what_everybody_calls_is_hooked_only_if_it_was_seen_to_cost_little,
           learning_adds_to_what_is_known, an_answer_of_the_worker_that_is_no_answer_is_refused)
