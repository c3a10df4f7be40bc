/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * From the bytes of any source, through filters and analysis, to every exporter in the table, and to
 * what the verbs draw from: nothing is read or written that is not there, sums are what was added
 * up, spans nest, and what comes out is in proportion to what went in: no exporter writes more than
 * FIXED_BYTES, and for each step STEP_BYTES and NAMES times its function's name.
 *
 * Input: a trace.dat, a segment of a session (fuzz-session.h), a text, or "STEPS" and four bytes for
 * each step (fuzz-steps.h).  What has pages is verified, too.  Its length says which filters there are.  For speed inputs of more than SMALL_BYTES go to every third exporter;
 * which, their bytes say, so that each gets them all when it is mutated.
 */

#include <math.h>

#include "../unit/span-check.h"
#include "analyze/breakdown.h"
#include "analyze/call-tree.h"
#include "analyze/heat-map.h"
#include "analyze/overhead.h"
#include "calls/census.h"
#include "calls/playback.h"
#include "causes/critical-path.h"
#include "causes/outliers.h"
#include "causes/waits.h"
#include "causes/why.h"
#include "cli/files/files.h"
#include "cli/views/views.h"
#include "export/exporter.h"
#include "fuzz-repair.h"
#include "fuzz-session.h"
#include "fuzz-steps.h"
#include "fuzz-told.h"
#include "fuzz-mutate.h"
#include "import/text-trace.h"

#define STEPS_MAX 100000
#define SMALL_BYTES 1024
#define FIXED_BYTES ((uint64_t) 1 << 20)
#define STEP_BYTES 4096
#define NAMES 24 /* times six, escaped */
#define N_EXPORTERS_MAX 12
#define SPANS_KEPT 5
#define ROOTS_EXPLAINED 3
#define N_BY (BREAKDOWN_BY_ROOT + 1)
#define PARSED_BYTES_MAX ((size_t) 64 << 10)

/* --- sources ---------------------------------------------------------------------------------- */

typedef struct FuzzInput {
        FuzzSteps steps;
        TextTrace *text;
        SessionDir *dir;
        SessionMeta *meta;
        Playback *playback;
        FuzzScratch scratch; /* of a session */
        uint64_t n;
} FuzzInput;

#define INPUT_INIT ((FuzzInput){ .scratch.fd = -EBADF })

static int input_next(void *userdata, uint64_t until_ns, Step *ret) {
        FuzzInput *in = userdata;

        if (in->n++ >= STEPS_MAX)
                return 0;
        if (in->text)
                return text_trace_next(in->text, ret);
        return in->playback ? playback_next(in->playback, until_ns, ret)
                            : fuzz_steps_next(&in->steps, ret);
}

static void input_done(FuzzInput *in) {
        text_trace_free(in->text);
        playback_free(in->playback);
        session_meta_free(in->meta);
        session_dir_free(in->dir);
        if (in->scratch.fd >= 0)
                fuzz_scratch_done(&in->scratch);
        *in = INPUT_INIT;
}

/* Of a sealed one every other gets its checksums made right. */
static void make_session(FuzzInput *in, const uint8_t *data, size_t n) {
        _cleanup_free_ uint8_t *copy = fuzz_copy(data, n);
        uint32_t version = 0;

        if (n >= SEALED_HEADER_BYTES)
                memcpy(&version, copy + offsetof(SealedHeader, version), sizeof(version));
        if (le32toh(version) == SEALED_VERSION && n % 2)
                fuzz_repair_sealed(copy, n);
        fuzz_session_make(&in->scratch, &in->dir, &in->meta, copy, n);
}

/* False: nothing can be read from it. */
static bool input_open(FuzzInput *in, const uint8_t *data, size_t n) {
        static const uint8_t dat_magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c' };
        char *problem = NULL;
        DatFile *f;

        *in = INPUT_INIT;
        if (fuzz_steps_open(&in->steps, data, n))
                return true;
        if (fuzz_is_segment(data, n)) {
                make_session(in, data, n);
                return playback_open(&in->playback, in->dir, in->meta, &problem) == 0;
        }
        if (n < sizeof(dat_magic) || memcmp(data, dat_magic, sizeof(dat_magic)) != 0)
                return text_trace_take_fd(&in->text, fuzz_file(data, n), 1) == 0;
        if (dat_file_take_fd(&f, fuzz_file(data, n), &problem) == 0 &&
            dat_file_to_dir(&in->dir, f, "fuzz") == 0 &&
            session_dir_read_meta(in->dir, &in->meta) == 0 &&
            playback_open(&in->playback, in->dir, in->meta, &problem) == 0)
                return true;
        free(problem);
        return false;
}

