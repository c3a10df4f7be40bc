/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What slow calls of a root have that usual ones have not: one sentence, and the causes that the
 * difference is the sum of. */

#include <inttypes.h>
#include <math.h>

#include "analyze/why-sentence.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/options/verb.h"
#include "cli/source/chosen.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"

#define LIMIT_DEFAULT 10
#define SHARE_SHOWN 0.005 /* unless more are asked for */
#define FACTORS_SHOWN 3
#define FACTOR_SHARE_MIN 0.1
#define VALUES_SHOWN 3
#define VALUE_PART_MIN 0.1

typedef struct Sides {
        Counting now, before; /* before: of --against, or nothing */
        Anatomy *anatomy;
} Sides;

static void sides_done(Sides *s) {
        anatomy_free(s->anatomy);
        counting_done(&s->now);
        counting_done(&s->before);
}

/* --- the cohorts ------------------------------------------------------------------------------ */

/* Which way of choosing was asked for; an exit status. */
static int choose(const Options *o, CohortsSpec *ret) {
        bool by_window = o->filter.from || o->filter.to;

        if ((o->spec.slower_ns > 0) + by_window + o->why.failed + (o->why.against != NULL) > 1)
                return failed(STATUS_USAGE,
                              "--slower, --from and --to, --failed, and --against each say which "
                              "calls are the slow ones: give one of them.");
        *ret = (CohortsSpec){ .by = o->spec.slower_ns > 0 ? COHORTS_BY_DURATION
                                    : by_window           ? COHORTS_BY_WINDOW
                                    : o->why.failed       ? COHORTS_BY_FAILURE
                                    : o->why.against      ? COHORTS_BY_SOURCE
                                                          : COHORTS_BY_SLOWEST,
                              .slower_ns = o->spec.slower_ns };
        return STATUS_OK;
}

/* When the window is, once it is known when the recording begins. */
static int find_window(const Options *o, const Sides *s, CohortsSpec *spec) {
        const Reading *reading = &s->now.reading;
        _cleanup_filtering_ Filtering window = {};
        uint64_t begin_ns = s->anatomy->n_calls > 0 ? UINT64_MAX : 0;
        const char *problem;
        int status = filtering_init(&window, o);

        if (status != STATUS_OK)
                return status;
        for (size_t i = 0; i < s->anatomy->n_calls; i++)
                begin_ns = MIN(begin_ns, s->anatomy->calls[i].start_ns);
        if (reading->playback)
                (void) stream_begin(reading->playback->stream, &begin_ns);
        if (filtering_resolve(&window, reading_meta(reading), begin_ns, &problem) != 0)
                return failed(STATUS_FAILED, "\"%s\" cannot be read: %s.", o->words.items[0],
                              problem);
        spec->from_ns = window.spec.from_ns;
        spec->to_ns = window.spec.to_ns;
        return STATUS_OK;
}

/* --- drawn ------------------------------------------------------------------------------------ */

static void add_p(Table *t, double p) {
        if (isnan(p))
                table_add(t, " ");
        else
                table_add(t, p <= 0.001 ? "<=0.001" : "%.3f", p);
}

static void add_cause(Table *t, const WhyCause *c) {
        _cleanup_buf_ Buf text = BUF_INIT;

        table_add(t, "%.1f%%", 100 * c->share);
        table_add(t, "%s", FIGURE_CHANGE(c->change_ns));
        table_add(t, "%s", FIGURE_MEAN(c->slow_ns));
        table_add(t, "%s", FIGURE_MEAN(c->usual_ns));
        table_add(t, "%.2f", c->slow_n);
        table_add(t, "%.2f", c->usual_n);
        add_p(t, c->p);
        why_describe_cause(&text, c);
        table_add(t, "%.*s", (int) text.n_data, text.data);
}

static void add_sum(Table *t, const char *what, double ns, const Why *w) {
        table_add(t, "%.1f%%", w->difference_ns != 0 ? 100 * ns / w->difference_ns : 0);
        table_add(t, "%s", FIGURE_CHANGE(ns));
        for (int i = 0; i < 5; i++)
                table_add(t, " ");
        table_add(t, "%s", what);
}

