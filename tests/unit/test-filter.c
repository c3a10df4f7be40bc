/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "calls/filter.h"
#include "player.h"

#define TASKS "17 client\n18 a server\n"
#define OWNERS                                                                                     \
        "hierarchy 0\ntask 0 0 17 17 0 /system.slice/a.service\n"                                  \
        "task 0 0 18 18 65534 /system.slice/b.service\n"

static const Layout *const layout = &layouts[LAYOUT_6_12];

static int next_step(void *steps, uint64_t until_ns, Step *ret) {
        return steps_next(steps, until_ns, ret);
}

/* What is left, in short: "u{" enters, "k." is a leaf, "}u" leaves, "!" a loss; a function is the
 * first letter of its name: udp_sendmsg, ip_make_skb, kfree, ovl_open. */
static char *left(const Recording *r, const FilterSpec *spec) {
        static char text[65536];
        _cleanup_(filter_freep) Filter *f = NULL;
        _cleanup_(owners_freep) Owners *o = NULL;
        _cleanup_player_ Player p;
        char *t = text;
        Step s;

        *t = 0;
        ck_assert_int_eq(filter_new(&f, spec), 0);
        if (filter_spec_needs_rank(spec)) {
                _cleanup_player_ Player other;

                player_init(&other, r, layout, TASKS, STEPS_ALL);
                ck_assert_int_eq(filter_rank(f, &(StepSource){ next_step, &other.steps }), 0);
        }
        player_init(&p, r, layout, TASKS, STEPS_ALL);
        if (filter_spec_needs_owners(spec)) {
                ck_assert_int_eq(owners_new(&o, p.tasks, &p.formats), 0);
                ck_assert_int_eq(owners_load(o, OWNERS), 0);
                p.steps.owners = o;
        }
        while (filter_next(f, &(StepSource){ next_step, &p.steps }, UINT64_MAX, &s) == 1) {
                if (s.kind == STEP_LOST)
                        *t++ = '!';
                else {
                        *t++ = s.function->label[0];
                        *t++ = "{.}"[s.kind];
                }
                *t = 0;
        }
        return text;
}

/*
 * A page of calls in the same notation, 100 ns from record to record.  The task is 17 up to a '2',
 * 18 from there, and 17 again after a '1'; '+' lets a microsecond pass.
 */
static Page page_of_calls(uint64_t at_ns, const char *calls) {
        uint64_t began[2][16];
        int32_t depth[2] = {};
        unsigned task = 0;
        Page page = {};

        page_begin(&page, layout, at_ns);
        for (const char *c = calls; *c; c++) {
                uint64_t function = *c == 'u'   ? F_ROOT
                                    : *c == 'i' ? F_CHILD
                                    : *c == 'k' ? F_LEAF
                                                : F_MODULE;

                if (*c == '1' || *c == '2') {
                        task = (unsigned) (*c - '1');
                        continue;
                }
                if (*c == '+') {
                        at_ns += 1000;
                        continue;
                }
                c++;
                if (*c != '}') {
                        began[task][depth[task]] = at_ns;
                        page_enter(&page, at_ns, 17 + (int32_t) task, function, depth[task]);
                        depth[task]++;
                        at_ns += 100;
                }
                if (*c != '{') {
                        depth[task]--;
                        page_leave(&page, at_ns, 17 + (int32_t) task, function, depth[task],
                                   at_ns - began[task][depth[task]]);
                        at_ns += 100;
                }
        }
        return page;
}

static void add_calls(Recording *r, uint32_t cpu, uint64_t at_ns, const char *calls) {
        Page page = page_of_calls(at_ns, calls);

        recording_add(r, cpu, 0, &page, 1);
}

static void expect(const char *calls, const FilterSpec *spec, const char *expected) {
        RECORDING(r, layout);

        add_calls(&r, 0, 1000, calls);
        ck_assert_str_eq(left(&r, spec), expected);
}

#define STRV(...)                                                                                  \
        &(const Strv) {                                                                            \
                .items = (char **) (const char *[]){ __VA_ARGS__ },                                \
                .n = sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)                      \
        }
#define EXPECT(calls, expected, ...) expect(calls, &(const FilterSpec){ __VA_ARGS__ }, expected)

