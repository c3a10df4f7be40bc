/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls are put in the order of their durations to be chosen, and in that of their beginnings
 * afterwards. */

#include <math.h>

#include "base/array.h"
#include "causes/why-private.h"

#define SLOWEST_MIN 8
#define HUMPS_CALLS_MIN 40
/* Of a hump's spread, all as logarithms: of 2,000 samples each of 40 calls, log-normal, exponential or even, none has a
 * gap of 1.5; of two humps of 72 us and 400 us that vary by a fifth 1,995 have. */
#define HUMPS_GAP_MIN 1.5
#define HUMPS_FACTOR_MIN 1.5

static int compare_roots(const void *x, const void *y) {
        const CohortsRoot *a = x, *b = y;

        return CMP(b->total_ns, a->total_ns) ?: CMP(a->node->id, b->node->id);
}

static bool is_compared(const Anatomy *a, const AnatomyCall *c) {
        return !c->is_idle || !idle_is_left_out(&a->idle);
}

/* How many roots have calls, which become those of @by_id, by their number.  Calls of one recording come before those of
 * the next. */
static size_t count_calls(CohortsRoot *by_id, const Anatomy *a) {
        size_t n = 0;

        for (size_t i = 0; i < a->n_calls; i++) {
                const AnatomyCall *c = &a->calls[i];
                CohortsRoot *root = &by_id[c->root];

                if (!is_compared(a, c))
                        continue;
                n += root->n_calls++ == 0;
                root->node = a->nodes[c->root];
                root->total_ns += MAX(c->duration_ns, UINT64_C(1));
                root->in_first |= c->source == 0;
                root->in_last |= c->source == a->n_sources - 1;
        }
        return n;
}