static int add_causes(Buf *out, const Options *o, const Why *w) {
        size_t limit = o->limit > 0 ? (size_t) o->limit : LIMIT_DEFAULT, n = 0;
        _cleanup_table_ Table t = {};
        double rest_ns = 0;
        char text[64];

        table_init(&t, ">SHARE|>CHANGE|>SLOW|?>USUAL|?>CALLS|?>USUAL|?>P|CAUSE");
        while (n < MIN(w->n_causes, limit) &&
               (o->limit > 0 || fabs(w->causes[n].share) >= SHARE_SHOWN))
                add_cause(&t, &w->causes[n++]);
        for (size_t i = n; i < w->n_causes; i++)
                rest_ns += w->causes[i].change_ns;
        if (n < w->n_causes) {
                (void) snprintf(text, sizeof(text), "%zu others", w->n_causes - n);
                add_sum(&t, text, rest_ns, w);
        }
        add_sum(&t, "all of the difference", w->difference_ns, w);
        return table_print(&t, out, !o->no_legend);
}

static void add_factors(Buf *out, const Why *w) {
        for (size_t i = 0; why_is_no_chance(w) && i < MIN(w->n_factors, (size_t) FACTORS_SHOWN);
             i++) {
                const WhyFactor *f = &w->factors[i];

                if (f->share < FACTOR_SHARE_MIN || f->p > WHY_P_MAX)
                        continue;
                buf_printf(out, "%.0f %% of them were ", 100 * f->slow_part);
                buf_adds(out, f->place == WHY_CPU ? "on " : "in ");
                why_describe_factor(out, f);
                buf_printf(out,
                           ", %.0f %% of the usual ones; that goes with %.0f %% of the "
                           "difference.\n",
                           100 * f->usual_part, 100 * f->share);
        }
}

/* Behind the one that the sentence names. */
static void add_values(Buf *out, const Why *w) {
        size_t first = why_named_value(w) ? 1 : 0;

        for (size_t i = first; i < MIN(w->n_values, first + VALUES_SHOWN); i++) {
                const WhyValue *v = &w->values[i];

                if (why_value_surplus(v) < VALUE_PART_MIN)
                        break;
                why_describe_parts(out, v);
                buf_adds(out, ".\n");
        }
}

static int print(const Options *o, const Why *w) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        int r = 0;

        pager_open(&pager, o, SIZE_MAX);
        why_sentence(&out, w);
        buf_adds(&out, "\n");
        if (w->is_enough) {
                buf_adds(&out, "\n");
                r = add_causes(&out, o, w);
                add_factors(&out, w);
                add_values(&out, w);
        }
        return stdout_paged(&pager, &out, r);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *waker_json(const WhyCause *c) {
        const Waker *w = c->waker;
        json_t *o;

        if (!w)
                return json_null();
        o = json_pack("{s:o, s:o, s:b, s:f}", "task", table_comm_json(w->comm), "pid",
                      table_pid_json(w->pid), "interrupt", (int) w->is_irq, "share",
                      c->waker_share);
        if (w->function)
                table_function_json(o, w->function);
        return o;
}

/* From the root down, without the function itself. */
static json_t *path_json(const CallNode *node) {
        json_t *path = json_array();

        for (const CallNode *n = node->parent; n->level > 0; n = n->parent)
                (void) json_array_insert_new(path, 0,
                                             json_stringn(n->function->label, n->function->n_name));
        return path;
}

static json_t *p_json(double p) {
        return isnan(p) ? json_null() : json_real(p);
}

static json_t *burst_json(const WhyBurst *b) {
        if (b->n_calls == 0)
                return json_null();
        return json_pack("{s:I, s:I, s:I, s:f, s:f, s:b}", "from_ns", (json_int_t) b->from_ns,
                         "to_ns", (json_int_t) b->to_ns, "calls", (json_int_t) b->n_calls, "share",
                         b->share, "chance", b->chance, "usual", (int) b->is_usual);
}

static json_t *cause_json(const WhyCause *c) {
        static const char *const kinds[] = { [WHY_RUNNING] = "running",
                                             [WHY_WAITING] = "waiting",
                                             [WHY_CALLS] = "calls",
                                             [WHY_ONLY] = "only",
                                             [WHY_NEVER] = "never" };

        return table_function_pack(
                c->node->function,
                "{s:o, s:s, s:o, s:b, s:s%, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:o}",
                "not_hooked_below", table_unhooked_json(c->node->n_unhooked), "kind",
                kinds[c->kind], "path", path_json(c->node), "interrupt", (int) c->node->is_irq,
                "mostly", c->hottest->function->label, (size_t) c->hottest->function->n_name,
                "change_ns", c->change_ns, "share", c->share, "slow_ns", c->slow_ns, "usual_ns",
                c->usual_ns, "slow_calls", c->slow_n, "usual_calls", c->usual_n, "p", p_json(c->p),
                "waker", waker_json(c), "queued_share", c->queued_share, "burst",
                burst_json(&c->burst));
}

