/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each outermost call that is open has a tree of its own, known by a number that its frames carry.
 * When it has ended the tree is kept by the heap of the slowest, by its root's sample, by both, or
 * it is emptied and used again.  The sample is a reservoir: of n calls each stays with the chance
 * OUTLIERS_SAMPLES / n.
 */

#include "analyze/outliers.h"
#include "base/grow.h"

typedef struct Root {
        const Function *function;
        Quantiles quantiles;
        Invocation *samples[OUTLIERS_SAMPLES];
        size_t n_samples;
        uint64_t n;
} Root;

struct Outliers {
        Invocation **open; /* by number - 1; NULL: free */
        size_t n_open;
        uint32_t *vacant; /* numbers of those that are free; room for n_open */
        size_t n_vacant;
        Invocation **spare;
        size_t n_spare, n_spare_room;
        Invocation **heap; /* the fastest of them first */
        size_t n_heap, n_wanted;
        Root roots[OUTLIERS_ROOTS];
        size_t n_roots;
        uint64_t n_begun, random;
};

/* --- invocations ------------------------------------------------------------------------------ */

static Invocation *invocation_free(Invocation *v) {
        if (!v)
                return NULL;
        call_tree_free(v->tree);
        free(v);
        return NULL;
}
DEFINE_CLEANUP(Invocation *, invocation_free);

static Invocation *take_spare(Outliers *s) {
        _cleanup_(invocation_freep) Invocation *v = NULL;

        if (s->n_spare > 0)
                return s->spare[--s->n_spare];
        v = calloc(1, sizeof(*v));
        if (!v || call_tree_new(&v->tree, NULL) < 0)
                return NULL;
        return TAKE_PTR(v);
}

static int give_back(Outliers *s, Invocation *v) {
        CallTree *tree = v->tree;

        if (!ARRAY_ROOM(s->spare, s->n_spare_room, s->n_spare + 1)) {
                invocation_free(v);
                return -ENOMEM;
        }
        call_tree_clear(tree);
        *v = (Invocation){ .tree = tree };
        s->spare[s->n_spare++] = v;
        return 0;
}

static int drop(Outliers *s, Invocation *v) {
        return --v->n_uses == 0 ? give_back(s, v) : 0;
}

static int make_vacant(Outliers *s) {
        size_t n = s->n_open ? s->n_open * 2 : 16;
        Invocation **p = realloc(s->open, n * sizeof(Invocation *));
        uint32_t *vacant;

        if (!p)
                return -ENOMEM;
        s->open = p;
        vacant = realloc(s->vacant, n * sizeof(*vacant));
        if (!vacant)
                return -ENOMEM;
        s->vacant = vacant;
        memset(p + s->n_open, 0, (n - s->n_open) * sizeof(Invocation *));
        while (s->n_open < n)
                s->vacant[s->n_vacant++] = (uint32_t) ++s->n_open;
        return 0;
}

/* The number of a new open invocation; 0 without memory. */
static uint32_t open_one(Outliers *s) {
        Invocation *v;

        if (s->n_vacant == 0 && make_vacant(s) < 0)
                return 0;
        v = take_spare(s);
        if (!v)
                return 0;
        s->open[s->vacant[s->n_vacant - 1] - 1] = v;
        return s->vacant[--s->n_vacant];
}

/* --- which are kept --------------------------------------------------------------------------- */

/* Faster is less; of two that are alike the later one is less. */
static bool is_less(const Invocation *a, const Invocation *b) {
        if (a->duration_ns != b->duration_ns)
                return a->duration_ns < b->duration_ns;
        return a->number > b->number;
}

static void sift_down(Outliers *s, size_t i) {
        for (;;) {
                size_t least = i, left = 2 * i + 1;

                for (size_t k = left; k < left + 2 && k < s->n_heap; k++)
                        if (is_less(s->heap[k], s->heap[least]))
                                least = k;
                if (least == i)
                        return;
                SWAP(s->heap[i], s->heap[least]);
                i = least;
        }
}

