/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Windows of all recordings and texts in tests/data, cut by filters that are chosen by chance: whatever
 * was left out, every step that ends a call is a call with the duration that the step says, in all that
 * adds calls up; what has no end is cut, in all of it; self times of a tree are its duration; and
 * timelines nest and never go back.  FTRACED_WINDOWS: how many, else N_WINDOWS; with many of
 * them CK_FORK=no, or check ends it.  FTRACED_SEED.
 */

#include <glob.h>

#include "analyze/breakdown.h"
#include "analyze/call-tree.h"
#include "analyze/heat-map.h"
#include "causes/anatomy.h"
#include "causes/outliers.h"
#include "cli/options/options.h"
#include "cli/source/source.h"
#include "export/exporter.h"
#include "span-check.h"
#include "text-file.h"

#define N_WINDOWS (600 / UNIT_EVERY)
#define N_NAMES 64
#define N_TASKS 512

/* What is in all of a source. */
typedef struct Whole {
        char *word;
        char *names[N_NAMES]; /* of functions, some */
        size_t n_names;
        uint64_t begin_ns, end_ns;
        uint32_t n_cpus;
        bool is_text;
} Whole;

/* What must be the same in all that adds up; of durations a sum that tells which were whose. */
typedef struct Sum {
        uint64_t n, n_cut, known_ns, hash;
} Sum;

static uint64_t state;
static char window[512]; /* for messages */
static unsigned long n_with_calls, n_with_cut;

static uint64_t chance(uint64_t n) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (state >> 11) % n;
}

static uint64_t mix(const Function *f, uint64_t duration_ns) {
        uint64_t x = ((uintptr_t) f ^ duration_ns * UINT64_C(0x9e3779b97f4a7c15)) *
                     UINT64_C(0xff51afd7ed558ccd);

        return x ^ x >> 32;
}

/* --- what calls there are --------------------------------------------------------------------- */

typedef struct Told {
        Sum sum;
        uint64_t tree_ns; /* self times of the tree that is told */
        uint64_t n_roots, roots_ns, n_roots_cut;
        uint64_t self_ns;
        SpanCheck *tasks;
        int32_t n_tasks;
        uint64_t n_spans;
} Told;

static int note_call(void *userdata, const Call *call) {
        Told *t = userdata;

        t->sum.n++;
        t->sum.n_cut += call->is_cut;
        t->tree_ns += call->self_ns;
        t->self_ns += call->self_ns;
        if (!call->is_cut) {
                t->sum.known_ns += call->duration_ns;
                t->sum.hash += mix(call->frame->function, call->duration_ns);
        }
        if (!call->is_root)
                return 0;
        ck_assert_msg(t->tree_ns == call->duration_ns, "%s: self times of %s are %llu, not %llu",
                      window, call->frame->function->label, (unsigned long long) t->tree_ns,
                      (unsigned long long) call->duration_ns);
        t->tree_ns = 0;
        t->n_roots++;
        t->n_roots_cut += call->is_cut;
        t->roots_ns += call->duration_ns;
        return 0;
}

/* A stack's counter is its task's number, from 1. */
static int note_span(Told *t, Stack *stack, const Frame *span, uint64_t at_ns, bool begins) {
        if (stack->counter == 0)
                stack->counter = ++t->n_tasks;
        ck_assert_int_le(stack->counter, N_TASKS);
        ck_assert_msg(span_check(&t->tasks[stack->counter - 1], span, at_ns, begins),
                      "%s: %s %s at %llu", window, span->function->label,
                      begins ? "begins" : "ends", (unsigned long long) at_ns);
        t->n_spans += !begins;
        return 0;
}

static int begin_span(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        (void) caller;
        return note_span(userdata, stack, frame, frame->begin_ns, true);
}

static int end_span(void *userdata, const Call *call) {
        return note_span(userdata, call->stack, call->frame, call->frame->end_ns, false);
}

/* What the steps themselves say. */
static void note_step(Sum *s, const Step *step) {
        uint64_t duration_ns = step->kind == STEP_ENTER ? 0 : step_duration_ns(step);

        if (!step_is_call(step))
                return;
        s->n += step->kind != STEP_LEAVE;
        if (step->kind == STEP_ENTER)
                return;
        duration_ns = duration_ns > INT64_MAX ? 0 : duration_ns;
        s->known_ns += duration_ns;
        s->hash += mix(step->function, duration_ns);
        s->n_cut++; /* for the while: how many have ended */
}

