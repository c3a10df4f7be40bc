/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Of the small kernel that lines-sample.c is. */

#include "lines-fixture.h"
#include "lines/lines.h"

#ifdef HAVE_ELFUTILS
typedef struct Sample {
        Lines *lines;
        Ways *ways;
        Function functions[8];
        size_t n;
} Sample;

static void sample_done(Sample *s) {
        ways_free(s->ways);
        lines_free(s->lines);
}

static Sample sample_new(void) {
        Sample s = { .lines = sample_open(SAMPLE_PATH("vmlinux"), NULL) };

        ck_assert_int_eq(ways_new(&s.ways, s.lines), 0);
        return s;
}

#define SAMPLE_TEST(name) TEST_WITH(name, (Sample * s), _cleanup_(sample_done) Sample s = sample_new(), &s)

/* The same for the same name: pointers are compared. */
static const Function *function_of(Sample *s, const char *name) {
        for (size_t i = 0; i < s->n; i++)
                if (streq(s->functions[i].label, name))
                        return &s->functions[i];
        ck_assert_uint_lt(s->n, ELEMENTSOF(s->functions));
        s->functions[s->n] = sample_function(name);
        return &s->functions[s->n++];
}

/* The ways of what @caller called, "" standing for nobody knows what, a line each. */
static char *ways_of(Sample *s, const char *caller, bool has_ended, const char *const *callees, size_t n) {
        static char text[4096];
        const Function *functions[1024];
        const CallWay *ways[1024];
        size_t n_text = 0;

        for (size_t i = 0; i < n; i++)
                functions[i] = *callees[i] ? function_of(s, callees[i]) : NULL;
        ck_assert_int_eq(ways_find(s->ways, function_of(s, caller), functions, n, has_ended, ways), 0);
        text[0] = 0;
        for (size_t i = 0; i < n && n_text < sizeof(text) / 2; i++)
                if (ways[i]) {
                        ck_assert_uint_eq(strlen(ways[i]->text), ways[i]->n_text);
                        ck_assert_ptr_eq(function_plain(ways[i]->functions[ways[i]->n - 1]), functions[i]);
                        n_text += (size_t) snprintf(text + n_text, sizeof(text) - n_text, "%s\n", ways[i]->text);
                }
        return text;
}
#define WAYS(s, caller, ...)                                                                       \
        ways_of((s), (caller), true, (const char *const[]){ __VA_ARGS__ },                         \
                sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

SAMPLE_TEST(what_was_inlined_stands_between) {
        const Function *outer = function_of(s, "outer"), *leaf = function_of(s, "leaf");
        const CallWay *way;

        ck_assert_str_eq(WAYS(s, "outer", "leaf"),
                         "net/ipv4/outer.c:51 [inner] include/net/inner.h:41 [innermost] include/net/inner.h:31\n");
        ck_assert_int_eq(ways_find(s->ways, outer, &leaf, 1, true, &way), 0);
        ck_assert_uint_eq(way->n, 3);
        ck_assert_str_eq(way->functions[0]->label, "inner (inlined, net/ipv4/outer.c:51)");
        ck_assert_int_eq(way->functions[0]->kind, FUNCTION_INLINED);
        ck_assert_str_eq(way->functions[2]->label, "leaf (include/net/inner.h:31)");
        ck_assert_uint_eq(way->functions[2]->n_name, 4);
        ck_assert_ptr_eq(way->functions[2]->plain, leaf);
        ck_assert_str_eq(way->functions[2]->file, "include/net/inner.h");
        ck_assert_uint_eq(way->functions[2]->line, 31);
        ck_assert_ptr_null(function_module(way->functions[2], &(size_t){ 0 }));
}

SAMPLE_TEST(the_order_decides_where_it_can_and_else_all_are_said) {
        ck_assert_str_eq(WAYS(s, "twice", "leaf", "other", "leaf"),
                         "net/ipv4/twice.c:61\nnet/ipv4/twice.c:62\nnet/ipv4/twice.c:63\n");
        ck_assert_str_eq(WAYS(s, "twice", "", "leaf"), "net/ipv4/twice.c:63\n");
        ck_assert_str_eq(ways_of(s, "twice", false, (const char *const[]){ "", "leaf" }, 2),
                         "one of 2: net/ipv4/twice.c:61, :63\n");
}

SAMPLE_TEST(a_pointer_and_what_is_not_known_are_said) {
        ck_assert_str_eq(WAYS(s, "by_pointer", "other"), "by a pointer: net/ipv4/pointer.c:91\n");
        ck_assert_str_eq(WAYS(s, "other", "leaf"), "no call of it is known\n");
        ck_assert_str_eq(WAYS(s, "nobody", "leaf"), "line not known\n");
        ck_assert_str_eq(WAYS(s, "through", "leaf"), "net/ipv4/through.c:111 {hidden} net/ipv4/hidden.c:101\n");
}

SAMPLE_TEST(a_long_run_is_asked_in_parts) {
        const char *callees[1000];

        for (size_t i = 0; i < ELEMENTSOF(callees); i++)
                callees[i] = i % 2 ? "other" : "leaf";
        ck_assert(startswith(ways_of(s, "loop", false, callees, ELEMENTSOF(callees)),
                             "net/ipv4/loop.c:82\nnet/ipv4/loop.c:83\nnet/ipv4/loop.c:82\n"));
}

static void expect_steps(Sample *s, Step *steps, const char *const *texts, size_t n) {
        for (size_t i = 0; i < n; i++) {
                ck_assert_int_eq(ways_step(s->ways, &steps[i]), 0);
                if (texts[i])
                        ck_assert_str_eq(steps[i].way ? steps[i].way->text : "none", texts[i]);
                else
                        ck_assert_msg(!steps[i].way, "%zu: %s", i, steps[i].way->text);
        }
}

SAMPLE_TEST(who_draws_asks_as_it_goes) {
        const Function *twice = function_of(s, "twice"), *leaf = function_of(s, "leaf"), *other = function_of(s, "other");
        Step steps[] = { { .kind = STEP_ENTER, .function = twice },
                         { .kind = STEP_LEAF, .function = leaf, .depth = 1 },
                         { .kind = STEP_LEAF, .function = other, .depth = 1 },
                         { .kind = STEP_LEAF, .function = leaf, .depth = 1 },
                         { .kind = STEP_LEAVE, .function = twice },
                         { .kind = STEP_ENTER, .function = twice },
                         { .kind = STEP_LOST },
                         { .kind = STEP_LEAF, .function = leaf, .depth = 1 },
                         { .kind = STEP_LEAF, .function = leaf, .depth = 2 } };
        static const char *const texts[ELEMENTSOF(steps)] = { [1] = "net/ipv4/twice.c:61",
                                                              [2] = "net/ipv4/twice.c:62",
                                                              [3] = "net/ipv4/twice.c:63",
                                                              [7] = "one of 2: net/ipv4/twice.c:61, :63" };

        expect_steps(s, steps, texts, ELEMENTSOF(steps));
}

/* On x86 what lies around a handler stands beside it, and is in no section of its own. */
SAMPLE_TEST(what_is_an_interrupts_leaves_its_caller_where_it_was) {
        const Function *twice = function_of(s, "twice"), *leaf = function_of(s, "leaf");
        const Function *other = function_of(s, "other"), *before = function_of(s, "irq_enter_rcu");
        Step steps[] = { { .kind = STEP_ENTER, .function = twice },
                         { .kind = STEP_LEAF, .function = leaf, .depth = 1 },
                         { .kind = STEP_LEAF, .function = before, .depth = 1 },
                         { .kind = STEP_ENTER, .function = function_of(s, "__sysvec_x"), .depth = 1 },
                         { .kind = STEP_LEAVE, .function = function_of(s, "__sysvec_x"), .depth = 1 },
                         { .kind = STEP_LEAF, .function = other, .depth = 1 },
                         { .kind = STEP_LEAF, .function = leaf, .depth = 1 } };
        static const char *const texts[ELEMENTSOF(steps)] = { [1] = "net/ipv4/twice.c:61",
                                                              [5] = "net/ipv4/twice.c:62",
                                                              [6] = "net/ipv4/twice.c:63" };

        expect_steps(s, steps, texts, ELEMENTSOF(steps));
        ck_assert_str_eq(WAYS(s, "twice", "leaf", "irq_enter_rcu", "other", "leaf"),
                         "net/ipv4/twice.c:61\nnet/ipv4/twice.c:62\nnet/ipv4/twice.c:63\n");
        ck_assert_int_eq(lines_sites(s->lines, twice, before)->answer, LINES_INTERRUPT);
}
#endif
