/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What two cohorts of calls differ in, as sentences, a table and JSON. */

#include <math.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

#define LIMIT_DEFAULT 10
#define SHARE_SHOWN 0.01 /* unless more are asked for */
#define FACTORS_SHOWN 3
#define FACTOR_SHARE_MIN 0.1
#define VALUES_SHOWN 3
#define VALUE_PART_MIN 0.1

/* --- both sides ------------------------------------------------------------------------------- */

/* @between: NULL: it is not asked for. */
static int read_side(Counting *c, Anatomy *a, Waits **between, const Options *o, const char *word) {
        int r = counting_init(c, false)
                        ?: anatomy_add_source(a, c->pairing)
                        ?: (between ? waits_new(between, c->pairing, true) : 0);

        return counting_status(r) ?: counting_read(c, o, word);
}

int why_sides_read(WhySides *s, const Options *o, const char *before, const char *now) {
        int status = counting_status(anatomy_new(&s->anatomy));

        if (status == STATUS_OK)
                s->anatomy->idle.is_wanted = s->leaves_idle_out;
        if (status == STATUS_OK && before)
                status = read_side(&s->before, s->anatomy, NULL, o, before);
        return status ?: read_side(&s->now, s->anatomy, &s->between, o, now);
}

/* What one of two recordings lacks may have been called, and not hooked there. */
static bool may_lack(const WhySides *s, const WhyCause *c) {
        const Function *f = c->node->function;
        const Counting *side = c->kind == WHY_ONLY    ? &s->before
                               : c->kind == WHY_NEVER ? &s->now
                                                      : NULL;
        const SessionMeta *m = side ? reading_meta(&side->reading) : NULL;
        _cleanup_free_ char *name = m ? strndup(f->label, f->n_name) : NULL;

        return name && !session_meta_is_of_file(m) &&
               (m->n_hooked > 0 || m->callees_unknown || strv_contains(&m->left_out, name));
}

int why_sides_explain(Why **ret, const WhySides *s, const CohortsRoot *root,
                      const CohortsSpec *spec) {
        int r = why_new(ret, s->anatomy, root, spec);

        for (size_t i = 0; r >= 0 && i < (*ret)->n_causes; i++)
                (*ret)->causes[i].may_lack |= may_lack(s, &(*ret)->causes[i]);
        return counting_status(r);
}

int why_sides_end(const WhySides *s) {
        const Anatomy *a = s->anatomy;
        int status = STATUS_OK;

        if (a->n_calls < a->n_all - a->n_cut)
                talk(s->now.reading.o, "%s of %s calls were compared, chosen at equal distances.",
                     FORMAT_COUNT(a->n_calls), FORMAT_COUNT(a->n_all - a->n_cut));
        idle_say(s->now.reading.o, &a->idle);
        counting_say_own_work(&s->before);
        counting_say_own_work(&s->now);
        if (s->before.pairing)
                status = reading_finish(&s->before.reading);
        return counting_end(&s->now) ?: status;
}

void why_sides_done(WhySides *s) {
        waits_free(s->between);
        anatomy_free(s->anatomy);
        counting_done(&s->now);
        counting_done(&s->before);
        *s = (WhySides){};
}

/* --- causes ----------------------------------------------------------------------------------- */

static json_t *waker_json(const WhyCause *c) {
        const Waker *w = c->waker;
        Row r;

        if (!w)
                return json_null();
        r = row_of_json();
        row_waker(r, w);
        row_real(r, "share", c->waker_share);
        return r.json;
}

/* From the root down, without the function itself. */
static json_t *path_json(const CallNode *node) {
        json_t *path = json_array();

        for (const CallNode *n = node->parent; n->level > 0; n = n->parent)
                (void) json_array_insert_new(
                        path, 0, terminal_json_text(n->function->label, n->function->n_name));
        return path;
}

static void tell_number(Row r, const char *title, const char *key, double n) {
        row_real(r, key, n);
        row_cell(r, title, "%.2f", n);
}

static void tell_p(Row r, const char *title, double p) {
        row_real(r, "p", p);
        if (isnan(p))
                row_cell(r, title, " ");
        else
                row_cell(r, title, p <= 0.001 ? "<=0.001" : "%.3f", p);
}