static json_t *factor_json(const WhyFactor *f) {
        return json_pack("{s:s, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f}", "place",
                         f->place == WHY_CPU ? "cpu" : "task", "cpu",
                         f->place == WHY_CPU ? json_integer(f->cpu) : json_null(), "task",
                         f->task ? terminal_json_text(f->task, strnlen(f->task, 16)) : json_null(),
                         "slow_part", f->slow_part, "usual_part", f->usual_part, "change_ns",
                         f->change_ns, "share", f->share, "evenness", f->evenness, "p", f->p);
}

static json_t *bound_json(ValueNumber n) {
        char text[32];

        if (n.magnitude <= INT64_MAX)
                return json_integer(n.is_negative ? -(json_int_t) n.magnitude
                                                  : (json_int_t) n.magnitude);
        (void) snprintf(text, sizeof(text), "%s0x%" PRIx64, n.is_negative ? "-" : "", n.magnitude);
        return json_string(text);
}

static json_t *value_json(const WhyValue *v) {
        static const char *const relations[] = {
                [WHY_EQUAL] = "equal", [WHY_ABOVE] = "above", [WHY_BELOW] = "below"
        };

        return table_function_pack(
                v->node->function, "{s:o, s:o, s:s, s:o, s:f, s:f, s:f, s:f, s:f}", "path",
                path_json(v->node), "name", terminal_json_text(v->name, strlen(v->name)),
                "relation", relations[v->relation], "bound", bound_json(v->bound), "slow_part",
                v->slow_part, "usual_part", v->usual_part, "change_ns", v->change_ns, "share",
                v->share, "p", v->p);
}

static const char *named_kind(const Why *w) {
        if (!w->is_enough)
                return "too-few";
        if (why_names_factor_first(w))
                return "factor";
        return why_named_cause(w) ? "cause" : why_named_value(w) ? "value" : "nothing";
}

static int print_json(const Options *o, const Why *w) {
        json_t *causes = json_array(), *factors = json_array(), *values = json_array();
        const WhyValue *value = why_named_value(w);
        const WhyCause *named = why_named_cause(w);
        _cleanup_buf_ Buf sentence = BUF_INIT;

        why_sentence(&sentence, w);
        for (size_t i = 0; i < w->n_causes && (o->limit == 0 || i < o->limit); i++)
                (void) json_array_append_new(causes, cause_json(&w->causes[i]));
        for (size_t i = 0; i < w->n_factors && (o->limit == 0 || i < o->limit); i++)
                (void) json_array_append_new(factors, factor_json(&w->factors[i]));
        for (size_t i = 0; i < w->n_values && (o->limit == 0 || i < o->limit); i++)
                (void) json_array_append_new(values, value_json(&w->values[i]));
        return stdout_json(
                o,
                table_function_pack(
                        w->root->function,
                        "{s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o, "
                        "s:o}",
                        "sentence",
                        terminal_json_text((const char *) sentence.data, sentence.n_data), "named",
                        named_kind(w), "cause", named ? cause_json(named) : json_null(), "value",
                        value ? value_json(value) : json_null(), "calls", (json_int_t) w->n_all,
                        "slow_calls", (json_int_t) w->n_slow, "usual_calls",
                        (json_int_t) w->n_usual, "slow_ns", w->slow_ns, "usual_ns", w->usual_ns,
                        "difference_ns", w->difference_ns, "p", w->p, "evenness", w->evenness,
                        "causes", causes, "factors", factors, "values", values));
}

/* --- all of it -------------------------------------------------------------------------------- */

static int read_side(Counting *c, Anatomy *a, const Options *o, const char *word) {
        int r = counting_init(c, false) ?: anatomy_add_source(a, c->pairing);

        return r < 0 ? counting_failure(r) : counting_read(c, o, word);
}