TEST(without_a_wish_everything_is_left) {
        ck_assert(filter_spec_is_empty(&(FilterSpec){}));
        EXPECT("u{i{k.i}k.u}k.", "u{i{k.i}k.u}k.");
}

TEST(tasks_are_left_by_whose_they_are) {
        EXPECT("u{u}2k.1i{i}", "u.i.", .owners[OWNER_UNIT] = STRV("a.*"));
        EXPECT("u{u}2k.1i{i}", "k.", .owners[OWNER_UNIT] = STRV("c.service", "b.service"));
        EXPECT("u{u}2k.1i{i}", "", .owners[OWNER_UNIT] = STRV("b.service"),
               .owners[OWNER_USER] = STRV("root"));
        EXPECT("u{u}2k.", "", .owners[OWNER_CONTAINER] = STRV("web"));
}

TEST(a_root_is_left_with_all_that_it_calls) {
        EXPECT("u{i{k.i}k.u}i{k.i}", "i{k.i}i{k.i}", .roots = STRV("ip_*"));
        EXPECT("u{i{i{k.i}i}k.u}", "i{i{k.i}i}", .roots = STRV("ip_make_skb"));
        EXPECT("u{k.o.u}", "k.o.", .roots = STRV("kfree", "ovl_open"));
        EXPECT("u{i{k.i}u}", "", .roots = STRV("nosuch"));
}

TEST(a_function_is_left_without_what_it_calls) {
        EXPECT("u{i{k.i}k.u}", "i{i}", .functions = STRV("ip_make_skb"));
}

TEST(what_is_not_to_be_traced_goes_with_all_that_it_calls) {
        EXPECT("u{i{k.u{i.u}i}k.u}i.", "u{k.u}", .notrace = STRV("ip_make_skb"));
        EXPECT("u{k.i{k.i}u}", "u{i{i}u}", .notrace = STRV("kfree"));
        /* Two tasks on one CPU: each has its own. */
        EXPECT("u{i{2k.u{1k.i}2u}1u}", "u{k.u{u}u}", .notrace = STRV("ip_*"));
}

TEST(levels_are_counted_from_the_root) {
        EXPECT("u{i{k.i}k.u}", "u{u}", .depth = 1);
        EXPECT("u{i{k.i}k.u}", "u{i{i}k.u}", .depth = 2);
        EXPECT("u{i{k.i}k.u}", "i{k.i}", .depth = 2, .roots = STRV("ip_*"));
}

TEST(trees_are_told_by_their_number) {
        EXPECT("k.u{i{k.i}u}i.", "u{i{k.i}u}", .nth = 2);
        EXPECT("k.u{i{k.i}u}i{u.i}i.", "i{u.i}", .nth = 2, .roots = STRV("ip_*"));
        EXPECT("k.u{u}", "", .nth = 9);
}

TEST(the_slowest_trees_are_left_in_their_order) {
        EXPECT("u{+u}i{+++i}u{++u}k.", "i.", .n_slowest = 1);
        EXPECT("u{+u}i{+++i}u{++u}k.", "i.u.", .n_slowest = 2);
        EXPECT("u{i{+i}i{++k.i}u}", "i{k.i}", .n_slowest = 1, .roots = STRV("ip_*"));
        EXPECT("u.i.", "u.i.", .n_slowest = 9);
        /* One that has no end is as long as was seen of it. */
        EXPECT("u{+u}i{+++k.", "i{k.", .n_slowest = 1);
}

TEST(quick_calls_go_and_slow_ones_stay_where_they_were) {
        EXPECT("u{i{k.i}+k.u}", "u{u}", .slower_ns = 1000);
        EXPECT("u{i{+k.i}k.u}", "u{i{i}u}", .slower_ns = 1000);
        EXPECT("u{i{k.i}k.u}", "", .slower_ns = 5000);
        EXPECT("u{2i{+k.i}1k.u}", "u{i{i}u}", .slower_ns = 1000);
        /* What is still open has lasted at least so long. */
        EXPECT("u{i{+k.", "u{i{", .slower_ns = 1000);
        EXPECT("+u{k.", "", .slower_ns = 1000);
}