int cohorts_roots(CohortsRoot **ret, size_t *ret_n, const Anatomy *a) {
        _cleanup_free_ CohortsRoot *by_id = calloc(a->n_nodes + 1, sizeof(*by_id));
        CohortsRoot *roots;
        size_t n, *calls;

        if (!by_id)
                return -ENOMEM;
        n = count_calls(by_id, a);
        roots = malloc(n * sizeof(*roots) + (a->n_calls + 1) * sizeof(*calls));
        if (!roots)
                return -ENOMEM;
        calls = (size_t *) (roots + n);
        n = 0;
        for (size_t i = 0; i < a->n_nodes; i++) {
                if (!by_id[i].node)
                        continue;
                by_id[i].calls = calls;
                calls += by_id[i].n_calls;
                roots[n++] = by_id[i];
                by_id[i].n_calls = 0;
        }
        for (size_t i = 0; i < a->n_calls; i++) {
                CohortsRoot *root = &by_id[a->calls[i].root];

                if (is_compared(a, &a->calls[i]))
                        ((size_t *) root->calls)[root->n_calls++] = i;
        }
        qsort(roots, n, sizeof(*roots), compare_roots);
        *ret = roots;
        *ret_n = n;
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

static bool is_slow(const AnatomyCall *c, const CohortsSpec *spec, uint32_t last_source) {
        switch (spec->by) {
        case COHORTS_BY_DURATION:
        case COHORTS_BY_HUMP:
                return c->duration_ns >= spec->slower_ns;
        case COHORTS_BY_WINDOW:
                return c->start_ns >= spec->from_ns &&
                       (spec->to_ns == 0 || c->start_ns <= spec->to_ns);
        case COHORTS_BY_FAILURE:
                return c->has_failed;
        default:
                return c->source == last_source;
        }
}

static size_t n_slowest(size_t n) {
        size_t least = MIN((n + 9) / 10, (size_t) SLOWEST_MIN);

        return MAX((n + 99) / 100, least);
}

static double log_duration(const Cohorts *c, const Anatomy *a, size_t i) {
        return log((double) MAX(a->calls[c->all[i]].duration_ns, UINT64_C(1)));
}

/*
 * Where, of the calls from @from on to @to, the upper one of two humps begins; 0: there are none.  A hump is from its first
 * to its last tenth, of at least a fifth of the calls; @c->all is in the order of durations.
 *
 *      ....:::::::.....                    ....::::::....              ..
 *        |  hump  |---------- gap ----------|   hump  |           the slowest, if they pass it by more than its width
 */
static size_t find_hump(const Cohorts *c, const Anatomy *a, size_t from, size_t to,
                        bool *ret_is_passed) {
        size_t n = to - from, low = 0, high = 0, at;
        double best = HUMPS_GAP_MIN;

        if (n < HUMPS_CALLS_MIN)
                return 0;
        for (size_t i = (n + 4) / 5; i < n - n / 5; i++) {
                size_t first = from + i / 10, last = from + i * 9 / 10,
                       next = from + i + (n - i) / 10, end = from + i + (n - i) * 9 / 10;
                double gap = log_duration(c, a, next) - log_duration(c, a, last);
                double spread = (log_duration(c, a, last) - log_duration(c, a, first) +
                                 log_duration(c, a, end) - log_duration(c, a, next)) /
                                2;

                if (gap < log(HUMPS_FACTOR_MIN) || gap < best * spread)
                        continue;
                best = spread > 0 ? gap / spread : INFINITY;
                *ret_is_passed = log_duration(c, a, to - (n_slowest(c->n_all) + 1) / 2) >
                                 2 * log_duration(c, a, end) - log_duration(c, a, next);
                low = last;
                high = next;
        }
        at = high;
        for (size_t i = low + 1; i < high; i++)
                if (log_duration(c, a, i) - log_duration(c, a, i - 1) >
                    log_duration(c, a, at) - log_duration(c, a, at - 1))
                        at = i;
        return at;
}

/* Of several humps the uppermost is that of the slow calls. */
static void choose_hump(const Cohorts *c, const Anatomy *a, CohortsSpec *spec) {
        bool is_passed = false, ignored;
        size_t at = find_hump(c, a, 0, c->n_all, &is_passed), next;

        spec->has_several = at > 0 && find_hump(c, a, 0, at, &ignored) > 0;
        for (; at > 0 && (next = find_hump(c, a, at, c->n_all, &is_passed)) > 0; at = next)
                spec->has_several = true;
        spec->slower_ns = at > 0 ? a->calls[c->all[at]].duration_ns : 0;
        spec->by = at > 0 && !is_passed ? COHORTS_BY_HUMP : COHORTS_BY_SLOWEST;
}

/* @c->all is in the order of durations. */
static void divide(Cohorts *c, const Anatomy *a, const CohortsSpec *spec) {
        size_t n = c->n_all;

        for (size_t i = 0; i < n; i++) {
                const AnatomyCall *call = &a->calls[c->all[i]];
                bool slow = spec->by == COHORTS_BY_SLOWEST ? i >= n - n_slowest(n)
                                                           : is_slow(call, spec, a->n_sources - 1);
                bool middle = i >= n / 4 && i < n - n / 4;

                if (slow)
                        c->slow[c->n_slow++] = c->all[i];
                else if (cohorts_are_by_time(spec->by)    ? middle
                         : spec->by == COHORTS_BY_FAILURE ? call->has_retval
                                                          : true)
                        c->usual[c->n_usual++] = c->all[i];
        }
}

int cohorts_choose(Cohorts *ret, const Anatomy *a, const CohortsRoot *root, CohortsSpec *spec) {
        size_t n = root->n_calls;

        *ret = (Cohorts){ .slow = calloc(n, sizeof(size_t)),
                          .usual = calloc(n, sizeof(size_t)),
                          .all = calloc(n, sizeof(size_t)),
                          .n_all = n };
        if (!ret->slow || !ret->usual || !ret->all)
                return -ENOMEM;
        memcpy(ret->all, root->calls, n * sizeof(size_t));
        qsort_r(ret->all, ret->n_all, sizeof(size_t), by_duration, a->calls);
        if (spec->by == COHORTS_BY_SLOWEST)
                choose_hump(ret, a, spec);
        divide(ret, a, spec);
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
