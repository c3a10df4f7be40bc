/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls are put in the order of their durations to be chosen, and in that of their beginnings
 * afterwards. */

#include "analyze/cohorts.h"
#include "base/grow.h"

#define SLOWEST_MIN 8

bool cohorts_are_by_time(CohortsBy by) {
        return by == COHORTS_BY_SLOWEST || by == COHORTS_BY_DURATION;
}

bool cohorts_are_stretches(CohortsBy by) {
        return by == COHORTS_BY_WINDOW || by == COHORTS_BY_SOURCE;
}

int cohorts_greatest_root(const CallNode **ret, size_t *ret_n_roots, const Anatomy *a,
                          NameSet *names, bool in_each) {
        _cleanup_free_ uint64_t *sums = calloc(a->n_nodes + 1, sizeof(*sums));
        _cleanup_free_ uint32_t *n_sources = calloc(a->n_nodes + 1, sizeof(*n_sources));
        uint32_t n_all = 0;

        *ret = NULL;
        *ret_n_roots = 0;
        if (!sums || !n_sources)
                return -ENOMEM;
        /* Calls of one recording come before those of the next. */
        for (size_t i = 0; i < a->n_calls; i++) {
                const AnatomyCall *c = &a->calls[i];

                *ret_n_roots += sums[c->root] == 0;
                sums[c->root] += MAX(c->duration_ns, UINT64_C(1));
                n_all = MAX(n_all, c->source + 1);
                if (n_sources[c->root] <= c->source)
                        n_sources[c->root] =
                                n_sources[c->root] == c->source ? c->source + 1 : UINT32_MAX;
        }
        for (size_t i = 1; i < a->n_nodes; i++) {
                bool is_wanted = sums[i] > 0 && (!in_each || n_sources[i] == n_all);
                int r = !is_wanted ? 0 : names ? name_set_has(names, a->nodes[i]->function) : 1;

                if (r < 0)
                        return r;
                if (r > 0 && (!*ret || sums[i] > sums[(*ret)->id]))
                        *ret = a->nodes[i];
        }
        return 0;
}

static int by_duration(const void *x, const void *y, void *calls) {
        const AnatomyCall *a = (AnatomyCall *) calls + *(const size_t *) x;
        const AnatomyCall *b = (AnatomyCall *) calls + *(const size_t *) y;

        return CMP(a->duration_ns, b->duration_ns) ?: CMP(a, b);
}

static int by_beginning(const void *x, const void *y, void *calls) {
        const AnatomyCall *a = (AnatomyCall *) calls + *(const size_t *) x;
        const AnatomyCall *b = (AnatomyCall *) calls + *(const size_t *) y;

        return CMP(a->source, b->source)
                       ?: CMP(a->start_ns, b->start_ns) ?: CMP(a->number, b->number);
}

static size_t n_slowest(size_t n) {
        size_t least = MIN((n + 9) / 10, (size_t) SLOWEST_MIN);

        return MAX((n + 99) / 100, least);
}

static bool is_slow(const AnatomyCall *c, const CohortsSpec *spec, uint32_t last_source) {
        switch (spec->by) {
        case COHORTS_BY_DURATION:
                return c->duration_ns >= spec->slower_ns;
        case COHORTS_BY_WINDOW:
                return c->start_ns >= spec->from_ns &&
                       (spec->to_ns == 0 || c->start_ns <= spec->to_ns);
        case COHORTS_BY_FAILURE:
                return c->has_failed;
        case COHORTS_BY_SOURCE:
                return c->source == last_source;
        default:
                return false;
        }
}

/* @c->all is in the order of durations. */
static void divide(Cohorts *c, const Anatomy *a, const CohortsSpec *spec, uint32_t last_source) {
        size_t n = c->n_all, slowest = n > 0 ? n - n_slowest(n) : 0;

        for (size_t i = 0; i < n; i++) {
                const AnatomyCall *call = &a->calls[c->all[i]];
                bool slow = spec->by == COHORTS_BY_SLOWEST ? i >= slowest
                                                           : is_slow(call, spec, last_source);
                bool middle = i >= n / 4 && i < n - n / 4;

                if (slow)
                        c->slow[c->n_slow++] = c->all[i];
                else if (cohorts_are_by_time(spec->by)    ? middle
                         : spec->by == COHORTS_BY_FAILURE ? call->has_retval
                                                          : true)
                        c->usual[c->n_usual++] = c->all[i];
        }
}

int cohorts_choose(Cohorts *ret, const Anatomy *a, const CallNode *root, const CohortsSpec *spec) {
        uint32_t last_source = 0;

        *ret = (Cohorts){
                .slow = calloc(a->n_calls + 1, sizeof(size_t)),
                .usual = calloc(a->n_calls + 1, sizeof(size_t)),
                .all = calloc(a->n_calls + 1, sizeof(size_t)),
        };
        if (!ret->slow || !ret->usual || !ret->all)
                return -ENOMEM;
        for (size_t i = 0; i < a->n_calls; i++) {
                last_source = MAX(last_source, a->calls[i].source);
                if (a->calls[i].root == root->id)
                        ret->all[ret->n_all++] = i;
        }
        qsort_r(ret->all, ret->n_all, sizeof(size_t), by_duration, a->calls);
        divide(ret, a, spec, last_source);
        qsort_r(ret->slow, ret->n_slow, sizeof(size_t), by_beginning, a->calls);
        qsort_r(ret->usual, ret->n_usual, sizeof(size_t), by_beginning, a->calls);
        return 0;
}

void cohorts_done(Cohorts *c) {
        free(c->slow);
        free(c->usual);
        free(c->all);
        *c = (Cohorts){};
}
