/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Of each variable some values are drawn evenly and sorted: runs of equal ones are frequent values, and
 * certain ranks are bounds.  Addresses have no order, and after a boot they are others.
 */

#include <math.h>

#include "base/array.h"
#include "causes/why-private.h"

#define CALLS_MAX 16384 /* that are drawn: each so many-th */
#define CONDITIONS_MAX 2048
#define CONDITIONS_BELOW_MAX 1536 /* of functions below the outermost call */
#define EXACT_MAX 8               /* of a variable */
#define EXACT_ROOT_MAX 32 /* of one of the outermost call, which may have many sockets or files */
#define FREQUENT 200      /* a value of one in so many is */
#define EXACT_LEAST 3
#define VALUES_MAX 16
#define N_REFINED 8 /* the best */
#define AS_GOOD 0.02
#define HAS_LEAST 20 /* usual calls that have a value, to compare with */

/* Permille above the bound, and, from the other end, below. */
static const unsigned parts[] = { 500, 250, 100, 50, 30, 20, 15, 10, 5, 2 };

typedef struct Sample {
        ValueNumber *items;
        size_t n;
        bool has_order;
} Sample;

static int compare_numbers(const void *pa, const void *pb) {
        const ValueNumber *a = pa, *b = pb;

        if (a->is_negative != b->is_negative)
                return a->is_negative ? -1 : 1;
        return a->is_negative ? CMP(b->magnitude, a->magnitude) : CMP(a->magnitude, b->magnitude);
}

static bool meets(const WhyValue *v, ValueNumber number) {
        int way = compare_numbers(&number, &v->bound);

        return v->relation == WHY_EQUAL ? way == 0 : v->relation == WHY_ABOVE ? way > 0 : way < 0;
}

static ValueNumber number_of(const VariableValue *v) {
        return (ValueNumber){ v->is_negative, v->magnitude };
}

/* --- samples ---------------------------------------------------------------------------------- */

static int draw(Sample *samples, const Anatomy *a, const Cohorts *c) {
        for (size_t i = 0; i < a->n_variables; i++)
                samples[i].has_order = true;
        for (size_t i = 0; i < c->n_all; i += c->n_all / CALLS_MAX + 1) {
                const AnatomyCall *call = &a->calls[c->all[i]];

                for (size_t k = 0; k < call->n_values; k++) {
                        const VariableValue *v = &a->values[call->first_value + k];
                        Sample *s = &samples[v->variable];

                        if (!ARRAY_GROW(s->items, s->n))
                                return -ENOMEM;
                        s->has_order &= v->magnitude < VARIABLE_NUMBER_MAX;
                        s->items[s->n++] = number_of(v);
                }
        }
        for (size_t i = 0; i < a->n_variables; i++)
                SORT(samples[i].items, samples[i].n, compare_numbers);
        return 0;
}

/* --- conditions ------------------------------------------------------------------------------- */

static int add(WhyConditions *v, const WhyValue *like, WhyRelation relation, ValueNumber bound) {
        for (size_t i = v->first[like->variable]; i < v->n; i++)
                if (v->items[i].relation == relation &&
                    compare_numbers(&v->items[i].bound, &bound) == 0)
                        return 0;
        if (v->n >= (like->node->level < 2 ? CONDITIONS_MAX : CONDITIONS_BELOW_MAX))
                return 0;
        if (!ARRAY_GROW(v->items, v->n))
                return -ENOMEM;
        v->items[v->n] = *like;
        v->items[v->n].relation = relation;
        v->items[v->n++].bound = bound;
        return 0;
}

typedef struct Run {
        size_t at, n;
} Run;

static int longest_first(const void *pa, const void *pb) {
        const Run *a = pa, *b = pb;

        return CMP(b->n, a->n) ?: CMP(a->at, b->at);
}

static int add_frequent(WhyConditions *v, const WhyValue *like, const Sample *s) {
        size_t least = MAX((size_t) EXACT_LEAST, s->n / FREQUENT), n = 0;
        size_t most = like->node->level < 2 ? EXACT_ROOT_MAX : EXACT_MAX;
        _cleanup_free_ Run *runs = calloc(s->n / least + 1, sizeof(*runs));
        int r = 0;

        if (!runs)
                return -ENOMEM;
        for (size_t i = 0, k; i < s->n; i = k) {
                for (k = i + 1; k < s->n && compare_numbers(&s->items[i], &s->items[k]) == 0;)
                        k++;
                if (k - i >= least)
                        runs[n++] = (Run){ i, k - i };
        }
        SORT(runs, n, longest_first);
        for (size_t i = 0; i < MIN(n, most) && r >= 0; i++)
                r = add(v, like, WHY_EQUAL, s->items[runs[i].at]);
        return r;
}

