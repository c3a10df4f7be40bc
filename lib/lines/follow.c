/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * From the sites of one call the code leads to those of the next: a walk over the caller's calls, that goes past one
 * only if it may have left no trace.  It goes past no call of what was recorded; past a pointer it does, which may
 * have called anything.
 */

#include "lines/lines-private.h"

#define CALLS_MAX 64 /* bits */
#define ALL UINT64_MAX

/* What one caller's calls are looked at with. */
typedef struct Reach {
        const LinesCaller *caller;
        uint8_t *marks; /* of each call */
        uint32_t *stack;
} Reach;

enum {
        NODE_SEEN = 1 << 0,
        NODE_BLOCKED = 1 << 1, /* what it calls was recorded */
};

static const Pair *pair_of(const LineSites *s) {
        return (const void *) ((const char *) s - offsetof(Pair, sites));
}

static uint64_t all_bits(uint32_t n) {
        return n >= CALLS_MAX ? ALL : (UINT64_C(1) << n) - 1;
}

/* The sites that calls @possible look like. */
static uint64_t sites_of(const LineSites *s, uint64_t possible) {
        const Pair *p = pair_of(s);
        uint64_t found = 0;

        if (p->n_calls > CALLS_MAX)
                return all_bits(s->n_sites);
        for (uint32_t i = 0; i < p->n_calls; i++)
                if (possible & UINT64_C(1) << i)
                        found |= UINT64_C(1) << p->calls[i].site;
        return found;
}

/* Whether the order tells anything of it. */
static bool has_order(const LineSites *s) {
        return s && (s->answer == LINES_DIRECT || s->answer == LINES_INDIRECT) &&
               pair_of(s)->n_calls <= CALLS_MAX && !pair_of(s)->caller->is_torn;
}

static int reach_init(Reach *w, const LinesCaller *caller) {
        w->caller = caller;
        w->marks = calloc((size_t) caller->n_nodes + 1, 1);
        w->stack = calloc((size_t) caller->n_nodes + 1, sizeof(*w->stack));
        return w->marks && w->stack ? 0 : -ENOMEM;
}

static void reach_done(Reach *w) {
        free(w->marks);
        free(w->stack);
}

/* No way leads past a call of it that was not recorded. */
static void block(Reach *w, const LineSites *s) {
        const Pair *p = pair_of(s);

        for (uint32_t i = 0; i < p->n_calls; i++)
                if (!p->calls[i].is_through &&
                    !node_is_indirect(&p->caller->nodes[p->calls[i].node]))
                        w->marks[p->calls[i].node] |= NODE_BLOCKED;
}

static void push(Reach *w, uint32_t *n, uint32_t node) {
        if (w->marks[node] & NODE_SEEN)
                return;
        w->marks[node] |= NODE_SEEN;
        if (node < w->caller->n_nodes) /* it is not the end */
                w->stack[(*n)++] = node;
}

/* Marks what comes next after node @from, the beginning if that is their number. */
static void reach(Reach *w, uint32_t from, bool may_stay) {
        const LinesCaller *c = w->caller;
        uint32_t n = 0;

        for (uint32_t i = 0; i <= c->n_nodes; i++)
                w->marks[i] &= (uint8_t) ~NODE_SEEN;
        for (uint32_t k = c->begins[from]; k < c->begins[from + 1]; k++)
                push(w, &n, c->nexts[k]);
        if (may_stay)
                push(w, &n, from);
        while (n > 0) {
                uint32_t node = w->stack[--n];

                if (w->marks[node] & NODE_BLOCKED)
                        continue;
                for (uint32_t k = c->begins[node]; k < c->begins[node + 1]; k++)
                        push(w, &n, c->nexts[k]);
        }
}

/* The calls of @to that come next after node @from; of the end, which is NULL, a bit. */
static uint64_t reach_next(Reach *w, uint32_t from, bool may_stay, const LineSites *to) {
        const Pair *p = to ? pair_of(to) : NULL;
        uint64_t found = 0;

        reach(w, from, may_stay);
        if (!to)
                return w->marks[w->caller->n_nodes] & NODE_SEEN ? 1 : 0;
        for (uint32_t i = 0; i < p->n_calls; i++)
                if (w->marks[p->calls[i].node] & NODE_SEEN)
                        found |= UINT64_C(1) << i;
        return found;
}

