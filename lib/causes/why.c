/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A node's id is greater than its caller's, so that one pass over all ids meets callers first, and one
 * backwards what they call.  Below a path that only one cohort has, or the usual one hardly, there is nothing
 * to compare: it is one cause, with all that is below.
 */

#include <math.h>

#include "analyze/quantiles.h"
#include "base/array.h"
#include "causes/why-private.h"

#define USUAL_PART_MAX 1.2
#define RARE_CALLS 20 /* in the usual cohort, all together */

/* --- means ------------------------------------------------------------------------------------ */

static void add_totals(WhyMean *m, const Anatomy *a) {
        for (size_t i = a->n_nodes; i-- > 1;) {
                m[i].total_ns += m[i].run_ns + m[i].wait_ns;
                if (a->nodes[i]->level > 1)
                        m[a->nodes[i]->parent->id].total_ns += m[i].total_ns;
        }
}

/* Of @n_calls, which are added to those of @all as well.  NULL without memory. */
static WhyMean *mean_of(const Anatomy *a, const size_t *calls, size_t n_calls, WhyMean *all) {
        double each = n_calls > 0 ? 1 / (double) n_calls : 0;
        WhyMean *m = calloc(a->n_nodes + 1, sizeof(*m));

        for (size_t i = 0; m && i < n_calls; i++)
                why_add_call(m, a, &a->calls[calls[i]]);
        for (size_t i = 0; m && i < a->n_nodes; i++) {
                all[i].n += m[i].n;
                all[i].run_ns += m[i].run_ns;
                all[i].wait_ns += m[i].wait_ns;
                m[i].n *= each;
                m[i].run_ns *= each;
                m[i].wait_ns *= each;
        }
        if (m)
                add_totals(m, a);
        return m;
}

static int add_quantiles(uint64_t *ret_median, uint64_t *ret_p90, const Anatomy *a,
                         const size_t *calls, size_t n_calls) {
        _cleanup_(quantiles_done) Quantiles q = {};
        int r = 0;

        for (size_t i = 0; i < n_calls && r >= 0; i++)
                r = quantiles_add(&q, a->calls[calls[i]].duration_ns);
        *ret_median = quantiles_at(&q, 500);
        *ret_p90 = quantiles_at(&q, 900);
        return r;
}

/* --- causes ----------------------------------------------------------------------------------- */

/* What rounding leaves of two means that are the same is no change. */
#define MIN_CHANGE_NS 1e-3

static int add_cause(Why *w, const WhyCause *cause) {
        if (fabs(cause->change_ns) < MIN_CHANGE_NS)
                return 0;
        if (!ARRAY_GROW(w->causes, w->n_causes))
                return -ENOMEM;
        w->causes[w->n_causes] = *cause;
        w->causes[w->n_causes++].share =
                w->difference_ns != 0 ? cause->change_ns / w->difference_ns : 0;
        return 0;
}

/* What both cohorts have of a path's own time. */
static int compare_own(Why *w, const CallNode *node, WhyKind kind, const WhyMean *s,
                       const WhyMean *u) {
        const WhyMean *slow = &s[node->id], *usual = &u[node->id];
        WhyCause c = { .kind = kind,
                       .node = node,
                       .hottest = node,
                       .slow_ns = kind == WHY_RUNNING ? slow->run_ns : slow->wait_ns,
                       .usual_ns = kind == WHY_RUNNING ? usual->run_ns : usual->wait_ns,
                       .slow_n = slow->n,
                       .usual_n = usual->n };

        c.change_ns = c.slow_ns - c.usual_ns * (slow->n / usual->n);
        return add_cause(w, &c);
}

/* Usual calls have it so seldom that they do not tell what a call of it takes, and slow ones have more. */
static bool is_rare(const Why *w, const CallNode *node, const WhyMean *s, const WhyMean *u) {
        uint32_t i = node->id, p = node->parent->id;

        return u[i].n * (double) w->n_usual < RARE_CALLS && s[i].n > 2 * s[p].n * u[i].n / u[p].n;
}