static int offer_to_heap(Outliers *s, Invocation *v) {
        Invocation *out;

        if (s->n_heap < s->n_wanted) {
                size_t i = s->n_heap++;

                v->n_uses++;
                s->heap[i] = v;
                for (; i > 0 && is_less(s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2)
                        SWAP(s->heap[i], s->heap[(i - 1) / 2]);
                return 0;
        }
        if (!is_less(s->heap[0], v))
                return 0;
        v->n_uses++;
        out = s->heap[0];
        s->heap[0] = v;
        sift_down(s, 0);
        return drop(s, out);
}

static Root *root_of(Outliers *s, const Function *function) {
        for (size_t i = 0; i < s->n_roots; i++)
                if (s->roots[i].function == function)
                        return &s->roots[i];
        if (s->n_roots == OUTLIERS_ROOTS)
                return NULL;
        s->roots[s->n_roots].function = function;
        return &s->roots[s->n_roots++];
}

/* The same for the same recording. */
static uint64_t next_random(Outliers *s) {
        s->random ^= s->random << 13;
        s->random ^= s->random >> 7;
        s->random ^= s->random << 17;
        return s->random;
}

static int offer_to_sample(Outliers *s, Invocation *v) {
        Root *root = root_of(s, v->root);
        uint64_t place;
        int r;

        if (!root || v->is_cut)
                return 0;
        r = quantiles_add(&root->quantiles, v->duration_ns);
        if (r < 0)
                return r;
        root->n++;
        place = root->n_samples < OUTLIERS_SAMPLES ? root->n_samples : next_random(s) % root->n;
        if (place >= OUTLIERS_SAMPLES)
                return 0;
        v->n_uses++;
        if (place == root->n_samples) {
                root->samples[root->n_samples++] = v;
                return 0;
        }
        SWAP(v, root->samples[place]);
        return drop(s, v);
}

/* --- calls ------------------------------------------------------------------------------------ */

static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Outliers *s = userdata;
        CallNode *parent;

        (void) stack;
        if (caller) {
                frame->user = caller->user;
                parent = caller->data;
        } else {
                frame->user = open_one(s);
                if (frame->user == 0)
                        return -ENOMEM;
                s->open[frame->user - 1]->number = ++s->n_begun;
                parent = call_tree_root(s->open[frame->user - 1]->tree);
        }
        frame->data = call_tree_child(s->open[frame->user - 1]->tree, parent, frame->function);
        return frame->data ? 0 : -ENOMEM;
}

static int end(void *userdata, const Call *call) {
        Outliers *s = userdata;
        const Frame *f = call->frame;
        Invocation *v = s->open[f->user - 1];
        int r;

        call_node_add(f->data, call);
        if (!call->is_root)
                return 0;
        s->open[f->user - 1] = NULL;
        s->vacant[s->n_vacant++] = f->user;
        v->root = f->function;
        v->start_ns = f->start_ns;
        v->duration_ns = call->duration_ns;
        v->blocked_ns = f->blocked_ns + call->blocked_ns;
        v->irq_ns = f->irq_ns;
        v->cpu = call->cpu;
        v->pid = call->stack->pid;
        v->is_cut = call->is_cut;
        memcpy(v->comm, call->stack->comm, sizeof(v->comm));
        v->n_uses = 1;
        r = offer_to_heap(s, v);
        if (r >= 0)
                r = offer_to_sample(s, v);
        return r < 0 ? r : drop(s, v);
}

/* --- afterwards ------------------------------------------------------------------------------- */

static int compare_invocations(const void *a, const void *b) {
        const Invocation *x = *(Invocation *const *) a, *y = *(Invocation *const *) b;

        return is_less(x, y) ? 1 : is_less(y, x) ? -1 : 0;
}

int outliers_finish(Outliers *s) {
        int r = 0;

        if (s->n_heap > 0)
                qsort(s->heap, s->n_heap, sizeof(Invocation *), compare_invocations);
        for (size_t i = 0; i < s->n_heap && r >= 0; i++)
                r = call_tree_finish(s->heap[i]->tree);
        for (size_t i = 0; i < s->n_roots; i++)
                for (size_t k = 0; k < s->roots[i].n_samples && r >= 0; k++)
                        r = call_tree_finish(s->roots[i].samples[k]->tree);
        return r;
}

size_t outliers_n(const Outliers *s) {
        return s->n_heap;
}

const Invocation *outliers_get(const Outliers *s, size_t i) {
        return s->heap[i];
}

static const Root *find_root(const Outliers *s, const Function *function) {
        for (size_t i = 0; i < s->n_roots; i++)
                if (s->roots[i].function == function)
                        return &s->roots[i];
        return NULL;
}

