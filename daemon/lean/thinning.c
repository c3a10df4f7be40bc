/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A list of all that may go, in the order in which it goes: by class, then by calls.  Depths and the scheduler's inside
 * follow from callers, which are some of those there are. */

#include "base/array.h"
#include "daemon/lean/lean.h"

#define MAX_DEPTH 64

/* Names that end with "*" stand for all that begin so. */
static const struct {
        const char *name;
        size_t n_prefix; /* of what stands for all that begin so; else 0 */
        WaitingKind kind;
} waiting[] = {
#include "daemon/lean/waiting-functions.inc"
};

/* A load after the other, of each its functions, sorted by name. */
static const char loads[] =
#include "daemon/lean/loads.inc"
        ;

typedef enum Class {
        CLASS_IDLE_LEAF,
        CLASS_SCHEDULER,
        CLASS_LEAF,
        CLASS_CALLER,
        CLASS_WAITING,
} Class;

struct Rank {
        const char *name;
        Class class;
        unsigned depth;
        uint64_t n_calls; /* in a load */
};

/* --- how often ------------------------------------------------------------------------------- */

static uint64_t calls_of(const LeanTree *rates, const char *name) {
        const LeanFunction *f = lean_tree_find(rates, name);

        return f ? f->n_calls : 0;
}

void load_subtract(Load *l, const LeanTree *own) {
        for (size_t i = 0; i < l->rates.n; i++) {
                LeanFunction *f = &l->rates.functions[i];

                f->n_calls -= MIN(f->n_calls, calls_of(own, f->name));
        }
}

double load_cost_ppm(const Load *l, double n) {
        return n * (double) l->hook_ns / (double) MAX(l->window_ns, UINT64_C(1)) * 1e6;
}

int load_keep(Load *now, const Load *before) {
        int r = strv_pick(&now->out, &before->counted, &now->counted, false)
                        ?: strv_extend(&now->out, &before->out);

        strv_sort_unique(&now->out);
        return MIN(r, 0);
}

void load_done(Load *l) {
        lean_tree_done(&l->rates);
        strv_done(&l->counted);
        strv_done(&l->out);
        *l = (Load){};
}

/* --- where tasks wait ------------------------------------------------------------------------- */

static bool is_meant(size_t i, const char *name) {
        return *name == *waiting[i].name &&
               (waiting[i].n_prefix > 0 ? strncmp(waiting[i].name, name, waiting[i].n_prefix) == 0
                                        : streq(waiting[i].name, name));
}

int waiting_find(const Functions *f, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(waiting); i++)
                if (waiting[i].n_prefix == 0) {
                        if (functions_contain(f, waiting[i].name))
                                r = strv_add(ret, waiting[i].name);
                } else
                        for (size_t k =
                                     BISECT(0, f->n, j, strcmp(f->names[j], waiting[i].name) < 0);
                             r >= 0 && k < f->n && is_meant(i, f->names[k]); k++)
                                r = strv_add(ret, f->names[k]);
        strv_sort_unique(ret);
        return r;
}

bool waiting_is(const char *name, WaitingKind kind) {
        for (size_t i = 0; i < ELEMENTSOF(waiting); i++)
                if (waiting[i].kind == kind && is_meant(i, name))
                        return true;
        return false;
}

bool waiting_is_interrupt(const char *name) {
        return waiting_is(name, WAITING_INTERRUPT);
}

/* --- what goes -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
        const Rank *x = a, *y = b;

        if (x->class != y->class)
                return CMP(x->class, y->class);
        return x->n_calls != y->n_calls ? CMP(y->n_calls, x->n_calls) : strcmp(x->name, y->name);
}

typedef struct Place {
        unsigned depth;     /* below the roots; MAX_DEPTH: not known */
        bool is_scheduler;  /* what is below it is the scheduler's inside */
        bool is_schedulers; /* it is of that */
} Place;