/* What is complete lacks nothing, neither of its blocks nor of its calls. */
static void check_pages(const FuzzInput *in) {
        _cleanup_verify_result_ VerifyResult v = {};
        _cleanup_verify_blocks_ VerifyBlocks deep = {};

        FUZZ_CHECK(verify_session(in->dir, in->meta, NULL, &v) == 0);
        FUZZ_CHECK(v.complete == (v.problems.n == 0));
        FUZZ_CHECK(v.census.n_trees_complete <= v.census.n_trees);
        FUZZ_CHECK(verify_blocks(in->dir, NULL, &deep) == 0);
        FUZZ_CHECK(deep.n_blocks_good <= deep.n_blocks && deep.n_sealed <= deep.n_segments);
        FUZZ_CHECK(deep.n_blocks_good == deep.n_blocks || deep.damages.n > 0);
}

/* --- what comes out --------------------------------------------------------------------------- */

typedef struct Checked {
        SpanCheck **tasks;
        size_t n_tasks;
        Hash by_key; /* number, from 1 */
        uint64_t n, n_left_out;
} Checked;

static void check_span(Checked *c, const Stack *stack, const Frame *span, uint64_t at_ns,
                       bool begins) {
        uint64_t key = (uint64_t) stack->frames[0].task, number = hash_get(&c->by_key, key);

        if (number == 0) {
                c->tasks = reallocarray(c->tasks, c->n_tasks + 1, sizeof(*c->tasks));
                c->tasks[c->n_tasks] = calloc(1, sizeof(**c->tasks));
                number = ++c->n_tasks;
                FUZZ_CHECK(hash_add(&c->by_key, key, number) == 0);
        }
        FUZZ_CHECK(span_check(c->tasks[number - 1], span, at_ns, begins));
}

static int check_begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        (void) caller;
        check_span(userdata, stack, frame, frame->begin_ns, true);
        return 0;
}

static int check_call(void *userdata, const Call *call) {
        const Frame *f = call->frame;
        Checked *c = userdata;

        check_span(c, call->stack, f, f->end_ns, false);
        FUZZ_CHECK(call->duration_ns <= PAIRING_NS_MAX && call->self_ns <= call->duration_ns);
        c->n++;
        c->n_left_out += f->n_left_out;
        FUZZ_CHECK(f->parent < f->number && f->is_root == (f->parent == 0));
        FUZZ_CHECK(!f->is_root == (call->caller && call->caller->number == f->parent));
        return 0;
}

/* All that adds steps up. */
typedef struct Sums {
        Pairing *pairings[5];
        Breakdown *by[N_BY];
        CallTree *tree;
        Floor *floor;
        HeatMap *roots, *heat;
        Outliers *outliers;
        Anatomy *anatomy;
        Waits *waits;
        RootCalls root_calls;
        Window windows[4];
        Timelines *timelines;
        Checked checked;
        Census census;
        uint64_t n_bytes; /* what an exporter may write */
} Sums;