const Quantiles *outliers_quantiles(const Outliers *s, const Invocation *slow) {
        const Root *root = find_root(s, slow->root);

        return root && root->quantiles.n > 0 ? &root->quantiles : NULL;
}

const Invocation *outliers_usual(const Outliers *s, const Invocation *slow) {
        const Root *root = find_root(s, slow->root);
        const Invocation *best = NULL;
        uint64_t median, least = UINT64_MAX;

        if (!root)
                return NULL;
        median = quantiles_at(&root->quantiles, 500);
        for (size_t i = 0; i < root->n_samples; i++) {
                const Invocation *v = root->samples[i];
                uint64_t distance =
                        v->duration_ns > median ? v->duration_ns - median : median - v->duration_ns;

                if (v != slow && distance < least) {
                        best = v;
                        least = distance;
                }
        }
        return best;
}

static int compare_functions(const void *a, const void *b) {
        const Difference *x = a, *y = b;

        return (x->function > y->function) - (x->function < y->function);
}

static uint64_t change(const Difference *d) {
        return d->self_ns > d->usual_self_ns ? d->self_ns - d->usual_self_ns
                                             : d->usual_self_ns - d->self_ns;
}

static int compare_differences(const void *a, const void *b) {
        const Difference *x = a, *y = b;

        if (change(x) != change(y))
                return change(x) < change(y) ? 1 : -1;
        return strcmp(x->function->label, y->function->label);
}

static size_t list_functions(Difference *list, const Invocation *v, bool is_usual) {
        const CallNode *root = call_tree_root(v->tree);
        size_t n = 0;

        for (const CallNode *c = call_node_next(root, root); c; c = call_node_next(root, c))
                list[n++] = (Difference){
                        .function = c->function,
                        .self_ns = is_usual ? 0 : c->self_ns,
                        .n = is_usual ? 0 : c->n,
                        .usual_self_ns = is_usual ? c->self_ns : 0,
                        .n_usual = is_usual ? c->n : 0,
                };
        return n;
}

int outliers_compare(Difference **ret, size_t *ret_n, const Invocation *slow,
                     const Invocation *usual) {
        size_t n_room = call_tree_n_nodes(slow->tree) + call_tree_n_nodes(usual->tree), n, k = 0;
        Difference *list = calloc(n_room + 1, sizeof(*list));

        if (!list)
                return -ENOMEM;
        n = list_functions(list, slow, false);
        n += list_functions(list + n, usual, true);
        qsort(list, n, sizeof(*list), compare_functions);
        for (size_t i = 1; i < n; i++)
                if (list[i].function == list[k].function) {
                        list[k].self_ns += list[i].self_ns;
                        list[k].usual_self_ns += list[i].usual_self_ns;
                        list[k].n += list[i].n;
                        list[k].n_usual += list[i].n_usual;
                } else
                        list[++k] = list[i];
        n = n > 0 ? k + 1 : 0;
        qsort(list, n, sizeof(*list), compare_differences);
        *ret = list;
        *ret_n = n;
        return 0;
}

int outliers_new(Outliers **ret, Pairing *pairing, size_t n_wanted) {
        _cleanup_(outliers_freep) Outliers *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->random = 1;
        s->n_wanted = n_wanted;
        s->heap = calloc(n_wanted, sizeof(Invocation *));
        if (!s->heap)
                return -ENOMEM;
        pairing_add_sink(pairing, begin, end, s);
        *ret = TAKE_PTR(s);
        return 0;
}

static void let_go(Invocation *v) {
        if (v && --v->n_uses == 0)
                invocation_free(v);
}

Outliers *outliers_free(Outliers *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_open; i++)
                invocation_free(s->open[i]);
        for (size_t i = 0; i < s->n_spare; i++)
                invocation_free(s->spare[i]);
        for (size_t i = 0; i < s->n_heap; i++)
                let_go(s->heap[i]);
        for (size_t i = 0; i < s->n_roots; i++) {
                for (size_t k = 0; k < s->roots[i].n_samples; k++)
                        let_go(s->roots[i].samples[k]);
                quantiles_done(&s->roots[i].quantiles);
        }
        free(s->open);
        free(s->vacant);
        free(s->spare);
        free(s->heap);
        free(s);
        return NULL;
}
