/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What each unit has of each thing becomes a table for chance_test().  A unit is a call if calls were chosen
 * one by one; else, since the times of calls that follow each other are alike, it is a stretch of them.  Of
 * many units so many are taken, evenly, that the work is bounded.
 *
 * A thing is a cause, or a place; the whole duration, and conditions of values, have tables of their own, so that
 * neither many causes nor recorded values make what was asked first less certain.  Of two recordings it is the rank of
 * a duration that counts.  A cause's value in a call is what it has more than all calls together would make it expect:
 *
 *      running, waiting   own time - n * (own time of all / n of all)
 *      calls              n - n of the caller * (n of all / n of the caller of all)
 *
 * Areas are things of a table of their own.
 */

#include <math.h>

#include "base/array.h"
#include "causes/chance.h"
#include "causes/why-private.h"

#define UNITS_MAX 1024      /* of the slow cohort */
#define WORK_MAX (1U << 19) /* of these, times causes and places */
#define CONDITIONS_WORK_MAX (1U << 18)
#define STRETCHES 64 /* of each cohort, at most */

typedef struct Test {
        Why *w;
        const Anatomy *a;
        const size_t *calls; /* those of the slow cohort first */
        size_t n_calls, n_slow;
        size_t per_unit; /* calls */
        const WhyMean *pool; /* what all calls of both cohorts have */
        WhyConditions conditions;
        WhyMean *unit;   /* what the unit that is filled has */
        float *wholes;   /* of the anatomy's calls, their durations or ranks */
        uint32_t *areas; /* of each node */
} Test;

static const AnatomyCall *call_at(const Test *t, size_t i) {
        return &t->a->calls[t->calls[i]];
}

/* --- the table -------------------------------------------------------------------------------- */

static void fill_whole(Test *t, float *row, size_t first, size_t n) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += (double) t->wholes[t->calls[first + i]];
        row[0] = (float) (sum / (double) n);
}

static void fill_causes(Test *t, float *row, size_t first, size_t n) {
        double times = (double) n;
        size_t column = 0;

        for (size_t i = 0; i < n; i++)
                why_add_call(t->unit, t->a, call_at(t, first + i));
        for (size_t k = 0; k < t->w->n_causes; k++)
                row[column++] = (float) (why_surplus(&t->w->causes[k], t->unit, t->pool) / times);
        for (size_t k = 0; k < t->w->n_factors; k++) {
                size_t n_there = 0;

                for (size_t i = 0; i < n; i++)
                        n_there += why_factor_has(&t->w->factors[k], t->a, call_at(t, first + i));
                row[column++] = (float) ((double) n_there / times);
        }
        for (size_t i = 0; i < n; i++)
                why_forget_call(t->unit, t->a, call_at(t, first + i));
}

static void fill_conditions(Test *t, float *row, size_t first, size_t n) {
        WhyConditions *v = &t->conditions;

        for (size_t i = 0; i < n; i++)
                for (size_t k = why_conditions_find(v, t->a, call_at(t, first + i)); k-- > 0;)
                        row[v->found[k]] += v->met[k] - (float) v->rates[v->found[k]];
        for (size_t k = 0; k < v->n; k++)
                row[k] /= (float) n;
}

static void fill_areas(Test *t, float *row, size_t first, size_t n) {
        for (size_t i = 0; i < n; i++) {
                AnatomyParts p = anatomy_parts(t->a, call_at(t, first + i));

                while (anatomy_next(&p))
                        row[t->areas[p.part.node]] +=
                                (float) (p.part.run_ns + p.part.wait_ns) / (float) n;
        }
}

typedef struct Table {
        size_t n_columns,
                n_max; /* units of the slow cohort at most; of the usual one three times as many */
        void (*fill)(Test *t, float *row, size_t first, size_t n); /* rows are zeroes */
} Table;

/* Of the stretches of one cohort of @n calls @n_taken, evenly. */
static void fill_cohort(Test *t, const Table *table, float *rows, size_t *firsts, size_t first,
                        size_t n, size_t n_taken) {
        size_t n_stretches = n / t->per_unit;

        for (size_t i = 0; i < n_taken; i++) {
                firsts[i] = first + i * n_stretches / n_taken * t->per_unit;
                table->fill(t, rows + i * table->n_columns, firsts[i], t->per_unit);
        }
}