typedef struct All {
        Pairing *pairings[4];
        Breakdown *by_function, *by_root;
        CallTree *tree;
        HeatMap *roots;
        Outliers *outliers;
        Anatomy *anatomy;
        Export *exports[16];
        Buf out[16];
        Told told;
} All;

static void all_init(All *a, const ExportInfo *info, bool is_sparse) {
        *a = (All){};
        for (size_t i = 0; i < ELEMENTSOF(a->pairings); i++) {
                ck_assert_int_eq(pairing_new(&a->pairings[i]), 0);
                if (is_sparse)
                        a->pairings[i]->is_sparse = true;
        }
        a->told.tasks = calloc(N_TASKS, sizeof(*a->told.tasks));
        ck_assert_ptr_nonnull(a->told.tasks);
        pairing_add_sink(a->pairings[0], NULL, note_call, &a->told);
        pairing_add_sink(a->pairings[0], begin_span, end_span, &a->told);
        a->pairings[0]->places = true;
        ck_assert_int_eq(breakdown_new(&a->by_function, BREAKDOWN_BY_FUNCTION, a->pairings[1]), 0);
        ck_assert_int_eq(call_tree_new(&a->tree, a->pairings[1]), 0);
        ck_assert_int_eq(heat_map_new(&a->roots, a->pairings[1], NULL, false), 0);
        ck_assert_int_eq(outliers_new(&a->outliers, a->pairings[2], 100000), 0);
        ck_assert_int_eq(anatomy_new(&a->anatomy), 0);
        ck_assert_int_eq(anatomy_add_source(a->anatomy, a->pairings[3]), 0);
        for (size_t i = 0; exporters[i]; i++) {
                a->out[i] = BUF_INIT;
                ck_assert_int_eq(export_new(&a->exports[i], exporters[i], info, &a->out[i]), 0);
        }
}

static void all_step(All *a, const Step *step) {
        for (size_t i = 0; i < ELEMENTSOF(a->pairings); i++)
                ck_assert_int_eq(pairing_step(a->pairings[i], step), 0);
        for (size_t i = 0; exporters[i]; i++)
                ck_assert_int_eq(export_step(a->exports[i], step), 0);
}

static void all_done(All *a) {
        for (size_t i = 0; exporters[i]; i++) {
                export_free(a->exports[i]);
                buf_done(&a->out[i]);
        }
        breakdown_free(a->by_function);
        call_tree_free(a->tree);
        heat_map_free(a->roots);
        outliers_free(a->outliers);
        anatomy_free(a->anatomy);
        for (size_t i = 0; i < ELEMENTSOF(a->pairings); i++)
                pairing_free(a->pairings[i]);
        free(a->told.tasks);
}

#define AGREE(a, b)                                                                                \
        ck_assert_msg((a) == (b), "%s: " #a " is %llu, " #b " %llu", window,                       \
                      (unsigned long long) (a), (unsigned long long) (b))

static void check_sums(const Sum *steps, const Sum *calls) {
        AGREE(steps->hash, calls->hash);
        AGREE(steps->known_ns, calls->known_ns);
        AGREE(steps->n_cut, calls->n - calls->n_cut); /* what has ended is known */
        ck_assert_uint_ge(calls->n, steps->n);
}

static void check_top(All *a) {
        const BreakdownRow *const *rows;
        Sum sum = {};
        size_t n;

        rows = breakdown_rows(a->by_function, &n);
        for (size_t i = 0; i < n; i++) {
                sum.n += rows[i]->n;
                sum.n_cut += rows[i]->n_cut;
                sum.known_ns += rows[i]->quantiles.sum;
                AGREE(rows[i]->quantiles.n, rows[i]->n - rows[i]->n_cut);
        }
        AGREE(sum.n, a->told.sum.n);
        AGREE(sum.n_cut, a->told.sum.n_cut);
        AGREE(sum.known_ns, a->told.sum.known_ns);
}

/* Each node is what its calls were; where none is cut, and none has less room, to the nanosecond. */
static void check_tree(All *a) {
        const CallNode *root = call_tree_root(a->tree);
        uint64_t n = 0, n_cut = 0, self_ns = 0, total_ns = 0;

        ck_assert_int_eq(call_tree_finish(a->tree), 0);
        for (const CallNode *c = call_node_next(root, root); c; c = call_node_next(root, c)) {
                n += c->n;
                n_cut += c->n_cut;
                self_ns += c->self_ns;
                total_ns += c->total_ns;
        }
        AGREE(n, a->told.sum.n);
        AGREE(n_cut, a->told.sum.n_cut);
        AGREE(self_ns, a->told.self_ns);
        AGREE(root->total_ns, a->told.roots_ns);
        ck_assert(n_cut > 0 || total_ns == a->told.sum.known_ns);
}