/* Columns are named for the cohorts, those of two recordings for what came when. */
static void tell_cause(Row r, const Why *w, const WhyCause *c) {
        static const char *const kinds[] = { [WHY_RUNNING] = "running",
                                             [WHY_WAITING] = "waiting",
                                             [WHY_CALLS] = "calls",
                                             [WHY_ONLY] = "only",
                                             [WHY_NEVER] = "never" };
        bool of_two = w->spec.by == COHORTS_BY_SOURCE;
        const char *usual = of_two ? "1?>BEFORE" : "1?>USUAL", *p = w->is_enough ? "1?>P" : NULL;
        _cleanup_buf_ Buf text = BUF_INIT;

        row_function(r, NULL, c->node->function);
        row_place(r, c->node->function);
        row_known_int(r, "not_hooked_below", unhooked_is_number(c->node->n_unhooked),
                      c->node->n_unhooked);
        row_bool(r, "perhaps_not_hooked", c->may_lack);
        row_string(r, NULL, "kind", kinds[c->kind]);
        if (!r.is_text) {
                const Function *hottest = c->hottest->function;

                row_json(r, "path", path_json(c->node));
                row_bool(r, "interrupt", c->node->is_irq);
                row_json(r, "mostly", terminal_json_text(hottest->label, hottest->n_name));
        }
        row_change(r, "1>CHANGE", "change_ns", c->change_ns);
        row_share(r, ">SHARE", "share", c->share, 1);
        row_mean(r, of_two ? "1>NOW" : "1>SLOW", "slow_ns", c->slow_ns);
        row_mean(r, usual, "usual_ns", c->usual_ns);
        tell_number(r, "1?>CALLS", "slow_calls", c->slow_n);
        tell_number(r, usual, "usual_calls", c->usual_n);
        tell_p(r, p, c->p);
        if (!r.is_text) {
                const WhyBurst *b = &c->burst;

                row_json(r, "waker", waker_json(c));
                row_real(r, "queued_share", c->queued_share);
                row_json(r, "burst",
                         b->n_calls == 0
                                 ? json_null()
                                 : json_pack("{s:I, s:I, s:I, s:f, s:f, s:b}", "from_ns",
                                             (json_int_t) b->from_ns, "to_ns",
                                             (json_int_t) b->to_ns, "calls",
                                             (json_int_t) b->n_calls, "share", b->share, "chance",
                                             b->chance, "usual", (int) b->is_usual));
                return;
        }
        why_describe_cause(&text, w, c);
        row_cell(r, "2CAUSE", "%.*s", (int) text.n_data, text.data);
}

static void tell_area(Row r, const Why *w, const WhyArea *a, const char *title) {
        _cleanup_free_ char *name = strndup(a->name, a->n_name);

        row_mean(r, ">BEFORE", "before_ns", a->usual_ns);
        row_mean(r, ">NOW", "now_ns", a->slow_ns);
        row_change(r, ">CHANGE", "change_ns", a->slow_ns - a->usual_ns);
        tell_p(r, w->is_enough ? ">P" : NULL, a->p);
        if (r.is_text)
                row_cell(r, title, "%s", NAME_QUOTED(name ?: ""));
        else
                row_json(r, "place", terminal_json_text(a->name, a->n_name));
        row_known_int(r, "not_hooked_below", unhooked_is_number(a->n_unhooked), a->n_unhooked);
}

static _printf_(4, 5) void tell_sum(Table *t, const Why *w, double ns, const char *format, ...) {
        Row r = t->n_rows > 0 ? table_rest(t) : table_row(t);
        char what[64];
        va_list ap;

        va_start(ap, format);
        (void) vsnprintf(what, sizeof(what), format, ap);
        va_end(ap);
        row_share(r, ">SHARE", NULL, ns, w->difference_ns);
        row_change(r, "1>CHANGE", NULL, ns);
        row_cell(r, "2CAUSE", "%s", what);
}

void why_view_tell_causes(const Why *w, Table *t, size_t limit, bool is_all) {
        double rest_ns = 0;
        size_t n = 0;

        while (n < MIN(w->n_causes, limit) && (is_all || fabs(w->causes[n].share) >= SHARE_SHOWN))
                tell_cause(table_row(t), w, &w->causes[n++]);
        if (t->list)
                return;
        for (size_t i = n; i < w->n_causes; i++)
                rest_ns += w->causes[i].change_ns;
        if (n < w->n_causes)
                tell_sum(t, w, rest_ns, "%zu others", w->n_causes - n);
        tell_sum(t, w, w->difference_ns, "all of the difference");
}