/* The units of both cohorts, of which each is in the order of time, by their beginnings. */
static void merge(const Test *t, uint32_t *to, const size_t *firsts, size_t n_slow, size_t n) {
        size_t slow = 0, usual = n_slow;

        for (size_t i = 0; i < n; i++) {
                bool is_slow = usual == n;

                if (slow < n_slow && usual < n) {
                        const AnatomyCall *s = call_at(t, firsts[slow]);
                        const AnatomyCall *u = call_at(t, firsts[usual]);

                        is_slow = s->source != u->source ? s->source < u->source
                                                         : s->start_ns < u->start_ns;
                }
                to[i] = (uint32_t) (is_slow ? slow++ : usual++);
        }
}

/* @p: of each column */
static int test_table(Test *t, const Table *table, double *p) {
        size_t n_usual = t->n_calls - t->n_slow, n_columns = table->n_columns;
        size_t n_slow_units = MIN(t->n_slow / t->per_unit, table->n_max);
        size_t n_units = n_slow_units + MIN(n_usual / t->per_unit, table->n_max * 3);
        _cleanup_free_ float *values = calloc(n_units * n_columns + 1, sizeof(*values));
        _cleanup_free_ bool *is_slow = calloc(n_units + 1, sizeof(*is_slow));
        _cleanup_free_ size_t *firsts = calloc(n_units + 1, sizeof(*firsts));
        _cleanup_free_ uint32_t *in_time = calloc(n_units + 1, sizeof(*in_time));

        if (!values || !is_slow || !firsts || !in_time)
                return -ENOMEM;
        fill_cohort(t, table, values, firsts, 0, t->n_slow, n_slow_units);
        fill_cohort(t, table, values + n_slow_units * n_columns, firsts + n_slow_units, t->n_slow,
                    n_usual, n_units - n_slow_units);
        merge(t, in_time, firsts, n_slow_units, n_units);
        memset(is_slow, true, n_slow_units);
        return chance_test(p, values, is_slow, cohorts_are_by_time(t->w->spec.by) ? NULL : in_time,
                           n_units, n_columns);
}

static int test_whole(Test *t, const Cohorts *c) {
        const Table table = { 1, UNITS_MAX, fill_whole };

        /* @c->all is in the order of durations; equal ones have the middle of their ranks. */
        for (size_t i = 0, end; i < c->n_all; i = end) {
                uint64_t duration_ns = t->a->calls[c->all[i]].duration_ns;

                for (end = i;
                     end < c->n_all && t->a->calls[c->all[end]].duration_ns == duration_ns;)
                        end++;
                for (size_t k = i; k < end; k++)
                        t->wholes[c->all[k]] = t->w->spec.by == COHORTS_BY_SOURCE
                                                       ? (float) (i + end) / 2
                                                       : (float) duration_ns;
        }
        return test_table(t, &table, &t->w->p);
}

static int test_causes(Test *t) {
        size_t n = t->w->n_causes + t->w->n_factors;
        Table table = { n, MIN((size_t) UNITS_MAX, WORK_MAX / (n + 1)), fill_causes };
        _cleanup_free_ double *p = calloc(n + 1, sizeof(*p));
        int r = p ? test_table(t, &table, p) : -ENOMEM;

        for (size_t k = 0; k < n && r >= 0; k++)
                *(k < t->w->n_causes ? &t->w->causes[k].p : &t->w->factors[k - t->w->n_causes].p) =
                        p[k];
        return r;
}

static int test_conditions(Test *t, const Cohorts *c) {
        size_t n = t->conditions.n;
        Table table = { n, MIN((size_t) UNITS_MAX, CONDITIONS_WORK_MAX / (n + 1)),
                        fill_conditions };
        _cleanup_free_ double *p = calloc(n + 1, sizeof(*p));
        int r = p ? test_table(t, &table, p) : -ENOMEM;

        for (size_t k = 0; k < n && r >= 0; k++)
                t->conditions.items[k].p = p[k];
        return r < 0 ? r : why_conditions_choose(&t->conditions, t->w, t->a, c);
}

/* The calls of both cohorts, which the caller frees, as one list; NULL without memory.  Stretches of both are as long,
 * so that they vary alike. */
static size_t *list_calls(Test *t, const Cohorts *c) {
        size_t *calls = calloc(c->n_slow + c->n_usual + 1, sizeof(*calls));

        if (!calls)
                return NULL;
        memcpy(calls, c->slow, c->n_slow * sizeof(*calls));
        memcpy(calls + c->n_slow, c->usual, c->n_usual * sizeof(*calls));
        t->calls = calls;
        t->n_calls = c->n_slow + c->n_usual;
        t->n_slow = c->n_slow;
        t->per_unit = cohorts_are_stretches(t->w->spec.by)
                              ? (MIN(c->n_slow, c->n_usual) + STRETCHES - 1) / STRETCHES
                              : 1;
        return calls;
}