static void check_roots(All *a) {
        const HeatGrid *all = heat_map_all(a->roots);
        uint64_t roots_ns = 0;

        AGREE(all->quantiles.n + all->n_cut, a->told.n_roots);
        AGREE(all->n_cut, a->told.n_roots_cut);
        ck_assert_int_eq(outliers_finish(a->outliers), 0);
        AGREE(a->outliers->n, a->told.n_roots);
        for (size_t i = 0; i < a->outliers->n; i++) {
                const Invocation *v = a->outliers->slowest[i];

                roots_ns += v->duration_ns;
                AGREE(v->duration_ns, call_tree_root(v->tree)->total_ns);
        }
        AGREE(roots_ns, a->told.roots_ns);
}

static void check_all(All *a, const Sum *steps) {
        for (size_t i = 0; i < ELEMENTSOF(a->pairings); i++)
                ck_assert_int_eq(pairing_finish(a->pairings[i]), 0);
        for (size_t i = 0; exporters[i]; i++)
                ck_assert_int_eq(export_finish(a->exports[i]), 0);
        n_with_calls += a->told.sum.n > 0;
        n_with_cut += a->told.sum.n_cut > 0;
        check_sums(steps, &a->told.sum);
        AGREE(a->told.n_spans, a->told.sum.n);
        AGREE(a->told.self_ns, a->told.roots_ns);
        check_top(a);
        check_tree(a);
        check_roots(a);
        AGREE(a->anatomy->n_all, a->told.n_roots);
        AGREE(a->anatomy->n_cut, a->told.n_roots_cut);
}

/* --- windows ---------------------------------------------------------------------------------- */

typedef struct Arguments {
        char *items[16];
        int n;
} Arguments;

__attribute__((format(printf, 2, 3))) static void add(Arguments *args, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        ck_assert_int_gt(vasprintf(&args->items[args->n++], format, ap), 0);
        va_end(ap);
}

static void arguments_done(Arguments *args) {
        for (int i = 0; i < args->n; i++)
                free(args->items[i]);
}

static const char *some_name(const Whole *w) {
        return w->n_names > 0 ? w->names[chance(w->n_names)] : "nothing";
}

static void choose(Arguments *args, const Whole *w) {
        uint64_t length_ns = w->end_ns - w->begin_ns, at_ns;

        if (length_ns > 0 && chance(3) > 0) {
                at_ns = chance(length_ns);
                add(args, "--from=+%lluns", (unsigned long long) at_ns);
                if (chance(2))
                        add(args, "--to=+%lluns",
                            (unsigned long long) (at_ns + chance(length_ns - at_ns + 1)));
        } else if (length_ns > 0 && chance(3) == 0)
                add(args, "--to=+%lluns", (unsigned long long) chance(length_ns));
        if (chance(5) == 0)
                add(args, "--cpus=%u", (unsigned) chance(w->n_cpus));
        if (chance(5) == 0)
                add(args, "--root=%s", some_name(w));
        if (chance(6) == 0)
                add(args, "--depth=%u", (unsigned) (1 + chance(6)));
        if (chance(8) == 0)
                add(args, "--notrace=%s", some_name(w));
        if (chance(8) == 0)
                add(args, "--fold=%s", chance(2) ? "irq" : some_name(w));
        if (chance(8) == 0)
                add(args, "--slower=%uus", (unsigned) (1 + chance(20)));
        if (chance(8) == 0) {
                add(args, "--function=%s", some_name(w));
                add(args, "--function=%s", some_name(w));
        }
        if (chance(10) == 0)
                add(args, "--slowest=%u", (unsigned) (1 + chance(3)));
}

/* What @args say goes to @step; nothing, if they ask for what there is not. */
static void read_window(Arguments *args, const char *word, void (*step)(void *, const Step *),
                        void (*finish)(void *), void *userdata) {
        _cleanup_options_ Options o = {};
        _cleanup_reading_ Reading reading = {};
        int r;

        ck_assert_msg(options_parse(&o, args->n, args->items) == 0, "%s", window);
        r = reading_open(&reading, &o, word, READING_FOR_DRAWING);
        while (r == 0) {
                Step s;

                if (reading_next(&reading, &s) <= 0)
                        break;
                step(userdata, &s);
        }
        finish(userdata);
}