TEST(what_a_loss_cut_off_is_as_long_as_was_seen) {
        static const char *const behind[] = { "u{k.u}", "k.u{k.u}", "i{k.i}" };

        for (size_t i = 0; i < ELEMENTSOF(behind); i++) {
                FilterSpec spec = { .slower_ns = 2000 };
                Page pages[2] = { page_of_calls(1000, "u{+k."), page_of_calls(9000000, behind[i]) };
                RECORDING(r, layout);

                page_set_missed(&pages[1], 7);
                recording_add(&r, 0, 0, pages, 2);
                ck_assert_str_eq(left(&r, &spec), "!");
                spec.slower_ns = 1000;
                ck_assert_str_eq(left(&r, &spec), "u{!");
                spec = (FilterSpec){ .keep_ns = 2000 };
                ck_assert_str_eq(left(&r, &spec), "!");
                spec.keep_ns = 1000;
                ck_assert(startswith(left(&r, &spec), "u{k.!"));
        }
}

TEST(calls_that_are_left_out_are_counted_where_they_were) {
        const struct {
                FilterSpec spec;
                const char *left;
                uint64_t n[4]; /* of each step */
        } cases[] = {
                { { .depth = 1 }, "u{u}i.", { 0, 3 } },
                { { .depth = 2 }, "u{i{i}k.u}i.", { 0, 0, 1 } },
                { { .slower_ns = 1000 }, "u{i{i}u}", { 0, 0, 1, 1 } },
                { { .notrace = STRV("ip_make_skb") }, "u{k.u}", { 0, 2 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(filter_freep) Filter *f = NULL;
                _cleanup_player_ Player p;
                RECORDING(r, layout);
                Step s;

                add_calls(&r, 0, 1000, "u{i{+k.i}k.u}i.");
                ck_assert_str_eq(left(&r, &cases[i].spec), cases[i].left);
                ck_assert_int_eq(filter_new(&f, &cases[i].spec), 0);
                player_init(&p, &r, layout, TASKS, STEPS_ALL);
                for (size_t k = 0; k < ELEMENTSOF(cases[i].n); k++) {
                        int e = filter_next(f, &(StepSource){ next_step, &p.steps }, UINT64_MAX,
                                            &s);

                        ck_assert_uint_eq(e > 0 ? s.n_left_out : 0, cases[i].n[k]);
                }
        }
}

TEST(what_is_quick_is_counted_before_the_next_call) {
        static const struct {
                const char *recorded, *left;
                uint64_t n[5]; /* of each step */
        } cases[] = {
                { "u{k.k.i{+k.i}+o.u}", "u{i{i}u}", { 0, 2, 1, 1 } },
                { "u{k.i{k.k.i}k.i{+k.i}u}", "u{i{i}u}", { 0, 5, 1, 0 } },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const FilterSpec spec = { .slower_ns = 1000 };
                _cleanup_(filter_freep) Filter *f = NULL;
                _cleanup_player_ Player p;
                RECORDING(r, layout);
                Step s;

                add_calls(&r, 0, 1000, cases[i].recorded);
                ck_assert_str_eq(left(&r, &spec), cases[i].left);
                ck_assert_int_eq(filter_new(&f, &spec), 0);
                player_init(&p, &r, layout, TASKS, STEPS_ALL);
                for (size_t k = 0; k < ELEMENTSOF(cases[i].n); k++) {
                        int e = filter_next(f, &(StepSource){ next_step, &p.steps }, UINT64_MAX,
                                            &s);

                        ck_assert_uint_eq(e > 0 ? s.n_left_out : 0, cases[i].n[k]);
                }
        }
}

TEST(what_is_folded_is_left_without_what_it_calls) {
        EXPECT("u{i{k.i}k.u}k.", "u{i{i}k.u}k.", .fold = STRV("ip_make_skb"));
        EXPECT("u{i{k.i}k.u}k.", "u{i{i}u}", .fold = STRV("ip_*"), .notrace = STRV("kfree"));
        EXPECT("u{i{2k.u{1k.i}2u}1u}", "u{i{k.u{i}u}u}", .fold = STRV("ip_make_skb"));
}

TEST(slow_trees_are_kept_whole_and_others_go) {
        EXPECT("u{k.u}u{i{+k.i}u}i{k.i}", "u{i{k.i}u}", .keep_ns = 1000);
        EXPECT("u{i{+k.i}k.u}u{i{k.i}u}", "i{k.i}", .keep_ns = 1000, .roots = STRV("ip_make_skb"));
        /* What is shown of them is another matter. */
        EXPECT("u{i{+k.i}k.u}i{k.i}", "u{u}", .keep_ns = 1000, .depth = 1);
        EXPECT("u{i{+k.i}k.u}i{k.i}", "u{k.u}", .keep_ns = 1000, .notrace = STRV("ip_make_skb"));
        EXPECT("u{i{+k.i}+k.u}i{k.i}", "u{i{i}u}", .keep_ns = 1000, .slower_ns = 1000);
        /* Tasks wait for each other, and keep their order. */
        EXPECT("u{2i{+k.1k.u}2k.i}o.", "u{i{k.k.u}k.i}", .keep_ns = 1000);
        EXPECT("u{2i{+k.i}1u}", "u{i{k.i}u}", .keep_ns = 1000);
        EXPECT("u{2i{k.i}1+u}", "u{u}", .keep_ns = 1000);
        /* What has no end is as long as was seen of it. */
        EXPECT("u{k.u}u{+k.", "u{k.", .keep_ns = 1000);
        EXPECT("u{k.u}u{k.", "", .keep_ns = 1000);
}

/* Every tree of ip_make_skb that takes a microsecond, and none of others. */
static int learn_nothing(void *n, const Function *root, uint64_t duration_ns) {
        ++*(unsigned *) n;
        return 0;
}

static uint64_t limit_of(void *n, const Function *root) {
        ck_assert_uint_eq(*(unsigned *) n, 4);
        return root->label[0] == 'i' ? 1000 : UINT64_MAX;
}

TEST(each_root_may_have_its_limit) {
        unsigned n = 0;
        const FilterLimits limits = { learn_nothing, limit_of, &n };

        EXPECT("u{+u}i{k.i}i{+k.i}u{", "i{k.i}", .keep_limits = &limits);
}

RECORDING_TEST(tasks_and_cpus_and_times_are_left_alone, layout) {
        const bool cpus[] = { false, true };

        add_calls(r, 0, 1000, "u{2k.1i.u}");
        add_calls(r, 1, 5000, "o.");
        ck_assert_str_eq(left(r, &(FilterSpec){ .pids = (int32_t[]){ 18 }, .n_pids = 1 }), "k.");
        ck_assert_str_eq(left(r, &(FilterSpec){ .tasks = STRV("a s*") }), "k.");
        ck_assert_str_eq(left(r, &(FilterSpec){ .cpus = cpus, .n_cpus = 2 }), "o.");
        ck_assert_str_eq(left(r, &(FilterSpec){ .from_ns = 1100, .to_ns = 1300 }), "k.i.");
        ck_assert_str_eq(left(r, &(FilterSpec){ .from_ns = 5000 }), "o.");
        ck_assert_str_eq(left(r, &(FilterSpec){ .to_ns = 999 }), "");
}

RECORDING_TEST(a_loss_is_left_whatever_is_asked_for, layout) {
        Page page = {};

        page_begin(&page, layout, 1000);
        page_enter(&page, 1000, 17, F_LEAF, 0);
        page_set_missed(&page, 3);
        recording_add(r, 0, 0, &page, 1);
        ck_assert_str_eq(left(r, &(FilterSpec){ .roots = STRV("nosuch") }), "!");
        ck_assert_str_eq(left(r, &(FilterSpec){ .slower_ns = 5 }), "!");
}

/* --- at random, against a judgement that knows the whole tree ---------------------------------- */

typedef struct Call {
        int parent; /* -1: none */
        char name;
        uint64_t duration_ns;
        bool is_leaf;
} Call;

typedef struct Word {
        int call;
        char what; /* '{', '.', '}' */
} Word;

typedef struct Forest {
        Call calls[128];
        Word words[256];
        int n_calls, n_words;
        char text[1024];
} Forest;

static void grow(Forest *f, unsigned *seed, int parent, int depth) {
        int n = rand_r(seed) % 4;

        for (int i = 0; i < n && f->n_calls < 45; i++) {
                int call = f->n_calls++, n_before = f->n_words;
                Word *word;
                size_t at;

                f->calls[call] = (Call){ parent, "uiko"[rand_r(seed) % 4], 100, false };
                f->words[f->n_words++] = (Word){ call, '{' };
                at = strlen(f->text);
                (void) sprintf(f->text + at, "%c{", f->calls[call].name);
                if (depth < 6)
                        grow(f, seed, call, depth + 1);
                word = &f->words[n_before];
                if (f->n_words == n_before + 1) {
                        f->calls[call].is_leaf = true;
                        word->what = '.';
                        f->text[at + 1] = '.';
                } else {
                        f->words[f->n_words++] = (Word){ call, '}' };
                        at = strlen(f->text);
                        (void) sprintf(f->text + at, "%c}", f->calls[call].name);
                }
        }
}

/* Durations as add_calls() makes them: 100 ns for each record. */
static void measure(Forest *f) {
        uint64_t at[128] = {}, now = 0;

        for (int i = 0; i < f->n_words; i++) {
                const Word *w = &f->words[i];

                if (w->what != '}') {
                        at[w->call] = now;
                        now += 100;
                }
                if (w->what != '{') {
                        f->calls[w->call].duration_ns = now - at[w->call];
                        now += 100;
                }
        }
}

static bool is_below(const Forest *f, int call, char name) {
        for (; call >= 0; call = f->calls[call].parent)
                if (f->calls[call].name == name)
                        return true;
        return false;
}

TEST(any_forest_is_left_as_its_tree_says) {
        unsigned seed = unit_seed();

        for (int round = 0; round < 60; round++) {
                Forest f = {};
                char roots[1024] = "", notrace[1024] = "", slower[1024] = "";
                RECORDING(r, layout);

                while (f.n_calls < 20)
                        grow(&f, &seed, -1, 0);
                measure(&f);
                for (int i = 0; i < f.n_words; i++) {
                        const Call *call = &f.calls[f.words[i].call];
                        const char word[3] = { call->name, f.words[i].what, 0 };

                        if (is_below(&f, f.words[i].call, 'i'))
                                strcat(roots, word);
                        else
                                strcat(notrace, word);
                        if (call->duration_ns >= 500)
                                strcat(slower, word);
                }
                add_calls(&r, 0, 1000, f.text);
                ck_assert_str_eq(left(&r, &(FilterSpec){ .roots = STRV("ip_make_skb") }), roots);
                ck_assert_str_eq(left(&r, &(FilterSpec){ .notrace = STRV("ip_make_skb") }),
                                 notrace);
                ck_assert_str_eq(left(&r, &(FilterSpec){ .slower_ns = 500 }), slower);
        }
}

typedef struct Three {
        Step steps[3];
        size_t at;
} Three;

static int next_of_three(void *data, uint64_t until_ns, Step *ret) {
        Three *t = data;

        if (t->at == ELEMENTSOF(t->steps))
                return 0;
        *ret = t->steps[t->at++];
        return 1;
}

TEST(what_says_whose_request_comes_passes_every_filter_if_it_is_asked_for) {
        static const Function function = { .label = "udp_sendmsg", .n_label = 11, .n_name = 11 };
        const bool no_cpus[1] = { false };
        const FilterSpec specs[] = {
                { .roots = STRV("nosuch") },      { .n_slowest = 1 },
                { .tasks = STRV("other") },       { .from_ns = 1000000 },
                { .keep_ns = 1000000 },           { .slower_ns = 1000000 },
                { .cpus = no_cpus, .n_cpus = 1 },
        };

        for (size_t i = 0; i < 2 * ELEMENTSOF(specs); i++) {
                const char *traceparent = "traceparent=-";
                Three three = { { { .kind = STEP_OTHER, .pid = 7, .text = traceparent },
                                  { .kind = STEP_LEAF, .pid = 7, .function = &function },
                                  { .kind = STEP_OTHER, .pid = 7, .text = "another marker" } } };
                FilterSpec spec = specs[i / 2];
                _cleanup_(filter_freep) Filter *f = NULL;
                StepSource source = { next_of_three, &three };
                size_t n_said = 0;
                Step s;

                for (size_t k = 0; k < 3; k++)
                        three.steps[k].comm = "client";
                spec.keep_contexts = i % 2;
                ck_assert(!filter_spec_is_empty(&spec));
                ck_assert_int_eq(filter_new(&f, &spec), 0);
                while (filter_next(f, &source, UINT64_MAX, &s) == 1)
                        n_said += s.kind == STEP_OTHER && streq(s.text, traceparent);
                if (i % 2)
                        ck_assert_msg(n_said == 1, "%zu", i / 2);
                else if (!spec.slower_ns)
                        ck_assert_uint_eq(n_said, 0);
        }
}