int why_test(Why *w, const Anatomy *a, const Cohorts *c, const WhyMean *all) {
        _cleanup_free_ WhyMean *unit = calloc(a->n_nodes + 1, sizeof(*unit));
        _cleanup_free_ float *wholes = calloc(a->n_calls + 1, sizeof(*wholes));
        Test t = { .w = w, .a = a, .pool = all, .unit = unit, .wholes = wholes };
        _cleanup_free_ size_t *calls = list_calls(&t, c);
        int r;

        if (!calls || !unit || !wholes)
                return -ENOMEM;
        r = test_whole(&t, c) ?: test_causes(&t);
        if (r < 0 || a->n_variables == 0)
                return r;
        r = why_conditions_init(&t.conditions, w, a, c);
        if (r >= 0 && t.conditions.n > 0)
                r = test_conditions(&t, c);
        why_conditions_done(&t.conditions);
        return r;
}

/* --- areas ------------------------------------------------------------------------------------ */

/* Those of the root and of what is below it: callers have lower ids. */
static int list_areas(Why *w, const Anatomy *a, uint32_t *of, BreakdownPlace place,
                      void *userdata) {
        of[0] = UINT32_MAX;
        for (size_t i = 1; i < a->n_nodes; i++) {
                const CallNode *node = a->nodes[i];
                size_t n, k = 0;
                const char *name;

                of[i] = UINT32_MAX;
                if (node != w->root && of[node->parent->id] == UINT32_MAX)
                        continue;
                name = place(userdata, node->function, &n);
                while (k < w->n_areas &&
                       (w->areas[k].n_name != n || memcmp(w->areas[k].name, name, n) != 0))
                        k++;
                if (k == w->n_areas &&
                    !ARRAY_ADD(w->areas, w->n_areas, (WhyArea){ name, n, 0, 0, NAN, 0 }))
                        return -ENOMEM;
                of[i] = (uint32_t) k;
        }
        return 0;
}

static int compare_areas(const void *a, const void *b) {
        const WhyArea *x = a, *y = b;

        return CMP(fabs(y->slow_ns - y->usual_ns), fabs(x->slow_ns - x->usual_ns))
                       ?: CMP(y->slow_ns, x->slow_ns);
}

static int test_areas(Test *t) {
        size_t n = t->w->n_areas;
        Table table = { n, MIN((size_t) UNITS_MAX, WORK_MAX / (n + 1)), fill_areas };
        _cleanup_free_ double *p = calloc(n + 1, sizeof(*p));
        int r = p ? test_table(t, &table, p) : -ENOMEM;

        for (size_t k = 0; k < n && r >= 0; k++)
                t->w->areas[k].p = p[k];
        return r;
}

int why_add_areas(Why *w, const Anatomy *a, const CohortsRoot *root, BreakdownPlace place,
                  void *userdata) {
        _cleanup_free_ uint32_t *of = calloc(a->n_nodes + 1, sizeof(*of));
        Test t = { .w = w, .a = a, .areas = of };
        _cleanup_free_ size_t *calls = NULL;
        _cleanup_cohorts_ Cohorts c = {};
        CohortsSpec spec = w->spec;
        int r;

        if (!of)
                return -ENOMEM;
        r = cohorts_choose(&c, a, root, &spec) ?: list_areas(w, a, of, place, userdata);
        if (r < 0)
                return r;
        calls = list_calls(&t, &c);
        if (!calls)
                return -ENOMEM;
        for (size_t i = 0; i < t.n_calls; i++) {
                AnatomyParts p = anatomy_parts(a, call_at(&t, i));
                bool is_slow = i < t.n_slow;

                while (anatomy_next(&p)) {
                        WhyArea *area = &w->areas[of[p.part.node]];

                        area->n_unhooked =
                                MAX(area->n_unhooked, a->nodes[p.part.node]->n_unhooked);
                        *(is_slow ? &area->slow_ns : &area->usual_ns) +=
                                (double) (p.part.run_ns + p.part.wait_ns) /
                                (double) (is_slow ? c.n_slow : c.n_usual);
                }
        }
        if (w->is_enough)
                r = test_areas(&t);
        SORT(w->areas, w->n_areas, compare_areas);
        return r;
}