/* What is at a bound is on neither side. */
static int add_bounds(WhyConditions *v, const WhyValue *like, const Sample *s) {
        const ValueNumber *least = &s->items[0], *most = &s->items[s->n - 1];
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(parts) && r >= 0; i++) {
                size_t n = s->n * parts[i] / 1000;
                ValueNumber high = s->items[s->n - 1 - MIN(n, s->n - 1)], low = s->items[n];

                if (n > 0 && compare_numbers(&high, most) < 0)
                        r = add(v, like, WHY_ABOVE, high);
                if (n > 0 && r >= 0 && compare_numbers(&low, least) > 0)
                        r = add(v, like, WHY_BELOW, low);
        }
        if (r >= 0 && least->is_negative && !most->is_negative)
                r = add(v, like, WHY_BELOW, (ValueNumber){});
        return r;
}

static int add_conditions(WhyConditions *v, const Why *w, const WhyValue *like, const Sample *s,
                          bool is_text) {
        bool is_error = like->node == w->root && streq(like->name, "ret");
        int r;

        if (s->n == 0 || compare_numbers(&s->items[0], &s->items[s->n - 1]) == 0)
                return 0;
        /* That what has failed returns an error is no news, and addresses of two recordings do not compare. */
        if ((w->spec.by == COHORTS_BY_FAILURE && is_error) ||
            (w->spec.by == COHORTS_BY_SOURCE && !s->has_order && !is_text))
                return 0;
        r = add_frequent(v, like, s);
        return r >= 0 && s->has_order ? add_bounds(v, like, s) : r;
}

/* How far @n values meet it; NAN of none. */
static double part_met(const WhyValue *v, const VariableValue *values, size_t n) {
        double n_met = 0;

        for (size_t k = 0; k < n; k++)
                n_met += meets(v, number_of(&values[k]));
        return n_met / (double) n;
}

/* How many values of one variable stand at @values. */
static size_t n_alike(const VariableValue *values, size_t n_left) {
        size_t n = 1;

        while (n < n_left && values[n].variable == values->variable)
                n++;
        return n;
}

size_t why_conditions_find(WhyConditions *v, const Anatomy *a, const AnatomyCall *call) {
        size_t n = 0;

        for (size_t k = 0, n_values; k < call->n_values; k += n_values) {
                const VariableValue *values = a->values + call->first_value + k;

                n_values = n_alike(values, call->n_values - k);
                for (uint32_t i = v->first[values->variable]; i < v->first[values->variable + 1];
                     i++) {
                        v->found[n] = i;
                        v->met[n++] = (float) part_met(&v->items[i], values, n_values);
                }
        }
        return n;
}

/* The values of @variable that a call has; how many. */
static size_t values_of(const VariableValue **ret, const Anatomy *a, const AnatomyCall *call,
                        uint32_t variable) {
        const VariableValue *values = a->values + call->first_value;
        size_t first = BISECT(0, call->n_values, i, values[i].variable < variable);

        *ret = values + first;
        return first < call->n_values && values[first].variable == variable
                       ? n_alike(*ret, call->n_values - first)
                       : 0;
}

/* How far calls of a cohort meet each condition, and how many have values for it. */
static void add_up(WhyConditions *v, const Anatomy *a, const size_t *calls, size_t n, double *met,
                   double *has) {
        for (size_t i = 0; i < n; i++)
                for (size_t k = why_conditions_find(v, a, &a->calls[calls[i]]); k-- > 0;) {
                        met[v->found[k]] += v->met[k];
                        has[v->found[k]]++;
                }
}

static int measure(WhyConditions *v, const Anatomy *a, const Cohorts *c) {
        _cleanup_free_ double *sums = calloc(4 * v->n + 1, sizeof(*sums));
        double *met = sums, *has = met + v->n, *met_usual = has + v->n;
        double *has_usual = met_usual + v->n;
        double n_slow = (double) c->n_slow, n_usual = (double) c->n_usual;

        if (!sums)
                return -ENOMEM;
        add_up(v, a, c->slow, c->n_slow, met, has);
        add_up(v, a, c->usual, c->n_usual, met_usual, has_usual);
        for (size_t i = 0; i < v->n; i++) {
                WhyValue *x = &v->items[i];

                x->slow_part = met[i] / n_slow;
                x->usual_part = met_usual[i] / n_usual;
                x->slow_has = has[i] / n_slow;
                x->usual_has = has_usual[i] < HAS_LEAST ? 0 : has_usual[i] / n_usual;
                if (has[i] + has_usual[i] > 0)
                        v->rates[i] = (met[i] + met_usual[i]) / (has[i] + has_usual[i]);
        }
        return 0;
}