void why_view_tell_areas(const Why *w, Table *t, const char *title, size_t limit) {
        WhyArea rest = { .name = "others", .p = NAN }, all = { .name = "all", .p = NAN };
        size_t n = 0;

        rest.n_name = strlen(rest.name);
        all.n_name = strlen(all.name);
        for (size_t i = 0; i < w->n_areas; i++) {
                const WhyArea *a = &w->areas[i];

                if (a->slow_ns == 0 && a->usual_ns == 0)
                        continue;
                if (n++ < limit)
                        tell_area(table_row(t), w, a, title);
                else {
                        rest.slow_ns += a->slow_ns;
                        rest.usual_ns += a->usual_ns;
                }
                all.slow_ns += a->slow_ns;
                all.usual_ns += a->usual_ns;
        }
        if (n > limit && !t->list)
                tell_area(table_rest(t), w, &rest, title);
        if (n > 0 && !t->list)
                tell_area(table_rest(t), w, &all, title);
}

/* --- what goes with them ---------------------------------------------------------------------- */

static void add_factors(Buf *out, const Why *w) {
        for (size_t i = 0; w->is_no_chance && i < MIN(w->n_factors, (size_t) FACTORS_SHOWN); i++) {
                const WhyFactor *f = &w->factors[i];

                if (f->share < FACTOR_SHARE_MIN || f->p > WHY_P_MAX)
                        continue;
                buf_printf(out, "%.0f %% of them were ", 100 * f->slow_part);
                buf_adds(out, f->place == WHY_CPU ? "on " : "in ");
                why_describe_factor(out, f);
                buf_printf(out,
                           ", %.0f %% of %s; that goes with %.0f %% of the "
                           "difference.\n",
                           100 * f->usual_part, why_others(w), 100 * f->share);
        }
}

/* Behind the one that the sentence names. */
static void add_values(Buf *out, const Why *w) {
        size_t first = w->value ? 1 : 0;

        for (size_t i = first; i < MIN(w->n_values, first + VALUES_SHOWN); i++) {
                const WhyValue *v = &w->values[i];

                if (why_value_surplus(v) < VALUE_PART_MIN)
                        break;
                why_describe_parts(out, w, v);
                buf_adds(out, ".\n");
        }
}