static void sums_init(Sums *s) {
        *s = (Sums){ .n_bytes = FIXED_BYTES };
        for (size_t i = 0; i < ELEMENTSOF(s->pairings); i++)
                FUZZ_CHECK(pairing_new(&s->pairings[i]) == 0);
        pairing_add_sink(s->pairings[0], check_begin, check_call, &s->checked);
        s->pairings[0]->places = true;
        FUZZ_CHECK(floor_new(&s->floor, s->pairings[0]) == 0);
        FUZZ_CHECK(heat_map_new(&s->roots, s->pairings[0], NULL, false) == 0);
        FUZZ_CHECK(call_tree_new(&s->tree, s->pairings[1]) == 0);
        FUZZ_CHECK(heat_map_new(&s->heat, s->pairings[1], NULL, true) == 0);
        FUZZ_CHECK(waits_new(&s->waits, s->pairings[1], false) == 0);
        FUZZ_CHECK(outliers_new(&s->outliers, s->pairings[2], 5) == 0);
        outliers_keep_spans(s->outliers, s->pairings[2], SPANS_KEPT);
        FUZZ_CHECK(anatomy_new(&s->anatomy) == 0);
        FUZZ_CHECK(anatomy_add_source(s->anatomy, s->pairings[3]) == 0);
        root_calls_init(&s->root_calls, s->pairings[3], 3);
        s->windows[0] = (Window){ .task = 17, .begin_ns = 0, .end_ns = UINT64_MAX, .label = "x" };
        s->windows[1] =
                (Window){ .task = 17, .begin_ns = 1000, .end_ns = 9999, .label = "vfs_read" };
        s->windows[2] = (Window){ .task = 18, .begin_ns = 1000, .end_ns = 1 << 20, .label = "y" };
        s->windows[3] = (Window){ .task = 17, .begin_ns = 5000, .end_ns = 1 << 30, .label = "z" };
        FUZZ_CHECK(timelines_new(&s->timelines, s->pairings[4], s->windows,
                                 ELEMENTSOF(s->windows)) == 0);
}

static void sums_done(Sums *s) {
        for (size_t i = 0; i < s->checked.n_tasks; i++)
                free(s->checked.tasks[i]);
        hash_done(&s->checked.by_key);
        free(s->checked.tasks);
        floor_free(s->floor);
        heat_map_free(s->roots);
        heat_map_free(s->heat);
        call_tree_free(s->tree);
        waits_free(s->waits);
        outliers_free(s->outliers);
        anatomy_free(s->anatomy);
        root_calls_done(&s->root_calls);
        timelines_free(s->timelines);
        census_done(&s->census);
        for (size_t i = 0; i < ELEMENTSOF(s->pairings); i++)
                pairing_free(s->pairings[i]);
}

static void sums_step(Sums *s, const Step *step) {
        FUZZ_CHECK(timelines_step(s->timelines, step) == 0);
        for (size_t i = 0; i < ELEMENTSOF(s->pairings); i++)
                FUZZ_CHECK(pairing_step(s->pairings[i], step) == 0);
        FUZZ_CHECK(census_step(&s->census, step) == 0);
        s->n_bytes += STEP_BYTES;
        if (step->function)
                s->n_bytes += (uint64_t) NAMES * step->function->n_label;
}

static bool any(void *userdata, const Function *function) {
        return true;
}

/* A table as text, or a list. */
static void print_table(Table *t) {
        _cleanup_buf_ Buf out = BUF_INIT;

        FUZZ_CHECK(table_print(t, &out, true) == 0);
        table_done(t);
}

static void draw_tree(CallTree *tree, const FloorCost *cost) {
        for (JsonMode json = JSON_OFF; json <= JSON_AUTO; json++) {
                TreeView v = tree_view_of(call_tree_root(tree), cost, 1000);
                Table t;

                table_begin(&t, json);
                FUZZ_CHECK(tree_view_tell(&v, &t) == 0);
                print_table(&t);
        }
}

static void draw_top(Breakdown *b, BreakdownBy by, const FloorCost *cost, uint64_t total_ns) {
        _cleanup_top_view_ TopView v = {};

        FUZZ_CHECK(top_view_init(&v, &(AnalysisOptions){}, b, by, cost, total_ns) == 0);
        for (JsonMode json = JSON_OFF; json <= JSON_AUTO; json++) {
                Table t;

                table_begin(&t, json);
                top_view_tell(&v, &t, MIN(v.n, (size_t) TOP_VIEW_LIMIT));
                print_table(&t);
        }
}

static void check_breakdown(Breakdown *b, const Pairing *p) {
        uint64_t self_ns = 0, n_calls = 0;
        size_t n;
        const BreakdownRow *const *rows = breakdown_rows(b, &n);

        FUZZ_CHECK(rows || n == 0);
        for (size_t i = 0; i < n; i++) {
                self_ns += rows[i]->self_ns;
                n_calls += rows[i]->n_calls;
        }
        FUZZ_CHECK(self_ns == p->total_ns && n_calls == p->n_calls);
}