static int compare_calls(Why *w, const CallNode *node, const WhyMean *s, const WhyMean *u) {
        uint32_t i = node->id, p = node->parent->id;
        WhyCause c = { .node = node,
                       .slow_ns = s[i].total_ns,
                       .usual_ns = u[i].total_ns,
                       .slow_n = s[i].n,
                       .usual_n = u[i].n };
        double wanted = s[p].n * u[i].n / u[p].n;

        if (u[i].n == 0) {
                c.kind = WHY_ONLY;
                c.change_ns = s[i].total_ns;
        } else if (is_rare(w, node, s, u)) {
                c.kind = WHY_CALLS;
                c.is_rare = true;
                c.change_ns = s[i].total_ns - wanted * u[i].total_ns / u[i].n;
        } else {
                c.kind = s[i].n == 0 ? WHY_NEVER : WHY_CALLS;
                c.change_ns = (s[i].n - wanted) * u[i].total_ns / u[i].n;
        }
        return add_cause(w, &c);
}

static int find_causes(Why *w, const Anatomy *a, const WhyMean *s, const WhyMean *u) {
        _cleanup_free_ bool *both = calloc(a->n_nodes + 1, sizeof(bool));
        int r = 0;

        if (!both)
                return -ENOMEM;
        for (size_t i = 1; i < a->n_nodes && r >= 0; i++) {
                const CallNode *node = a->nodes[i];

                if (node != w->root && (node->level < 2 || !both[node->parent->id]))
                        continue;
                if (node != w->root)
                        r = compare_calls(w, node, s, u);
                both[i] = s[i].n > 0 && u[i].n > 0 && (node == w->root || !is_rare(w, node, s, u));
                if (both[i] && r >= 0)
                        r = compare_own(w, node, WHY_RUNNING, s, u)
                                    ?: compare_own(w, node, WHY_WAITING, s, u);
        }
        return r;
}

static int compare_causes(const void *a, const void *b) {
        const WhyCause *x = a, *y = b;

        return CMP(fabs(y->share), fabs(x->share))
                       ?: CMP(x->node->id, y->node->id) ?: CMP(x->kind, y->kind);
}

/* The part of the usual time that is spent where a call takes longer, in proportion, at least half as much as all of it
 * does; or less, if all of it does. */
static double find_evenness(const Why *w, const Anatomy *a, const WhyMean *s, const WhyMean *u) {
        double growth = w->usual_ns > 0 ? w->slow_ns / w->usual_ns - 1 : 0, even = 0;

        if (growth == 0)
                return 0;
        for (size_t i = 1; i < a->n_nodes; i++) {
                double slow = s[i].run_ns + s[i].wait_ns, usual = u[i].run_ns + u[i].wait_ns;

                if (usual > 0 && s[i].n > 0 &&
                    (slow * u[i].n / (usual * s[i].n) - 1) / growth >= 0.5)
                        even += usual;
        }
        return even / w->usual_ns;
}

/* --- who ended the waiting -------------------------------------------------------------------- */

static int find_waker(WhyCause *cause, const Anatomy *a, const Cohorts *c) {
        _cleanup_free_ double *sums = calloc(a->n_wakers + 1, sizeof(double));
        double all = 0, queued = 0;
        size_t best = 0;

        if (!sums)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_slow; i++) {
                const AnatomyCall *call = &a->calls[c->slow[i]];

                for (size_t k = 0; k < call->n_waits; k++) {
                        const AnatomyWait *wait = &a->waits[call->first_wait + k];
                        const CallNode *node = a->nodes[wait->node];

                        while (cause->kind == WHY_ONLY && node->level > cause->node->level)
                                node = node->parent;
                        if (node != cause->node)
                                continue;
                        all += (double) wait->away_ns;
                        queued += (double) wait->queued_ns;
                        sums[wait->waker] += (double) wait->away_ns;
                }
        }
        for (size_t i = 1; i <= a->n_wakers; i++)
                if (sums[i] > (best > 0 ? sums[best] : 0))
                        best = i;
        if (all > 0)
                cause->queued_share = queued / all;
        if (best > 0) {
                cause->waker = &a->wakers[best - 1];
                cause->waker_share = sums[best] / all;
        }
        return 0;
}

#define N_WAKERS_TOLD 16 /* of the greatest causes */

static int finish_causes(Why *w, const Anatomy *a, const Cohorts *c, const WhyMean *s,
                         const WhyMean *u) {
        int r = 0;

        SORT(w->causes, w->n_causes, compare_causes);
        for (size_t i = 0; i < w->n_causes && r >= 0; i++) {
                WhyCause *cause = &w->causes[i];

                cause->p = NAN;
                cause->may_lack = cause->kind >= WHY_CALLS && cause->node->was_left_out;
                if (!cause->hottest)
                        cause->hottest = cause->node;
                for (const CallNode *n = cause->kind >= WHY_CALLS ? cause->node : NULL; n;
                     n = call_node_next(cause->node, n)) {
                        const WhyMean *m = cause->kind == WHY_NEVER ? u : s;
                        const WhyMean *most = &m[cause->hottest->id];

                        if (m[n->id].run_ns + m[n->id].wait_ns > most->run_ns + most->wait_ns)
                                cause->hottest = n;
                }
                if (i < N_WAKERS_TOLD && (cause->kind == WHY_WAITING || cause->kind == WHY_ONLY))
                        r = find_waker(cause, a, c);
        }
        return r;
}