static void learn(void *userdata, const Step *step) {
        Whole *w = userdata;

        if (!step_is_call(step))
                return;
        if (w->begin_ns == 0)
                w->begin_ns = step->timestamp_ns;
        w->end_ns = step->timestamp_ns;
        w->is_text = step->said;
        w->n_cpus = MAX(w->n_cpus, step->cpu + 1);
        if (w->n_names > 0 && chance(w->n_names < N_NAMES / 2 ? 4 : 40) > 0)
                return;
        if (w->n_names < N_NAMES)
                w->names[w->n_names++] = strndup(step->function->label, step->function->n_name);
}

typedef struct Feed {
        All all;
        Sum steps;
} Feed;

static void feed(void *userdata, const Step *step) {
        Feed *f = userdata;

        note_step(&f->steps, step);
        all_step(&f->all, step);
}

static void finish(void *userdata) {
        Feed *f = userdata;

        check_all(&f->all, &f->steps);
        all_done(&f->all);
}

static void learnt(void *userdata) {
        const Whole *w = userdata;

        ck_assert_msg(w->n_names > 0, "%s has no calls", w->word);
}

static void try_window(const Whole *w) {
        ExportInfo info = { .title = "window" };
        _cleanup_(arguments_done) Arguments args = {};
        bool is_sparse = false;
        Feed f = {};

        add(&args, "ftracectl");
        add(&args, "top");
        add(&args, "-q");
        choose(&args, w);
        (void) snprintf(window, sizeof(window), "%s", w->word);
        for (int i = 3; i < args.n; i++) {
                size_t n = strlen(window);

                (void) snprintf(window + n, sizeof(window) - n, " %s", args.items[i]);
                is_sparse |= startswith(args.items[i], "--function=") != NULL;
        }
        info.is_sparse = is_sparse;
        all_init(&f.all, &info, is_sparse);
        read_window(&args, w->word, feed, finish, &f);
}

static size_t find_sources(Whole *ret, size_t n_max) {
        static const char *const patterns[] = { "/sessions/*", "/*.dat", "/*.trace", "/text/*.txt",
                                                "/numbers/*.txt" };
        _cleanup_free_ char *data = data_path("");
        size_t n = 0;
        glob_t g = {};

        ck_assert_int_eq(setenv("FTRACED_STORE", data, true), 0);
        for (size_t i = 0; i < ELEMENTSOF(patterns); i++) {
                char pattern[PATH_MAX];

                (void) snprintf(pattern, sizeof(pattern), "%s%s", data, patterns[i]);
                (void) glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &g);
        }
        for (size_t i = 0; i < g.gl_pathc && n < n_max; i++) {
                char *base = strstr(g.gl_pathv[i], "/sessions/");

                ret[n++] = (Whole){ .word = strdup(base ? base + 10 : g.gl_pathv[i]) };
        }
        globfree(&g);
        return n;
}

TEST(in_any_window_everybody_says_the_same_of_a_call) {
        const char *wanted = getenv("FTRACED_WINDOWS"), *seed = getenv("FTRACED_SEED");
        unsigned long n = wanted ? strtoul(wanted, NULL, 10) : N_WINDOWS;
        static Whole sources[256];
        size_t n_sources = find_sources(sources, ELEMENTSOF(sources));

        ck_assert_uint_gt(n_sources, 10);
        state = seed ? strtoull(seed, NULL, 10) : (uint64_t) getpid() * 0x9e3779b9 + 1;
        printf("# seed %llu, %zu sources\n", (unsigned long long) state, n_sources);
        for (size_t i = 0; i < n_sources; i++) {
                _cleanup_(arguments_done) Arguments args = {};

                add(&args, "ftracectl");
                add(&args, "top");
                add(&args, "-q");
                read_window(&args, sources[i].word, learn, learnt, &sources[i]);
        }
        for (unsigned long i = 0; i < n; i++)
                try_window(&sources[chance(n_sources)]);
        printf("# %lu windows with calls, %lu with cut ones\n", n_with_calls, n_with_cut);
        ck_assert_uint_gt(n_with_calls, n / 3);
        ck_assert_uint_gt(n_with_cut, n / 20);
        for (size_t i = 0; i < n_sources; i++) {
                for (size_t k = 0; k < sources[i].n_names; k++)
                        free(sources[i].names[k]);
                free(sources[i].word);
        }
}