/* The calls of @to that can come after those of @from that @possible has; NULL: after the beginning. */
static uint64_t reach_from(Reach *w, const LineSites *from, uint64_t possible, const LineSites *to) {
        const Pair *p = from ? pair_of(from) : NULL;
        uint64_t found = 0;

        if (!from)
                return reach_next(w, w->caller->n_nodes, false, to);
        for (uint32_t i = 0; i < p->n_calls; i++)
                if (possible & UINT64_C(1) << i)
                        found |= reach_next(w, p->calls[i].node, p->calls[i].is_through, to);
        return found;
}

/* One step, @w has what is blocked: the calls that are possible; *@at has no such if it is lost. */
static void step(Reach *w, LinesPosition *at, const LineSites *sites) {
        uint64_t possible;

        if (sites && sites->answer == LINES_INTERRUPT)
                return;
        if (!has_order(sites)) {
                *at = (LinesPosition){ .is_lost = true };
                return;
        }
        possible = at->is_lost ? 0 : reach_from(w, at->last, at->possible, sites);
        *at = (LinesPosition){ .last = sites,
                               .possible = possible ?: all_bits(pair_of(sites)->n_calls) };
}

static uint64_t answer(const LinesPosition *at, const LineSites *sites) {
        if (!sites || sites->answer == LINES_INTERRUPT)
                return 0;
        return at->is_lost ? all_bits(sites->n_sites) : sites_of(sites, at->possible);
}

uint64_t lines_follow(Lines *l, LinesPosition *at, const LineSites *sites) {
        _cleanup_(reach_done) Reach w = {};

        if (has_order(sites)) {
                if (reach_init(&w, pair_of(sites)->caller) < 0)
                        return all_bits(sites->n_sites);
                block(&w, sites);
                if (at->last)
                        block(&w, at->last);
        }
        step(&w, at, sites);
        return answer(at, sites);
}

int lines_follow_all(Lines *l, const LineSites *const *calls, size_t n, bool has_end,
                     uint64_t *ret_possible) {
        _cleanup_(reach_done) Reach w = {};
        _cleanup_free_ LinesPosition *places = calloc(n + 1, sizeof(*places));
        const LineSites *next = NULL; /* with is_known the end */
        uint64_t next_possible = 1;
        bool is_known = has_end;
        int r = places ? 0 : -ENOMEM;

        for (size_t i = 0; i < n && r >= 0; i++) {
                if (!has_order(calls[i]))
                        continue;
                if (!w.caller)
                        r = reach_init(&w, pair_of(calls[i])->caller);
                if (r >= 0)
                        block(&w, calls[i]);
        }
        for (size_t i = 0; i < n && r >= 0; i++) {
                if (i > 0)
                        places[i] = places[i - 1];
                step(&w, &places[i], calls[i]);
        }
        /* Backwards: what leads to none of those that are left behind it was not it. */
        for (size_t i = n; i-- > 0 && r >= 0;) {
                uint64_t kept = 0;

                if (!calls[i] || calls[i]->answer != LINES_INTERRUPT) {
                        for (uint64_t bits = is_known && !places[i].is_lost ? places[i].possible
                                                                            : 0;
                             bits != 0; bits &= bits - 1)
                                if (reach_from(&w, calls[i], bits & -bits, next) & next_possible)
                                        kept |= bits & -bits;
                        if (kept != 0)
                                places[i].possible = kept;
                        next = calls[i];
                        is_known = !places[i].is_lost;
                        next_possible = places[i].possible;
                }
                ret_possible[i] = answer(&places[i], calls[i]);
        }
        return r;
}

int lines_follow_calls(Lines *l, const Function *caller, const Function *const *callees, size_t n,
                       bool has_end, const LineSites **ret_sites, uint64_t *ret_possible) {
        for (size_t i = 0; i < n; i++) {
                ret_sites[i] = callees[i] ? lines_sites(l, caller, callees[i]) : NULL;
                if (callees[i] && !ret_sites[i])
                        return -ENOMEM;
        }
        return lines_follow_all(l, ret_sites, n, has_end, ret_possible);
}