/* --- what is named ---------------------------------------------------------------------------- */

/* A small part of a difference that may be chance may be chance as well: what all paths share shows in all of them
 * together before it shows in one.  And where everything takes longer alike, what takes most of the time has most of the
 * difference, and is not its cause. */
static bool is_proven(const Why *w, const WhyCause *c) {
        double usually = w->usual_ns > 0 ? c->usual_ns / w->usual_ns : 0;

        if (c->share <= 0 || !(c->p <= WHY_P_MAX))
                return false;
        return c->share >= WHY_SHARE_ALONE ||
               (w->is_no_chance && (w->evenness < WHY_ALIKE_MIN || c->share >= 2 * usually));
}

static bool may_be_elsewhere(const WhyCause *c) {
        return c->burst.n_calls > 0 && c->burst.chance > WHY_BURST_MAX;
}

static const WhyCause *find_proven(const Why *w, bool elsewhere) {
        for (size_t i = 0; i < w->n_causes; i++) {
                const WhyCause *c = &w->causes[i];

                if (fabs(c->share) < MAX(WHY_SHARE_MIN, fabs(w->causes[0].share) / 2))
                        return NULL;
                if (is_proven(w, c) && may_be_elsewhere(c) == elsewhere)
                        return c;
        }
        return NULL;
}

static void name(Why *w) {
        const WhyCause *c;

        w->is_no_chance = cohorts_are_by_time(w->spec.by) || w->p <= WHY_P_MAX;
        w->cause = find_proven(w, false);
        for (size_t i = 0; w->cause && i < w->n_causes && w->causes[i].share >= WHY_SECOND_MIN; i++)
                if (!w->second && &w->causes[i] > w->cause && is_proven(w, &w->causes[i]) &&
                    !may_be_elsewhere(&w->causes[i]))
                        w->second = &w->causes[i];
        w->burst = w->cause ? NULL : find_proven(w, true);
        for (size_t i = 0; w->is_no_chance && i < w->n_factors && !w->factor; i++) {
                const WhyFactor *f = &w->factors[i];

                if (f->share < WHY_FACTOR_MIN)
                        break;
                if (f->p <= WHY_P_MAX && f->evenness >= WHY_EVEN_MIN)
                        w->factor = f;
        }
        c = w->cause;
        /* Where everything takes longer, what takes three quarters of the time has three quarters of the difference. */
        w->is_factor_first =
                w->factor && (!c || w->factor->share >= c->share ||
                              (c->kind <= WHY_WAITING &&
                               c->share * w->usual_ns <= USUAL_PART_MAX * c->usual_ns));
        if (w->n_values > 0 && why_value_surplus(w->values) >= WHY_VALUE_MIN)
                w->value = w->values;
}

/* --- all of it -------------------------------------------------------------------------------- */

