/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A list of all that may go, in the order in which it goes: by class, then by calls.  Depths and the scheduler's inside
 * follow from callers, which are some of those there are. */

#include <errno.h>
#include <stdlib.h>

#include "daemon/lean/thinning.h"
#include "daemon/lean/waiting.h"

#define MAX_DEPTH 64

typedef enum Class {
        CLASS_IDLE_LEAF,
        CLASS_SCHEDULER,
        CLASS_LEAF,
        CLASS_CALLER,
        CLASS_WAITING,
} Class;

typedef struct Candidate {
        const char *name;
        uint64_t n_calls;
        Class class;
        unsigned depth;
} Candidate;

int load_keep(Load *now, const Load *before) {
        double scale =
                before->window_ns > 0 ? (double) now->window_ns / (double) before->window_ns : 0;

        return call_rates_keep(&now->rates, &before->rates, &now->counted, scale);
}

void load_done(Load *l) {
        call_rates_done(&l->rates);
        strv_done(&l->counted);
        *l = (Load){};
}

static int compare(const void *a, const void *b) {
        const Candidate *x = a, *y = b;

        if (x->class != y->class)
                return CMP(x->class, y->class);
        return x->n_calls != y->n_calls ? CMP(y->n_calls, x->n_calls) : strcmp(x->name, y->name);
}

typedef struct Place {
        unsigned depth; /* below the roots; MAX_DEPTH: not known */
        bool is_schedulers;
} Place;

static void look_at_callers(const LeanTree *t, Place *places, size_t i, bool *changed) {
        const LeanFunction *f = &t->functions[i];
        bool schedulers = f->callers.n > 0;

        for (size_t k = 0; k < f->callers.n; k++) {
                const LeanFunction *c = lean_tree_find(t, f->callers.items[k]);
                const Place *p = c ? &places[c - t->functions] : NULL;

                schedulers = schedulers && (waiting_is(f->callers.items[k], WAITING_SCHEDULER) ||
                                            (p && p->is_schedulers));
                if (p && p->depth + 1 < places[i].depth) {
                        places[i].depth = p->depth + 1;
                        *changed = true;
                }
        }
        if (schedulers && !places[i].is_schedulers)
                *changed = places[i].is_schedulers = true;
}

static Place *find_places(const LeanTree *t, const Strv *roots) {
        Place *places = calloc(t->n + 1, sizeof(*places));
        bool changed = true;

        for (size_t i = 0; places && i < t->n; i++)
                places[i].depth = strv_finds(roots, t->functions[i].name) ? 0 : MAX_DEPTH;
        for (unsigned turn = 0; places && changed && turn < MAX_DEPTH; turn++) {
                changed = false;
                for (size_t i = 0; i < t->n; i++)
                        look_at_callers(t, places, i, &changed);
        }
        return places;
}

static Class classify(const LeanFunction *f, const Place *p, const char *name) {
        if (waiting_is(name, WAITING_INTERRUPT) ||
            (f && (waiting_is(name, WAITING_SCHEDULER) || waiting_is(name, WAITING_OTHER))))
                return CLASS_WAITING;
        if (!f || (f->leaf && f->share_ppm < LEAN_PART_PPM))
                return CLASS_IDLE_LEAF;
        if (p->is_schedulers)
                return CLASS_SCHEDULER;
        return f->leaf ? CLASS_LEAF : CLASS_CALLER;
}

int thinning_choose(const LeanTree *tree, const Strv *hooked, const Strv *roots, const Load *load,
                    uint64_t budget_ppm, Strv *ret) {
        _cleanup_free_ Candidate *all = calloc(hooked->n + 1, sizeof(*all));
        _cleanup_free_ Place *places = find_places(tree, roots);
        size_t n_at[MAX_DEPTH + 1] = {}, n = 0;
        double sum = 0;

        if (!all || !places)
                return -ENOMEM;
        for (size_t i = 0; i < hooked->n; i++) {
                const char *name = hooked->items[i];
                const LeanFunction *f = lean_tree_find(tree, name);
                const Place *p = f ? &places[f - tree->functions] : NULL;
                Candidate c = { .name = name,
                                .n_calls = call_rates_get(&load->rates, name),
                                .class = classify(f, p, name),
                                .depth = p ? p->depth : MAX_DEPTH };

                if (strv_finds(roots, name) || strv_finds(ret, name))
                        continue;
                if (c.class == CLASS_CALLER)
                        n_at[c.depth]++;
                sum += (double) c.n_calls;
                if (c.n_calls > 0)
                        all[n++] = c;
        }
        qsort(all, n, sizeof(*all), compare);
        for (size_t i = 0; i < n && call_rates_cost_ppm(sum, load->window_ns, load->hook_ns) >
                                            (double) budget_ppm;
             i++) {
                int r;

                if (all[i].class == CLASS_CALLER && n_at[all[i].depth]-- == 1)
                        continue; /* the last one there */
                r = strv_add(ret, all[i].name);
                if (r < 0)
                        return r;
                sum -= (double) all[i].n_calls;
        }
        strv_sort_unique(ret);
        return 0;
}