int why_view_add(Buf *out, const Why *w, uint64_t limit, bool legend) {
        _cleanup_table_ Table t = {};
        size_t from = out->n_data;
        int r;

        why_sentence(out, w);
        buf_adds(out, "\n");
        terminal_fold(out, from, 0);
        if (w->n_causes == 0 || (!w->is_enough && w->spec.by != COHORTS_BY_SOURCE))
                return 0;
        buf_adds(out, "\n");
        table_begin(&t, JSON_OFF);
        why_view_tell_causes(w, &t, limit > 0 ? (size_t) limit : LIMIT_DEFAULT, limit > 0);
        r = table_print(&t, out, legend);
        from = out->n_data;
        if (w->is_enough) {
                add_factors(out, w);
                add_values(out, w);
                terminal_fold(out, from, 0);
        }
        return r;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void tell_factor(Row r, const WhyFactor *f) {
        bool of_cpu = f->place == WHY_CPU;

        row_string(r, NULL, "place", of_cpu ? "cpu" : "task");
        row_known_int(r, "cpu", of_cpu, f->cpu);
        row_string(r, NULL, "task", f->task);
        row_real(r, "slow_part", f->slow_part);
        row_real(r, "usual_part", f->usual_part);
        row_real(r, "change_ns", f->change_ns);
        row_real(r, "share", f->share);
        row_real(r, "evenness", f->evenness);
        row_real(r, "p", f->p);
}

static void tell_value(Row r, const WhyValue *v) {
        static const char *const relations[] = {
                [WHY_EQUAL] = "equal", [WHY_ABOVE] = "above", [WHY_BELOW] = "below"
        };

        row_function(r, NULL, v->node->function);
        row_json(r, "path", path_json(v->node));
        row_string(r, NULL, "name", v->name);
        row_string(r, NULL, "relation", relations[v->relation]);
        row_json(r, "bound",
                 v->text ? terminal_json_string(v->text) : terminal_json_value(v->bound));
        row_real(r, "slow_part", v->slow_part);
        row_real(r, "usual_part", v->usual_part);
        row_real(r, "change_ns", v->change_ns);
        row_real(r, "share", v->share);
        row_real(r, "p", v->p);
}

static const char *named_kind(const Why *w) {
        if (!w->is_enough)
                return "too-few";
        if (w->is_factor_first)
                return "factor";
        return w->cause ? "cause" : w->value ? "value" : "nothing";
}

static json_t *side_json(const Why *w, size_t n, uint64_t median_ns, uint64_t p90_ns) {
        if (w->spec.by != COHORTS_BY_SOURCE)
                return json_null();
        return json_pack("{s:I, s:I, s:I}", "calls", (json_int_t) n, "median_ns",
                         (json_int_t) median_ns, "p90_ns", (json_int_t) p90_ns);
}

/* What is named, as one of the lists has it. */
static json_t *named_json(const Why *w, const WhyCause *cause, const WhyValue *value) {
        Row r;

        if (!cause && !value)
                return json_null();
        r = row_of_json();
        if (cause)
                tell_cause(r, w, cause);
        else
                tell_value(r, value);
        return r.json;
}

static const char *const cohort_names[] = {
        [COHORTS_BY_SLOWEST] = "slowest", [COHORTS_BY_HUMP] = "hump",
        [COHORTS_BY_DURATION] = "slower", [COHORTS_BY_WINDOW] = "window",
        [COHORTS_BY_FAILURE] = "failed",  [COHORTS_BY_SOURCE] = "source",
};

static json_t *humps_json(const Why *w) {
        bool is_chosen = w->spec.by == COHORTS_BY_HUMP;

        if (w->spec.slower_ns == 0 || (!is_chosen && w->spec.by != COHORTS_BY_SLOWEST))
                return json_null();
        return json_pack("{s:I, s:b, s:b}", "upper_from_ns", (json_int_t) w->spec.slower_ns,
                         "several", (int) w->spec.has_several, "chosen", (int) is_chosen);
}

static json_t *error_json(const Why *w) {
        if (w->n_error == 0)
                return json_null();
        return json_pack("{s:o, s:I, s:o}", "value", terminal_json_value(w->error), "calls",
                         (json_int_t) w->n_error, "deepest", named_json(w, NULL, w->deepest_error));
}

void why_view_between(Buf *out, const Why *w, const WaitsRow *between) {
        if (!between || (double) between->away.sum <= fabs(w->difference_ns) * (double) w->n_slow)
                return;
        waits_describe(out, between);
        buf_adds(out, ".\n");
}

json_t *why_view_json(const Why *w, const WaitsRow *between, const Idle *idle, uint64_t said) {
        size_t limit = said > 0 ? (size_t) said : SIZE_MAX;
        _cleanup_table_ Table causes, factors, values, areas;
        _cleanup_buf_ Buf sentence = BUF_INIT;
        Row r = row_of_json();

        table_begin(&causes, JSON_AUTO);
        table_begin(&factors, JSON_AUTO);
        table_begin(&values, JSON_AUTO);
        table_begin(&areas, JSON_AUTO);
        why_view_tell_causes(w, &causes, limit, true);
        for (size_t i = 0; i < MIN(w->n_factors, limit); i++)
                tell_factor(table_row(&factors), &w->factors[i]);
        for (size_t i = 0; i < MIN(w->n_values, limit); i++)
                tell_value(table_row(&values), &w->values[i]);
        why_view_tell_areas(w, &areas, NULL, limit);
        why_sentence(&sentence, w);

        row_function(r, NULL, w->root->function);
        row_json(r, "sentence", terminal_json_text((const char *) sentence.data, sentence.n_data));
        row_string(r, NULL, "named", named_kind(w));
        row_json(r, "cause", named_json(w, w->cause, NULL));
        row_json(r, "value", named_json(w, NULL, w->value));
        row_string(r, NULL, "by", cohort_names[w->spec.by]);
        row_json(r, "humps", humps_json(w));
        row_json(r, "error", error_json(w));
        row_int(r, "calls", (int64_t) w->n_all);
        row_int(r, "slow_calls", (int64_t) w->n_slow);
        row_int(r, "usual_calls", (int64_t) w->n_usual);
        row_real(r, "slow_ns", w->slow_ns);
        row_real(r, "usual_ns", w->usual_ns);
        row_real(r, "difference_ns", w->difference_ns);
        row_real(r, "p", w->p);
        row_json(r, "between_calls", waits_json(between));
        row_json(r, "left_out", idle_json(idle));
        row_bool(r, "enough", w->is_enough);
        row_real(r, "evenness", w->evenness);
        row_json(r, "before", side_json(w, w->n_usual, w->usual_median_ns, w->usual_p90_ns));
        row_json(r, "now", side_json(w, w->n_slow, w->slow_median_ns, w->slow_p90_ns));
        row_json(r, "causes", TAKE_PTR(causes.list));
        row_json(r, "factors", TAKE_PTR(factors.list));
        row_json(r, "values", TAKE_PTR(values.list));
        row_json(r, "areas", TAKE_PTR(areas.list));
        return r.json;
}
