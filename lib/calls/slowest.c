/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A heap with the quickest of those that are slow enough on top; at the end it is sorted by number. */

#include "base/grow.h"
#include "calls/slowest.h"

typedef struct Rank {
        uint64_t duration_ns, number;
} Rank;

struct Slowest {
        Rank *ranks;
        size_t n;
        uint64_t n_wanted;
};

static bool is_quicker(const Rank *a, const Rank *b) {
        /* Of equals the later one goes first. */
        return a->duration_ns < b->duration_ns ||
               (a->duration_ns == b->duration_ns && a->number > b->number);
}

static void sink(Slowest *s, size_t i) {
        for (;;) {
                size_t child = 2 * i + 1;

                if (child >= s->n)
                        return;
                if (child + 1 < s->n && is_quicker(&s->ranks[child + 1], &s->ranks[child]))
                        child++;
                if (!is_quicker(&s->ranks[child], &s->ranks[i]))
                        return;
                SWAP(s->ranks[i], s->ranks[child]);
                i = child;
        }
}

int slowest_add(Slowest *s, uint64_t number, uint64_t duration_ns) {
        Rank rank = { duration_ns, number };

        if (s->n < s->n_wanted) {
                if (!ARRAY_GROW(s->ranks, s->n))
                        return -ENOMEM;
                s->ranks[s->n++] = rank;
                if (s->n == s->n_wanted)
                        for (size_t i = s->n / 2; i-- > 0;)
                                sink(s, i);
        } else if (is_quicker(&s->ranks[0], &rank)) {
                s->ranks[0] = rank;
                sink(s, 0);
        }
        return 0;
}

static int compare_numbers(const void *a, const void *b) {
        const Rank *x = a, *y = b;

        return x->number < y->number ? -1 : x->number > y->number;
}

void slowest_finish(Slowest *s) {
        if (s->n > 0)
                qsort(s->ranks, s->n, sizeof(*s->ranks), compare_numbers);
}

bool slowest_has(const Slowest *s, uint64_t number) {
        const Rank key = { .number = number };

        return s->n > 0 && bsearch(&key, s->ranks, s->n, sizeof(key), compare_numbers);
}

int slowest_new(Slowest **ret, uint64_t n_wanted) {
        Slowest *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->n_wanted = n_wanted;
        *ret = s;
        return 0;
}

Slowest *slowest_free(Slowest *s) {
        if (!s)
                return NULL;
        free(s->ranks);
        free(s);
        return NULL;
}