/* All are within the call. */
static void check_spans(const Invocation *v) {
        const InvocationSpan *first = v->spans;

        FUZZ_CHECK(v->n_spans > 0 && v->n_spans <= SPANS_KEPT);
        FUZZ_CHECK(first->level == 0 && first->function == v->root);
        for (size_t i = 0; i < v->n_spans; i++) {
                const InvocationSpan *s = &v->spans[i];

                FUZZ_CHECK(s->begin_ns <= s->end_ns && s->level >= 0 && (i == 0 || s->level > 0));
                FUZZ_CHECK(s->begin_ns >= first->begin_ns && s->end_ns <= first->end_ns);
        }
}

/* Rows have what the ranges have, however many columns there are. */
static void check_heat(const HeatMap *m, const HeatGrid *all, size_t max_columns) {
        _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
        Range ranges[HEAT_MAP_ROWS];
        size_t n_ranges = heat_grid_ranges(ranges, all);

        FUZZ_CHECK(heat_view_new(&v, m, heat_map_all(m), max_columns) == 0);
        FUZZ_CHECK(v.n == all->quantiles.n && v.n_rows == n_ranges && v.n_columns <= max_columns);
        for (size_t row = 0; row < v.n_rows; row++) {
                uint64_t n = 0;

                for (size_t column = 0; column < v.n_columns; column++)
                        n += heat_view_at(&v, row, column)->n;
                FUZZ_CHECK(n == ranges[row].n);
                FUZZ_CHECK(heat_view_from_ns(&v, row) == ranges[row].from_ns);
        }
}

/* Causes add up, as far as doubles do. */
static void check_why(const Why *w) {
        _cleanup_buf_ Buf out = BUF_INIT;
        double sum = 0, most = 1;

        for (size_t i = 0; i < w->n_causes; i++) {
                sum += w->causes[i].change_ns;
                most += fabs(w->causes[i].change_ns);
                why_describe_cause(&out, w, &w->causes[i]);
        }
        FUZZ_CHECK(fabs(sum - w->difference_ns) <= 1e-6 * (most + w->slow_ns + w->usual_ns));
        why_sentence(&out, w);
        FUZZ_CHECK(out.error == 0);
}

static void check_outliers(Outliers *s) {
        FUZZ_CHECK(outliers_finish(s) == 0);
        for (size_t i = 0; i < s->n; i++) {
                const Invocation *v = s->slowest[i], *usual = outliers_usual(s, v);
                Why *w;

                FUZZ_CHECK(i == 0 || v->duration_ns <= s->slowest[i - 1]->duration_ns);
                FUZZ_CHECK(v->is_cut || v->duration_ns >= call_tree_root(v->tree)->total_ns);
                check_spans(v);
                if (!usual)
                        continue;
                check_spans(usual);
                FUZZ_CHECK(why_new_of_two(&w, v->tree, usual->tree) == 0);
                check_why(w);
                why_free(w);
        }
}

static void check_anatomy(const Anatomy *a) {
        _cleanup_free_ CohortsRoot *roots = NULL;
        size_t n;

        FUZZ_CHECK(cohorts_roots(&roots, &n, a) == 0);
        for (size_t i = 0; i < MIN(n, (size_t) ROOTS_EXPLAINED); i++)
                for (CohortsBy by = COHORTS_BY_SLOWEST; by <= COHORTS_BY_SOURCE; by++) {
                        const CohortsSpec spec = { .by = by, .slower_ns = 1000, .from_ns = 1000 };
                        Why *w;

                        FUZZ_CHECK(why_new(&w, a, &roots[i], &spec) == 0);
                        check_why(w);
                        why_free(w);
                }
}