int why_new(Why **ret, const Anatomy *a, const CohortsRoot *root, const CohortsSpec *spec) {
        _cleanup_(why_freep) Why *w = calloc(1, sizeof(*w));
        _cleanup_cohorts_ Cohorts c = {};
        _cleanup_free_ WhyMean *s = NULL, *u = NULL, *all = calloc(a->n_nodes + 1, sizeof(*all));
        int r;

        if (!w || !all)
                return -ENOMEM;
        w->root = root->node;
        w->spec = *spec;
        w->p = 1;
        r = cohorts_choose(&c, a, root, &w->spec);
        if (r < 0)
                return r;
        s = mean_of(a, c.slow, c.n_slow, all);
        u = mean_of(a, c.usual, c.n_usual, all);
        if (!s || !u)
                return -ENOMEM;
        w->n_slow = c.n_slow;
        w->n_usual = c.n_usual;
        w->n_all = c.n_all;
        w->is_enough = c.n_all >= COHORTS_CALLS_MIN && c.n_slow > 0 && c.n_usual > 0;
        w->slow_ns = s[w->root->id].total_ns;
        w->usual_ns = u[w->root->id].total_ns;
        r = add_quantiles(&w->slow_median_ns, &w->slow_p90_ns, a, c.slow, c.n_slow)
                    ?: add_quantiles(&w->usual_median_ns, &w->usual_p90_ns, a, c.usual, c.n_usual);
        if (r >= 0 && c.n_slow > 0 && c.n_usual > 0) {
                w->difference_ns = w->slow_ns - w->usual_ns;
                r = find_causes(w, a, s, u) ?: finish_causes(w, a, &c, s, u);
        }
        if (r >= 0 && w->is_enough) {
                w->evenness = find_evenness(w, a, s, u);
                r = why_add_factors(w, a, &c) ?: why_test(w, a, &c, all);
                if (r >= 0 && cohorts_are_by_time(w->spec.by))
                        r = why_allow_for_choice(w, a, &c, u);
                if (r >= 0 && spec->by == COHORTS_BY_FAILURE)
                        r = why_find_error(w, a, &c);
                if (r >= 0 && cohorts_are_stretches(spec->by))
                        r = why_find_bursts(w, a, &c, s, u);
        }
        if (r < 0)
                return r;
        name(w);
        *ret = TAKE_PTR(w);
        return 0;
}

/* --- two calls -------------------------------------------------------------------------------- */

/* As an anatomy has them: interrupts stand directly below the outermost call. */
static int add_tree(CallTree *paths, WhyMean **means, size_t *n_means, CallTree *tree) {
        _cleanup_free_ CallNode **twins = calloc(call_tree_n_nodes(tree) + 1, sizeof(*twins));
        const CallNode *root = call_tree_root(tree);

        if (!twins)
                return -ENOMEM;
        twins[0] = call_tree_root(paths);
        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                CallNode *caller =
                        twins[(n->is_irq && n->level > 1 ? root->children : n->parent)->id];
                bool is_call = n->function->kind == FUNCTION_RECORDED;
                CallNode *twin =
                        is_call ? call_tree_child(paths, caller, function_plain(n->function))
                                : caller; /* whose code it is */
                WhyMean *mean;

                if (!twin || !ARRAY_REACH(*means, *n_means, twin->id))
                        return -ENOMEM;
                twins[n->id] = twin;
                if (!is_call)
                        continue;
                twin->is_irq |= n->is_irq;
                mean = &(*means)[twin->id];
                mean->n += (double) n->n;
                mean->run_ns += (double) (n->self_ns - MIN(n->blocked_ns, n->self_ns));
                mean->wait_ns += (double) MIN(n->blocked_ns, n->self_ns);
        }
        return 0;
}

int why_new_of_two(Why **ret, CallTree *slow, CallTree *usual) {
        _cleanup_(why_freep) Why *w = NEW(Why, .n_slow = 1, .n_usual = 1, .n_all = 2, .p = 1);
        _cleanup_free_ const CallNode **nodes = NULL;
        _cleanup_free_ WhyMean *s = NULL, *u = NULL;
        size_t n_s = 0, n_u = 0;
        Anatomy a = {};
        int r = w ? call_tree_new(&w->paths, NULL) : -ENOMEM;

        if (r >= 0)
                r = add_tree(w->paths, &s, &n_s, slow) ?: add_tree(w->paths, &u, &n_u, usual);
        if (r < 0)
                return r;
        a.n_nodes = call_tree_n_nodes(w->paths) + 1;
        nodes = calloc(a.n_nodes, sizeof(*nodes));
        if (!nodes || !ARRAY_REACH(s, n_s, a.n_nodes - 1) || !ARRAY_REACH(u, n_u, a.n_nodes - 1))
                return -ENOMEM;
        a.nodes = nodes;
        w->root = call_tree_root(w->paths)->children;
        for (const CallNode *n = w->root; n; n = call_node_next(w->root, n))
                nodes[n->id] = n;
        add_totals(s, &a);
        add_totals(u, &a);
        w->slow_ns = s[w->root->id].total_ns;
        w->usual_ns = u[w->root->id].total_ns;
        w->difference_ns = w->slow_ns - w->usual_ns;
        r = find_causes(w, &a, s, u) ?: finish_causes(w, &a, &(Cohorts){}, s, u);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(w);
        return 0;
}

Why *why_free(Why *w) {
        if (!w)
                return NULL;
        free(w->causes);
        free(w->factors);
        free(w->values);
        free(w->areas);
        call_tree_free(w->paths);
        return mfree(w);
}