static int read_sides(Sides *s, const Options *o, const char *source) {
        int status = STATUS_OK, r = anatomy_new(&s->anatomy);

        if (r < 0)
                return counting_failure(r);
        if (o->why.against)
                status = read_side(&s->before, s->anatomy, o, o->why.against);
        return status ?: read_side(&s->now, s->anatomy, o, source);
}

static int no_common_root(const Options *o, const Chosen *chosen) {
        return failed(STATUS_NOT_FOUND, "\"%s\" and \"%s\" have no calls of the same root.",
                      o->why.against, chosen->source);
}

/* What is not the outermost function anywhere becomes that by a filter, for which all is read once more; it leaves
 * out events of the scheduler. */
static int find_root(Sides *s, const Options *o, const Chosen *chosen, const CallNode **ret,
                     size_t *ret_n_roots) {
        Options only = *o;
        int r = cohorts_greatest_root(ret, ret_n_roots, s->anatomy, chosen->names,
                                      o->why.against != NULL),
            status;

        if (r < 0)
                return counting_failure(r);
        if (*ret)
                return STATUS_OK;
        if (!chosen->names && s->anatomy->n_cut > 0 && *ret_n_roots == 0)
                return failed(STATUS_NOT_FOUND,
                              "no call in \"%s\" was recorded from its beginning to its end.",
                              chosen->source);
        if (!chosen->names)
                return *ret_n_roots == 0 ? chosen_not_found(chosen, o) : no_common_root(o, chosen);
        if (streq(chosen->source, "-"))
                return failed(
                        STATUS_USAGE,
                        "standard input can be read only once, and \"%s\" is not the outermost "
                        "function there: give a file.",
                        chosen->patterns.items[0]);
        sides_done(s);
        *s = (Sides){};
        only.filter.roots = chosen->patterns;
        status = read_sides(s, &only, chosen->source);
        if (status != STATUS_OK)
                return status;
        r = cohorts_greatest_root(ret, ret_n_roots, s->anatomy, chosen->names,
                                  o->why.against != NULL);
        if (r < 0)
                return counting_failure(r);
        if (*ret)
                return STATUS_OK;
        return *ret_n_roots == 0 ? chosen_not_found(chosen, o) : no_common_root(o, chosen);
}

/* @all: the same as @o, but that nothing is left out that it compares. */
static int explain(const Options *o, const Options *all, const Chosen *chosen, CohortsSpec *spec,
                   Sides *s) {
        _cleanup_(why_freep) Why *w = NULL;
        const CallNode *root;
        size_t n_roots;
        int r, status = read_sides(s, all, chosen->source);

        if (status == STATUS_OK)
                status = find_root(s, all, chosen, &root, &n_roots);
        if (status == STATUS_OK && spec->by == COHORTS_BY_WINDOW)
                status = find_window(o, s, spec);
        if (status != STATUS_OK)
                return status;
        r = why_new(&w, s->anatomy, root, spec);
        if (r < 0)
                return counting_failure(r);
        status = o->json != JSON_OFF ? print_json(o, w) : print(o, w);
        if (status == STATUS_OK && n_roots > 1 && !chosen->names)
                talk(o, "It has %zu other root%s: \"ftracectl why %s FUNCTION\" tells of one.",
                     n_roots - 1, n_roots == 2 ? "" : "s", chosen->source);
        if (status == STATUS_OK && s->anatomy->n_calls < s->anatomy->n_all - s->anatomy->n_cut)
                talk(o, "Compared were %s of %s calls, one out of so many.",
                     FORMAT_COUNT(s->anatomy->n_calls),
                     FORMAT_COUNT(s->anatomy->n_all - s->anatomy->n_cut));
        return status;
}

int verb_why(const Options *o) {
        _cleanup_chosen_ Chosen chosen = {};
        _cleanup_(sides_done) Sides s = {};
        CohortsSpec spec;
        Options all = *o;
        int status = choose(o, &spec) ?: chosen_init(&chosen, o);

        if (status != STATUS_OK)
                return status;
        all.spec.slower_ns = 0;
        all.filter.from = all.filter.to = NULL;
        status = explain(o, &all, &chosen, &spec, &s);
        if (status != STATUS_OK)
                return status;
        counting_say_own_work(&s.before, o);
        counting_say_own_work(&s.now, o);
        if (o->why.against)
                status = reading_finish(&s.before.reading, o);
        return counting_end(&s.now, o) ?: status;
}
