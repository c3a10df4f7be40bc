/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * From the sites of one call the code leads to those of the next: a walk over the caller's calls, that goes past one
 * only if it may have left no trace.  It goes past no call of what was recorded; past a pointer it does, which may
 * have called anything.
 */

#include "lines/lines-private.h"

#define SITES_MAX 64 /* bits */
#define ALL UINT64_MAX

/* What one caller's calls are looked at with. */
typedef struct Ways {
        const LinesCaller *caller;
        uint8_t *marks; /* of each call */
        uint32_t *stack;
} Ways;

enum {
        WAY_SEEN = 1 << 0,
        WAY_BLOCKED = 1 << 1, /* what it calls was recorded */
};

static const Pair *pair_of(const LineSites *s) {
        return (const Pair *) ((const char *) s - offsetof(Pair, sites));
}

static uint64_t all_bits(const LineSites *s) {
        return s->n_sites >= SITES_MAX ? ALL : (UINT64_C(1) << s->n_sites) - 1;
}

/* Whether the order tells anything of it. */
static bool has_order(const LineSites *s) {
        return s && (s->answer == LINES_DIRECT || s->answer == LINES_INDIRECT) &&
               s->n_sites <= SITES_MAX && !pair_of(s)->caller->is_torn;
}

static int ways_init(Ways *w, const LinesCaller *caller) {
        w->caller = caller;
        w->marks = calloc((size_t) caller->n_nodes + 1, 1);
        w->stack = calloc((size_t) caller->n_nodes + 1, sizeof(*w->stack));
        return w->marks && w->stack ? 0 : -ENOMEM;
}

static void ways_done(Ways *w) {
        free(w->marks);
        free(w->stack);
}

/* No way leads past a call of it that was not recorded. */
static void block(Ways *w, const LineSites *s) {
        const Pair *p = pair_of(s);

        for (uint32_t i = 0; s->answer == LINES_DIRECT && i < s->n_sites; i++)
                if (!p->is_through[i])
                        w->marks[p->nodes[i]] |= WAY_BLOCKED;
}

static void push(Ways *w, uint32_t *n, uint32_t node) {
        if (w->marks[node] & WAY_SEEN)
                return;
        w->marks[node] |= WAY_SEEN;
        w->stack[(*n)++] = node;
}

/* The sites of @to that come next after call @from, the beginning if that is their number. */
static uint64_t reach(Ways *w, uint32_t from, bool may_stay, const LineSites *to) {
        const LinesCaller *c = w->caller;
        const Pair *p = pair_of(to);
        uint64_t found = 0;
        uint32_t n = 0;

        for (uint32_t i = 0; i < c->n_nodes; i++)
                w->marks[i] &= (uint8_t) ~WAY_SEEN;
        for (uint32_t k = c->begins[from]; k < c->begins[from + 1]; k++)
                push(w, &n, c->nexts[k]);
        if (may_stay)
                push(w, &n, from);
        while (n > 0) {
                uint32_t node = w->stack[--n];

                if (w->marks[node] & WAY_BLOCKED)
                        continue;
                for (uint32_t k = c->begins[node]; k < c->begins[node + 1]; k++)
                        push(w, &n, c->nexts[k]);
        }
        for (uint32_t i = 0; i < to->n_sites; i++)
                if (w->marks[p->nodes[i]] & WAY_SEEN)
                        found |= UINT64_C(1) << i;
        return found;
}

/* The sites of @to that can come after those of @from that @possible has; NULL: after the beginning. */
static uint64_t reach_from(Ways *w, const LineSites *from, uint64_t possible, const LineSites *to) {
        const Pair *p = from ? pair_of(from) : NULL;
        uint64_t found = 0;

        if (!from)
                return reach(w, w->caller->n_nodes, false, to);
        for (uint32_t i = 0; i < from->n_sites && found != all_bits(to); i++)
                if (possible & UINT64_C(1) << i)
                        found |= reach(w, p->nodes[i], p->is_through[i], to);
        return found;
}

/* One step; @w has what is blocked. */
static uint64_t step(Ways *w, LinesPosition *at, const LineSites *sites) {
        uint64_t possible;

        if (sites && sites->answer == LINES_INTERRUPT)
                return 0;
        if (!has_order(sites)) {
                *at = (LinesPosition){ .is_lost = true };
                return sites ? all_bits(sites) : 0;
        }
        possible = at->is_lost ? 0 : reach_from(w, at->last, at->possible, sites);
        if (possible == 0)
                possible = all_bits(sites);
        *at = (LinesPosition){ .last = sites, .possible = possible };
        return possible;
}

uint64_t lines_follow(Lines *l, LinesPosition *at, const LineSites *sites) {
        _cleanup_(ways_done) Ways w = {};

        if (has_order(sites)) {
                if (ways_init(&w, pair_of(sites)->caller) < 0)
                        return all_bits(sites);
                block(&w, sites);
                if (at->last)
                        block(&w, at->last);
        }
        return step(&w, at, sites);
}

int lines_follow_all(Lines *l, const LineSites *const *calls, size_t n, uint64_t *ret_possible) {
        _cleanup_(ways_done) Ways w = {};
        LinesPosition at = {};
        const LineSites *next = NULL;
        uint64_t next_possible = 0;
        int r = 0;

        for (size_t i = 0; i < n && r >= 0; i++) {
                if (!has_order(calls[i]))
                        continue;
                if (!w.caller)
                        r = ways_init(&w, pair_of(calls[i])->caller);
                if (r >= 0)
                        block(&w, calls[i]);
        }
        for (size_t i = 0; i < n && r >= 0; i++)
                ret_possible[i] = step(&w, &at, calls[i]);
        /* Backwards: what leads to none of those that are left behind it was not it. */
        for (size_t i = n; i-- > 0 && r >= 0;) {
                uint64_t kept = 0;

                if (calls[i] && calls[i]->answer == LINES_INTERRUPT)
                        continue;
                if (!has_order(calls[i])) {
                        next = NULL;
                        continue;
                }
                for (uint32_t k = 0; next && k < calls[i]->n_sites; k++) {
                        uint64_t bit = UINT64_C(1) << k;

                        if (ret_possible[i] & bit &&
                            reach_from(&w, calls[i], bit, next) & next_possible)
                                kept |= bit;
                }
                if (kept != 0)
                        ret_possible[i] = kept;
                next = calls[i];
                next_possible = ret_possible[i];
        }
        return r;
}