int why_conditions_init(WhyConditions *ret, const Why *w, const Anatomy *a, const Cohorts *c) {
        size_t n_variables = a->n_variables;
        Sample *samples = calloc(n_variables + 1, sizeof(*samples));
        int r = samples ? 0 : -ENOMEM;

        *ret = (WhyConditions){ .first = calloc(n_variables + 2, sizeof(uint32_t)) };
        if (!ret->first)
                r = -ENOMEM;
        if (r >= 0)
                r = draw(samples, a, c);
        for (size_t i = 0; i < n_variables && r >= 0; i++) {
                const Variable *variable = &a->variables[i];
                WhyValue like = { .variable = (uint32_t) i,
                                  .node = a->nodes[variable->node],
                                  .name = variable->name,
                                  .p = 1 };

                r = add_conditions(ret, w, &like, &samples[i], variable->is_text);
                ret->first[i + 1] = (uint32_t) ret->n;
        }
        for (size_t i = 0; samples && i < n_variables; i++)
                free(samples[i].items);
        free(samples);
        if (r < 0)
                return r;
        ret->rates = calloc(ret->n + 1, sizeof(*ret->rates));
        ret->found = calloc(ret->n + 1, sizeof(*ret->found));
        ret->met = calloc(ret->n + 1, sizeof(*ret->met));
        if (!ret->rates || !ret->found || !ret->met)
                return -ENOMEM;
        return measure(ret, a, c);
}

/* --- what is told ----------------------------------------------------------------------------- */

/* How many more of the slow calls meet it than if they did as usual ones do that have a value. */
double why_value_surplus(const WhyValue *v) {
        return v->usual_has > 0 ? v->slow_part - v->usual_part * v->slow_has / v->usual_has : 0;
}

static int compare_places(const WhyValue *a, const WhyValue *b) {
        return CMP(a->node->level, b->node->level) ?: CMP(a->variable, b->variable);
}

/* The best first; of equals that of the caller, and the one that is simplest to say. */
static int compare_values(const void *pa, const void *pb) {
        const WhyValue *a = pa, *b = pb;

        return CMP(why_value_surplus(b), why_value_surplus(a))
                       ?: compare_places(a, b) ?: CMP(a->relation, b->relation);
}

typedef struct Edge {
        ValueNumber number;
        double slow, usual; /* what this value is of the parts */
} Edge;

static int compare_edges(const void *pa, const void *pb) {
        const Edge *a = pa, *b = pb;

        return compare_numbers(&a->number, &b->number);
}

static int add_edges(Edge **edges, size_t *n, const WhyValue *v, const Anatomy *a,
                     const size_t *calls, size_t n_calls, bool is_slow) {
        for (size_t i = 0; i < n_calls; i++) {
                const VariableValue *values;
                size_t n_values = values_of(&values, a, &a->calls[calls[i]], v->variable);
                double part = 1 / (double) n_values / (double) n_calls;

                for (size_t k = 0; k < n_values; k++)
                        if (!ARRAY_ADD(*edges, *n,
                                       (Edge){ number_of(&values[k]), is_slow ? part : 0,
                                               is_slow ? 0 : part }))
                                return -ENOMEM;
        }
        return 0;
}

/* Puts the bound where most of the slow calls are on one side, and of the usual ones on the other. */
static int refine(WhyValue *v, const Anatomy *a, const Cohorts *c) {
        _cleanup_free_ Edge *edges = NULL;
        WhyValue x = *v;
        size_t n = 0;
        int r = add_edges(&edges, &n, v, a, c->slow, c->n_slow, true);

        if (r >= 0)
                r = add_edges(&edges, &n, v, a, c->usual, c->n_usual, false);
        if (r < 0 || n == 0)
                return r;
        qsort(edges, n, sizeof(*edges), compare_edges);
        x.slow_part = x.usual_part = 0;
        for (size_t i = 0; i + 1 < n; i++) {
                bool above = v->relation == WHY_ABOVE;
                const Edge *last = &edges[above ? n - 1 - i : i];
                const Edge *next = &edges[above ? n - 2 - i : i + 1];

                x.slow_part += last->slow;
                x.usual_part += last->usual;
                x.bound = next->number;
                if (compare_edges(last, next) != 0 && why_value_surplus(&x) > why_value_surplus(v))
                        *v = x;
        }
        return 0;
}

