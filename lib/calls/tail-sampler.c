/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One list of all steps that wait, and for each tree that is undecided a chain of its own through
 * the same entries:
 *
 *      first   a{  -  b{  -  a.  -  !  -  b}   last
 *      tree a  a{  -  a.
 *      tree b  b{  -  b}
 *
 * A tree that is kept leaves its entries where they are, as if they had never been in one.
 */

#include "calls/step-copy.h"
#include "calls/tail-sampler.h"

typedef struct Waiting Waiting;
struct Waiting {
        Waiting *next, *previous; /* of all */
        Waiting *next_in_tree;
        SampledTree *tree; /* NULL: may go */
        Step *step;        /* behind this */
};

struct SampledTree {
        Waiting *first, *last;
        bool is_kept; /* decided before its end */
};

struct TailSampler {
        Waiting *first, *last;
        Waiting *handed; /* what tail_sampler_pop() gave last */
        size_t n_waiting, n_max;
        uint64_t min_ns;
};

int tail_sampler_new(TailSampler **ret, size_t n_max, uint64_t min_ns) {
        *ret = NEW(TailSampler, .n_max = n_max, .min_ns = min_ns);
        return *ret ? 0 : -ENOMEM;
}

SampledTree *tail_sampler_begin(void) {
        return calloc(1, sizeof(SampledTree));
}

int tail_sampler_push(TailSampler *t, SampledTree *tree, const Step *step) {
        Step *copy;
        Waiting *w = step_copy(step, sizeof(*w), &copy);

        if (!w)
                return -ENOMEM;
        *w = (Waiting){ .previous = t->last, .step = copy };
        *(t->last ? &t->last->next : &t->first) = w;
        t->last = w;
        t->n_waiting++;
        if (!tree || tree->is_kept)
                return 0;
        w->tree = tree;
        *(tree->last ? &tree->last->next_in_tree : &tree->first) = w;
        tree->last = w;
        return 0;
}

static void unlink_waiting(TailSampler *t, Waiting *w) {
        *(w->previous ? &w->previous->next : &t->first) = w->next;
        *(w->next ? &w->next->previous : &t->last) = w->previous;
        t->n_waiting--;
}

static void decide(TailSampler *t, SampledTree *tree, bool is_kept) {
        Waiting *next;

        for (Waiting *w = tree->first; w; w = next) {
                next = w->next_in_tree;
                w->tree = NULL;
                if (!is_kept) {
                        unlink_waiting(t, w);
                        free(w);
                }
        }
        tree->first = tree->last = NULL;
        tree->is_kept = is_kept;
}

bool tail_sampler_end(TailSampler *t, SampledTree *tree, bool is_kept) {
        is_kept |= tree->is_kept;
        decide(t, tree, is_kept);
        free(tree);
        return is_kept;
}

bool tail_sampler_pop(TailSampler *t, uint64_t now_ns, Step *ret) {
        Waiting *w = t->first;

        free(TAKE_PTR(t->handed));
        if (!w)
                return false;
        if (w->tree) {
                if (t->n_waiting < t->n_max || now_ns - w->step->timestamp_ns < t->min_ns)
                        return false;
                decide(t, w->tree, true);
        }
        unlink_waiting(t, w);
        t->handed = w;
        *ret = *w->step;
        return true;
}

TailSampler *tail_sampler_free(TailSampler *t) {
        if (!t)
                return NULL;
        for (Waiting *w; (w = POP(t->first));)
                free(w);
        free(t->handed);
        return mfree(t);
}
