/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Columns and members are named for the cohorts, those of two recordings for what came when. */

#include <inttypes.h>
#include <math.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/terminal/terminal.h"
#include "cli/views/why-view.h"

#define LIMIT_DEFAULT 10
#define SHARE_SHOWN 0.005 /* unless more are asked for */
#define FACTORS_SHOWN 3
#define FACTOR_SHARE_MIN 0.1
#define VALUES_SHOWN 3
#define VALUE_PART_MIN 0.1

/* --- both sides ------------------------------------------------------------------------------- */

static int read_side(Counting *c, Anatomy *a, const Options *o, const char *word) {
        int r = counting_init(c, false) ?: anatomy_add_source(a, c->pairing);

        return r < 0 ? counting_failure(r) : counting_read(c, o, word);
}

int why_sides_read(WhySides *s, const Options *o, const char *before, const char *now) {
        int status = STATUS_OK, r = anatomy_new(&s->anatomy);

        if (r < 0)
                return counting_failure(r);
        if (before)
                status = read_side(&s->before, s->anatomy, o, before);
        return status ?: read_side(&s->now, s->anatomy, o, now);
}

/* What one of two recordings lacks may have been called, and not hooked there. */
static bool may_lack(const WhySides *s, const WhyCause *c) {
        const Function *f = c->node->function;
        const Counting *side = c->kind == WHY_ONLY    ? &s->before
                               : c->kind == WHY_NEVER ? &s->now
                                                      : NULL;
        const SessionMeta *m = side ? reading_meta(&side->reading) : NULL;
        _cleanup_free_ char *name = m ? strndup(f->label, f->n_name) : NULL;

        return name && unhooked_may_lack(m, name);
}

int why_sides_explain(Why **ret, const WhySides *s, const CohortsRoot *root,
                      const CohortsSpec *spec) {
        int r = why_new(ret, s->anatomy, root, spec);

        if (r < 0)
                return counting_failure(r);
        for (size_t i = 0; i < (*ret)->n_causes; i++)
                (*ret)->causes[i].may_lack |= may_lack(s, &(*ret)->causes[i]);
        return STATUS_OK;
}

int why_sides_end(const WhySides *s, const Options *o) {
        const Anatomy *a = s->anatomy;
        int status = STATUS_OK;

        if (a->n_calls < a->n_all - a->n_cut)
                talk(o, "Compared were %s of %s calls, one out of so many.",
                     FORMAT_COUNT(a->n_calls), FORMAT_COUNT(a->n_all - a->n_cut));
        counting_say_own_work(&s->before, o);
        counting_say_own_work(&s->now, o);
        if (s->before.pairing)
                status = reading_finish(&s->before.reading, o);
        return counting_end(&s->now, o) ?: status;
}

void why_sides_done(WhySides *s) {
        anatomy_free(s->anatomy);
        counting_done(&s->now);
        counting_done(&s->before);
        *s = (WhySides){};
}

/* --- drawn ------------------------------------------------------------------------------------ */

static void add_p(Table *t, double p) {
        if (isnan(p))
                table_add(t, " ");
        else
                table_add(t, p <= 0.001 ? "<=0.001" : "%.3f", p);
}

static void add_cause(Table *t, const Why *w, const WhyCause *c) {
        _cleanup_buf_ Buf text = BUF_INIT;

        table_add(t, "%.1f%%", 100 * c->share);
        table_add(t, "%s", FIGURE_CHANGE(c->change_ns));
        table_add(t, "%s", FIGURE_MEAN(c->slow_ns));
        table_add(t, "%s", FIGURE_MEAN(c->usual_ns));
        table_add(t, "%.2f", c->slow_n);
        table_add(t, "%.2f", c->usual_n);
        if (w->is_enough)
                add_p(t, c->p);
        why_describe_cause(&text, w, c);
        table_add(t, "%.*s", (int) text.n_data, text.data);
}

static void add_sum(Table *t, const char *what, double ns, const Why *w) {
        table_add(t, "%.1f%%", w->difference_ns != 0 ? 100 * ns / w->difference_ns : 0);
        table_add(t, "%s", FIGURE_CHANGE(ns));
        for (int i = 0; i < (w->is_enough ? 5 : 4); i++)
                table_add(t, " ");
        table_add(t, "%s", what);
}