/* A tree need not name its roots. */
static void look_at_callers(const LeanTree *t, const Strv *roots, Place *places, size_t i,
                            bool *changed) {
        const LeanFunction *f = &t->functions[i];
        bool schedulers = f->callers.n > 0;

        for (size_t k = 0; k < f->callers.n; k++) {
                const LeanFunction *c = lean_tree_find(t, f->callers.items[k]);
                const Place *p = c ? &places[c - t->functions]
                                 : strv_finds(roots, f->callers.items[k]) ? &(Place){}
                                                                          : NULL;

                schedulers = schedulers && (c ? p->is_scheduler || p->is_schedulers
                                              : waiting_is(f->callers.items[k], WAITING_SCHEDULER));
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
                places[i] = (Place){
                        .depth = strv_finds(roots, t->functions[i].name) ? 0 : MAX_DEPTH,
                        .is_scheduler = waiting_is(t->functions[i].name, WAITING_SCHEDULER),
                };
        for (unsigned turn = 0; places && changed && turn < MAX_DEPTH; turn++) {
                changed = false;
                for (size_t i = 0; i < t->n; i++)
                        look_at_callers(t, roots, places, i, &changed);
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

int thinning_rank(Ranks *ret, const LeanTree *tree, const Strv *hooked, const Strv *roots) {
        _cleanup_free_ Place *places = find_places(tree, roots);
        Rank *ranks = calloc(hooked->n + 1, sizeof(*ranks));
        size_t n = 0;

        if (!places || !ranks) {
                free(ranks);
                return -ENOMEM;
        }
        for (size_t i = 0; i < hooked->n; i++) {
                const char *name = hooked->items[i];
                const LeanFunction *f = lean_tree_find(tree, name);
                const Place *p = f ? &places[f - tree->functions] : NULL;

                if (!strv_finds(roots, name))
                        ranks[n++] =
                                (Rank){ name, classify(f, p, name), p ? p->depth : MAX_DEPTH, 0 };
        }
        *ret = (Ranks){ ranks, n };
        return 0;
}

void ranks_done(Ranks *r) {
        free(r->items);
        *r = (Ranks){};
}

int thinning_choose(const Ranks *ranks, const Load *load, uint64_t budget_ppm, Strv *ret) {
        _cleanup_free_ Rank *all = calloc(ranks->n + 1, sizeof(*all));
        size_t n_at[MAX_DEPTH + 1] = {}, n = 0;
        double sum = 0;

        if (!all)
                return -ENOMEM;
        for (size_t i = 0; i < ranks->n; i++) {
                Rank rank = ranks->items[i];

                if (strv_finds(ret, rank.name))
                        continue;
                if (rank.class == CLASS_CALLER)
                        n_at[rank.depth]++;
                rank.n_calls = calls_of(&load->rates, rank.name);
                sum += (double) rank.n_calls;
                if (rank.n_calls > 0)
                        all[n++] = rank;
        }
        qsort(all, n, sizeof(*all), compare);
        for (size_t i = 0; i < n && load_cost_ppm(load, sum) > (double) budget_ppm; i++) {
                const Rank *rank = &all[i];
                int r;

                if (rank->class == CLASS_CALLER && n_at[rank->depth]-- == 1)
                        continue; /* the last one there */
                r = strv_add(ret, rank->name);
                if (r < 0)
                        return r;
                sum -= (double) rank->n_calls;
        }
        strv_sort_unique(ret);
        return 0;
}

/* Up to the next load.  A rate is what the function's hook costs, in millionths of the load's time. */
static int read_load(const char **text, LeanTree *ret) {
        int r = 0;

        while (r >= 0 && **text && !startswith(*text, "load ")) {
                _cleanup_free_ char *name = strndup(*text, strcspn(*text, " "));

                if (!name)
                        return -ENOMEM;
                *text += strlen(name);
                r = lean_tree_add(ret, name, false, 0);
                if (r >= 0)
                        ret->functions[ret->n - 1].n_calls = strtoul(*text, (char **) text, 10);
                *text += **text == '\n';
        }
        return r;
}

int usual_loads_thin(const Ranks *ranks, const Strv *roots, uint64_t budget_ppm, Strv *ret) {
        int r = 0;

        for (const char *s = loads; r >= 0 && startswith(s, "load ");) {
                _cleanup_lean_tree_ LeanTree rates = {};
                bool is_roots = false;

                s += strcspn(s, "\n") + 1;
                r = read_load(&s, &rates);
                for (size_t i = 0; i < roots->n; i++)
                        is_roots = is_roots || calls_of(&rates, roots->items[i]) > 0;
                if (r >= 0 && !is_roots)
                        r = thinning_choose(ranks,
                                            &(Load){ .rates = rates,
                                                     .window_ns = UINT64_C(1000000),
                                                     .hook_ns = 1 },
                                            budget_ppm, ret);
        }
        return r;
}