/* Whatever there was, segments tile the window. */
static void check_path(const Timelines *t, const Window *w) {
        static const Function function = FUZZ_FUNCTION(1, "vfs_read", 8, 8);
        struct IdleRoot roots[] = { { &function, 3, w->end_ns - w->begin_ns }, { &function } };
        const Idle idle = { .roots = roots, .n_roots = 2, .n_with = 1 };
        _cleanup_path_sum_ PathSum sum = {};
        _cleanup_path_ CriticalPath p = {};
        _cleanup_buf_ Buf out = BUF_INIT;
        uint64_t at_ns = w->begin_ns;

        FUZZ_CHECK(critical_path_find(&p, t, w) == 0);
        for (size_t i = 0; i < p.n; i++) {
                FUZZ_CHECK(p.segments[i].begin_ns == at_ns && p.segments[i].duration_ns > 0);
                FUZZ_CHECK(p.segments[i].depth < PATH_DEPTH_MAX);
                at_ns += p.segments[i].duration_ns;
        }
        FUZZ_CHECK(at_ns == w->end_ns);
        FUZZ_CHECK(path_sum_add(&sum, &p) == 0 && path_sum_add(&sum, &p) == 0);
        path_sum_sort(&sum);
        for (uint64_t n_calls = 1; n_calls <= 2; n_calls++) {
                PathView v = { .function = &function,
                               .comm = "a",
                               .start_ns = w->begin_ns,
                               .duration_ns = w->end_ns - w->begin_ns,
                               .n_calls = n_calls,
                               .n_all = 9,
                               .path = &p,
                               .sum = &sum,
                               .idle = &idle };

                path_view_sentence(&v, &out);
                for (JsonMode json = JSON_OFF; json <= JSON_AUTO; json++) {
                        Table table;

                        table_begin(&table, json);
                        FUZZ_CHECK(path_view_tell(&v, &table, n_calls * 3) == 0);
                        if (table.list)
                                json_decref(path_view_json(&v, TAKE_PTR(table.list)));
                        print_table(&table);
                }
        }
}

static void check_root_calls(const RootCalls *c) {
        SlowestCalls slowest;

        FUZZ_CHECK(root_calls_choose(c, &slowest) == 0);
        FUZZ_CHECK(slowest.n <= 3 && slowest.n <= slowest.n_all);
        for (size_t i = 1; i < slowest.n; i++)
                FUZZ_CHECK(slowest.windows[i].begin_ns >= slowest.windows[i - 1].begin_ns);
        free(slowest.windows);
}

static void sums_finish(Sums *s) {
        _cleanup_(call_tree_freep) CallTree *callers = NULL;
        Range ranges[HEAT_MAP_ROWS];
        const HeatGrid *all = heat_map_all(s->roots);
        uint64_t n = 0, total_ns;
        Overhead overhead;
        size_t n_ranges, n_rows;

        for (size_t i = 0; i < ELEMENTSOF(s->pairings); i++)
                FUZZ_CHECK(pairing_finish(s->pairings[i]) == 0);
        total_ns = s->pairings[0]->total_ns;
        FUZZ_CHECK(total_ns <= PAIRING_NS_MAX);
        FUZZ_CHECK(s->checked.n == s->pairings[0]->n_calls);
        FUZZ_CHECK(call_tree_finish(s->tree) == 0);
        FUZZ_CHECK(call_tree_root(s->tree)->total_ns == total_ns);
        FUZZ_CHECK(call_tree_root(s->tree)->n_below ==
                   s->pairings[0]->n_calls + s->checked.n_left_out);
        FUZZ_CHECK(call_tree_callers(&callers, s->tree, any, NULL) == 0);
        FUZZ_CHECK(call_tree_root(callers)->self_ns == total_ns);
        overhead = overhead_of(s->floor);
        draw_tree(s->tree, overhead.has_cost ? &overhead.cost : NULL);
        draw_tree(callers, NULL);
        (void) waits_rows(s->waits, &n_rows);
        (void) heat_map_grids(s->roots, &n_rows);
        check_outliers(s->outliers);
        check_heat(s->heat, all, 1);
        check_heat(s->heat, all, 80);
        check_heat(s->heat, all, SIZE_MAX);
        check_root_calls(&s->root_calls);
        FUZZ_CHECK(timelines_finish(s->timelines) == 0);
        for (size_t i = 0; i < ELEMENTSOF(s->windows); i++)
                check_path(s->timelines, &s->windows[i]);
        check_anatomy(s->anatomy);
        n_ranges = heat_grid_ranges(ranges, all);
        n = 0;
        for (size_t i = 0; i < n_ranges; i++)
                n += ranges[i].n;
        FUZZ_CHECK(n == all->quantiles.n);
}

/* --- exports ---------------------------------------------------------------------------------- */