int why_view_add_causes(Buf *out, const Options *o, const Why *w, size_t limit) {
        _cleanup_table_ Table t = {};
        double rest_ns = 0;
        bool of_two = w->spec.by == COHORTS_BY_SOURCE;
        const char *usual = of_two ? "BEFORE" : "USUAL";
        char text[64], titles[96];
        size_t n = 0;

        (void) snprintf(titles, sizeof(titles), ">SHARE|>CHANGE|>%s|?>%s|?>CALLS|?>%s|%sCAUSE",
                        of_two ? "NOW" : "SLOW", usual, usual, w->is_enough ? "?>P|" : "");
        table_init(&t, titles);
        while (n < MIN(w->n_causes, limit) &&
               (o->limit > 0 || fabs(w->causes[n].share) >= SHARE_SHOWN))
                add_cause(&t, w, &w->causes[n++]);
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
        for (size_t i = 0; w->is_no_chance && i < MIN(w->n_factors, (size_t) FACTORS_SHOWN);
             i++) {
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

int why_view_add(Buf *out, const Options *o, const Why *w) {
        int r = 0;

        why_sentence(out, w);
        buf_adds(out, "\n");
        if (w->n_causes == 0 || (!w->is_enough && w->spec.by != COHORTS_BY_SOURCE))
                return 0;
        buf_adds(out, "\n");
        r = why_view_add_causes(out, o, w, o->limit > 0 ? (size_t) o->limit : LIMIT_DEFAULT);
        if (w->is_enough) {
                add_factors(out, w);
                add_values(out, w);
        }
        return r;
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
                "{s:o, s:b, s:s, s:o, s:b, s:s%, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:o}",
                "not_hooked_below", table_unhooked_json(c->node->n_unhooked), "perhaps_not_hooked",
                (int) c->may_lack, "kind", kinds[c->kind], "path", path_json(c->node), "interrupt",
                (int) c->node->is_irq, "mostly", c->hottest->function->label,
                (size_t) c->hottest->function->n_name, "change_ns", c->change_ns, "share", c->share,
                "slow_ns", c->slow_ns, "usual_ns", c->usual_ns, "slow_calls", c->slow_n,
                "usual_calls", c->usual_n, "p", p_json(c->p), "waker", waker_json(c),
                "queued_share", c->queued_share, "burst", burst_json(&c->burst));
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
        if (w->is_factor_first)
                return "factor";
        return w->cause ? "cause" : w->value ? "value" : "nothing";
}

json_t *why_view_causes_json(const Why *w, size_t limit) {
        json_t *causes = json_array();

        for (size_t i = 0; i < w->n_causes && (limit == 0 || i < limit); i++)
                (void) json_array_append_new(causes, cause_json(&w->causes[i]));
        return causes;
}

static json_t *side_json(const Why *w, size_t n, uint64_t median_ns, uint64_t p90_ns) {
        if (w->spec.by != COHORTS_BY_SOURCE)
                return json_null();
        return json_pack("{s:I, s:I, s:I}", "calls", (json_int_t) n, "median_ns",
                         (json_int_t) median_ns, "p90_ns", (json_int_t) p90_ns);
}

json_t *why_view_json(const Options *o, const Why *w) {
        json_t *factors = json_array(), *values = json_array();
        const WhyValue *value = w->value;
        const WhyCause *named = w->cause;
        _cleanup_buf_ Buf sentence = BUF_INIT;

        why_sentence(&sentence, w);
        for (size_t i = 0; i < w->n_factors && (o->limit == 0 || i < o->limit); i++)
                (void) json_array_append_new(factors, factor_json(&w->factors[i]));
        for (size_t i = 0; i < w->n_values && (o->limit == 0 || i < o->limit); i++)
                (void) json_array_append_new(values, value_json(&w->values[i]));
        return table_function_pack(
                w->root->function,
                "{s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:b, s:f, s:o, s:o, s:o, "
                "s:o, s:o}",
                "sentence", terminal_json_text((const char *) sentence.data, sentence.n_data),
                "named", named_kind(w), "cause", named ? cause_json(named) : json_null(), "value",
                value ? value_json(value) : json_null(), "calls", (json_int_t) w->n_all,
                "slow_calls", (json_int_t) w->n_slow, "usual_calls", (json_int_t) w->n_usual,
                "slow_ns", w->slow_ns, "usual_ns", w->usual_ns, "difference_ns", w->difference_ns,
                "p", w->p, "enough", (int) w->is_enough, "evenness", w->evenness, "before",
                side_json(w, w->n_usual, w->usual_median_ns, w->usual_p90_ns), "now",
                side_json(w, w->n_slow, w->slow_median_ns, w->slow_p90_ns), "causes",
                why_view_causes_json(w, o->limit), "factors", factors, "values", values);
}