/* How far a call meets it; NAN: it has no value. */
static double met_by(const WhyValue *v, const Anatomy *a, const AnatomyCall *call) {
        const VariableValue *values;
        size_t n = values_of(&values, a, call, v->variable);

        return part_met(v, values, n);
}

static void find_change(WhyValue *v, const Why *w, const Anatomy *a, const Cohorts *c) {
        double n = 0, sum_ns = 0, rest = 0, rest_ns = 0;

        for (size_t i = 0; i < c->n_all; i++) {
                const AnatomyCall *call = &a->calls[c->all[i]];
                double met = met_by(v, a, call);

                met = isnan(met) ? 0 : met;
                n += met;
                sum_ns += met * (double) call->duration_ns;
                rest += 1 - met;
                rest_ns += (1 - met) * (double) call->duration_ns;
        }
        if (n > 0 && rest > 0)
                v->change_ns = why_value_surplus(v) * (sum_ns / n - rest_ns / rest);
        v->share = w->difference_ns != 0 ? v->change_ns / w->difference_ns : 0;
}

int why_conditions_choose(const WhyConditions *v, Why *w, const Anatomy *a, const Cohorts *c) {
        size_t first = 0;
        int r = 0;

        for (size_t i = 0; i < a->n_variables; i++) {
                const WhyValue *best = NULL;

                for (uint32_t k = v->first[i]; k < v->first[i + 1]; k++)
                        if (why_value_surplus(&v->items[k]) > 0 && v->items[k].p <= WHY_P_MAX &&
                            (!best || compare_values(&v->items[k], best) < 0))
                                best = &v->items[k];
                if (!best)
                        continue;
                if (!ARRAY_GROW(w->values, w->n_values))
                        return -ENOMEM;
                w->values[w->n_values++] = *best;
        }
        SORT(w->values, w->n_values, compare_values);
        w->n_values = MIN(w->n_values, (size_t) VALUES_MAX);
        for (size_t i = 0; i < w->n_values && r >= 0; i++) {
                WhyValue *x = &w->values[i];

                if (i < N_REFINED && x->relation != WHY_EQUAL)
                        r = refine(x, a, c);
                find_change(x, w, a, c);
                if (a->variables[x->variable].is_text)
                        x->text = a->texts[x->bound.magnitude - VARIABLE_NUMBER_MAX];
        }
        SORT(w->values, w->n_values, compare_values);
        /* The first of those that are as good as the best: what is given to a caller explains what it passes on. */
        for (size_t i = 1; i < w->n_values; i++)
                if (why_value_surplus(&w->values[i]) >=
                            why_value_surplus(&w->values[0]) - AS_GOOD &&
                    compare_places(&w->values[i], &w->values[first]) < 0)
                        first = i;
        for (; first > 0; first--)
                SWAP(w->values[first], w->values[first - 1]);
        return r;
}

void why_conditions_done(WhyConditions *v) {
        free(v->items);
        free(v->first);
        free(v->rates);
        free(v->found);
        free(v->met);
        *v = (WhyConditions){};
}

/* --- errors ----------------------------------------------------------------------------------- */

bool why_value_is_error(const Why *w, const WhyValue *v) {
        return v->relation == WHY_EQUAL && streq(v->name, "ret") &&
               compare_numbers(&v->bound, &w->error) == 0;
}

int why_find_error(Why *w, const Anatomy *a, const Cohorts *c) {
        _cleanup_free_ ValueNumber *errors = calloc(c->n_slow + 1, sizeof(*errors));
        const VariableValue *value;
        uint32_t ret = 0;
        size_t n = 0;

        if (!errors)
                return -ENOMEM;
        while (ret < a->n_variables &&
               (a->variables[ret].node != w->root->id || a->variables[ret].is_text ||
                !streq(a->variables[ret].name, "ret")))
                ret++;
        for (size_t i = 0; i < c->n_slow; i++)
                if (values_of(&value, a, &a->calls[c->slow[i]], ret) > 0)
                        errors[n++] = number_of(value);
        SORT(errors, n, compare_numbers);
        for (size_t i = 0, k; i < n; i = k) {
                for (k = i + 1; k < n && compare_numbers(&errors[i], &errors[k]) == 0;)
                        k++;
                if (k - i > w->n_error) {
                        w->n_error = k - i;
                        w->error = errors[i];
                }
        }
        for (size_t i = 0; w->n_error > 0 && i < w->n_values; i++) {
                const WhyValue *v = &w->values[i];

                if (why_value_is_error(w, v) &&
                    v->slow_part * (double) w->n_slow >= 0.9 * (double) w->n_error &&
                    (!w->deepest_error || v->node->level > w->deepest_error->node->level))
                        w->deepest_error = v;
        }
        return 0;
}