typedef struct Exports {
        const Exporter *exporters[N_EXPORTERS_MAX];
        Export *items[N_EXPORTERS_MAX];
        Buf outs[N_EXPORTERS_MAX];
        size_t n;
} Exports;

/* Every @step'th, from @first on. */
static void exports_init(Exports *x, const ExportInfo *info, size_t first, size_t step) {
        *x = (Exports){};
        for (size_t i = 0; exporters[i]; i++) {
                if (i % step != first)
                        continue;
                FUZZ_CHECK(x->n < N_EXPORTERS_MAX);
                x->exporters[x->n] = exporters[i];
                x->outs[x->n] = BUF_INIT;
                FUZZ_CHECK(export_new(&x->items[x->n], exporters[i], info, &x->outs[x->n]) == 0);
                x->n++;
        }
}

static void exports_step(Exports *x, const Step *step) {
        for (size_t i = 0; i < x->n; i++)
                FUZZ_CHECK(export_step(x->items[i], step) == 0);
}

/* Messages, one after the other, as protobuf has them. */
static void check_packets(const Buf *out) {
        const uint8_t *p = (const uint8_t *) out->data, *end = p + out->n_data;

        while (p < end) {
                uint64_t n = 0;

                FUZZ_CHECK(*p++ == (1 << 3 | 2));
                for (unsigned shift = 0;; shift += 7) {
                        FUZZ_CHECK(p < end && shift < 64);
                        n |= (uint64_t) (*p & 0x7f) << shift;
                        if (*p++ < 0x80)
                                break;
                }
                FUZZ_CHECK(n <= (uint64_t) (end - p));
                p += n;
        }
}

/* Every line has as many fields as the first. */
static void check_csv(const Buf *out) {
        size_t n_fields = 1, n_wanted = 0;
        bool quoted = false;

        for (size_t i = 0; i < out->n_data; i++) {
                char c = out->data[i];

                quoted ^= c == '"';
                n_fields += !quoted && c == ',';
                if (quoted || c != '\n')
                        continue;
                n_wanted = n_wanted ?: n_fields;
                FUZZ_CHECK(n_fields == n_wanted);
                n_fields = 1;
        }
        FUZZ_CHECK(!quoted && n_fields == 1);
}

static void check_json(const char *text, size_t n) {
        json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);

        FUZZ_CHECK(json);
        json_decref(json);
}

/* An object a line. */
static void check_lines(const Buf *out) {
        size_t begin = 0;

        for (size_t i = 0; i < out->n_data; i++)
                if (out->data[i] == '\n') {
                        check_json(out->data + begin, i - begin);
                        begin = i + 1;
                }
        FUZZ_CHECK(begin == out->n_data);
}

static void check_output(const Exporter *e, const Buf *out) {
        if (e == &exporter_perfetto)
                check_packets(out);
        else if (e == &exporter_csv)
                check_csv(out);
        else if (e == &exporter_ndjson && out->n_data <= PARSED_BYTES_MAX)
                check_lines(out);
        else if (e == &exporter_json && out->n_data <= PARSED_BYTES_MAX)
                check_json(out->data, out->n_data);
}

static void exports_finish(Exports *x, uint64_t n_bytes) {
        for (size_t i = 0; i < x->n; i++) {
                FUZZ_CHECK(export_finish(x->items[i]) == 0);
                FUZZ_CHECK(x->outs[i].n_data <= n_bytes);
                check_output(x->exporters[i], &x->outs[i]);
                export_free(x->items[i]);
                buf_done(&x->outs[i]);
        }
}

/* --- all of it -------------------------------------------------------------------------------- */

static const Strv locks = { .items = (char *[]){ (char *) "*lock*" }, .n = 1 };
static const Strv folded = { .items = (char *[]){ (char *) "irq", (char *) "tcp_*" }, .n = 2 };

/* False: all is passed on. */
static bool choose_filter(size_t n, FilterSpec *ret) {
        const FilterSpec specs[] = {
                { .notrace = &locks, .fold = &folded, .depth = 9, .slower_ns = 500 },
                { .keep_ns = 2000, .keep_failed = true },
                { .n_slowest = 2 },
        };

        if (n % 8 >= ELEMENTSOF(specs))
                return false;
        *ret = specs[n % 8];
        return true;
}

/* NULL: none. */
static Filter *make_filter(const FilterSpec *spec, const uint8_t *data, size_t n) {
        _cleanup_(input_done) FuzzInput in = INPUT_INIT;
        Filter *f = NULL;

        FUZZ_CHECK(input_open(&in, data, n));
        FUZZ_CHECK(filter_new(&f, spec) == 0);
        if (filter_spec_needs_rank(spec))
                (void) filter_rank(f, &(StepSource){ input_next, &in });
        return f;
}

static int next_step(Filter *f, FuzzInput *in, Step *ret) {
        const StepSource source = { input_next, in };

        return f ? filter_next(f, &source, UINT64_MAX, ret) : input_next(in, UINT64_MAX, ret);
}

/* The tree that a flame graph is compared with: of what has a breakdown, too. */
static void add_before(const uint8_t *data, size_t n, CallTree **ret, Pairing **ret_pairing,
                       FuzzInput *in) {
        _cleanup_(pairing_freep) Pairing *p = NULL;
        Breakdown *by[N_BY] = {};
        Told trees = {}, calls = {};
        Step s;

        FUZZ_CHECK(pairing_new(ret_pairing) == 0 && pairing_new(&p) == 0);
        FUZZ_CHECK(call_tree_new(ret, *ret_pairing) == 0);
        FUZZ_CHECK(input_open(in, data, n));
        FUZZ_CHECK(breakdown_new(&by[n % N_BY], (BreakdownBy) (n % N_BY), p) == 0);
        told_init(&trees, false);
        told_init(&calls, true);
        while (input_next(in, UINT64_MAX, &s) > 0) {
                FUZZ_CHECK(pairing_step(*ret_pairing, &s) == 0 && pairing_step(p, &s) == 0);
                told_step(&trees, &s);
                told_step(&calls, &s);
        }
        FUZZ_CHECK(pairing_finish(*ret_pairing) == 0 && pairing_finish(p) == 0);
        told_finish(&trees);
        told_finish(&calls);
        check_same(&trees, &calls);
        told_done(&trees);
        told_done(&calls);
        FUZZ_CHECK(call_tree_finish(*ret) == 0);
        check_breakdown(by[n % N_BY], p);
        draw_top(by[n % N_BY], (BreakdownBy) (n % N_BY), NULL, p->total_ns);
        breakdown_free(by[n % N_BY]);
}

static uint32_t hash_of(const uint8_t *data, size_t n) {
        uint32_t h = 2166136261;

        for (size_t i = 0; i < n; i++)
                h = (h ^ data[i]) * 16777619;
        return h ^ h >> 16;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_(pairing_freep) Pairing *before_pairing = NULL;
        _cleanup_(call_tree_freep) CallTree *before = NULL;
        _cleanup_(input_done) FuzzInput in = INPUT_INIT, other = INPUT_INIT;
        _cleanup_(filter_freep) Filter *f = NULL;
        ExportInfo info = { .title = "fuzz", .before_title = "before" };
        bool is_small = n_data <= SMALL_BYTES;
        uint32_t hash = hash_of(data, n_data);
        FilterSpec spec;
        Exports exports;
        Sums sums;
        Step s;

        if (!input_open(&in, data, n_data))
                return 0;
        f = choose_filter(n_data, &spec) ? make_filter(&spec, data, n_data) : NULL;
        if (is_small || hash % 4 == 0)
                add_before(data, n_data, &before, &before_pairing, &other);
        if (in.dir && (is_small || hash % 4 == 1))
                check_pages(&in);
        info.is_timeless = n_data % 3 == 0;
        info.before = n_data % 2 ? before : NULL;
        exports_init(&exports, &info, is_small ? 0 : hash % 3, is_small ? 1 : 3);
        sums_init(&sums);
        while (next_step(f, &in, &s) > 0) {
                exports_step(&exports, &s);
                sums_step(&sums, &s);
        }
        sums_finish(&sums);
        exports_finish(&exports, sums.n_bytes);
        sums_done(&sums);
        return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
        if (n >= FUZZ_PAGE)
                return fuzz_mutate_pages(data, n, max, 0, seed);
        return fuzz_mutate_lines(data, n, max, seed);
}
