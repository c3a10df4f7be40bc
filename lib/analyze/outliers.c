/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each outermost call that is open has a tree of its own, known by its frame, the first on the stack.
 * When it has ended the tree is kept by the heap of the slowest, by its root's sample, by both, or
 * it is emptied and used again.  The sample is a reservoir: of n calls each stays with the chance
 * OUTLIERS_SAMPLES / n.
 *
 * Spans gather until there are twice as many as are kept; then the shorter half goes, and what is
 * shorter than all that stayed does not come any more.
 */

#include "analyze/chance.h"
#include "analyze/outliers.h"

typedef struct Root {
        const Function *function;
        Quantiles quantiles;
        Invocation *samples[OUTLIERS_SAMPLES];
        size_t n_samples;
        uint64_t n;
} Root;

struct Outliers {
        Invocation *all, *spare; /* all there are, and of them those that are in no use */
        Invocation **heap;       /* the fastest of them first */
        size_t n_heap, n_wanted;
        Root roots[OUTLIERS_ROOTS];
        size_t n_roots;
        uint64_t random;
        size_t n_spans;              /* of each that are kept; 0: none */
        InvocationSpan *spare_spans; /* room for twice as many; NULL: none */
};

/* --- invocations ------------------------------------------------------------------------------ */

/* An empty one; NULL without memory. */
static Invocation *take_spare(Outliers *s) {
        Invocation *v = s->spare;

        if (v) {
                s->spare = v->next_spare;
                return v;
        }
        v = calloc(1, sizeof(*v));
        if (!v || call_tree_new(&v->tree, NULL) < 0) {
                free(v);
                return NULL;
        }
        v->next = s->all;
        return s->all = v;
}

/* --- spans ------------------------------------------------------------------------------------ */

/* The longest first, of equal ones who called. */
static int compare_lengths(const void *a, const void *b) {
        const InvocationSpan *x = a, *y = b;

        return CMP(y->end_ns - y->begin_ns, x->end_ns - x->begin_ns) ?: CMP(x->level, y->level);
}

static int compare_beginnings(const void *a, const void *b) {
        const InvocationSpan *x = a, *y = b;

        return CMP(x->begin_ns, y->begin_ns) ?: CMP(x->level, y->level);
}

static void keep_longest(Invocation *v, size_t n) {
        if (v->n_spans <= n)
                return;
        qsort(v->spans, v->n_spans, sizeof(*v->spans), compare_lengths);
        v->n_spans_left_out += v->n_spans - n;
        v->n_spans = n;
}

static int add_span(Outliers *s, Invocation *v, const InvocationSpan *span) {
        if (!v->spans) {
                v->spans = TAKE_PTR(s->spare_spans) ?: calloc(2 * s->n_spans, sizeof(*v->spans));
                if (!v->spans)
                        return -ENOMEM;
        }
        /* After a cut the last one is the shortest that stayed. */
        if (v->n_spans_left_out > 0 && compare_lengths(span, &v->spans[s->n_spans - 1]) > 0) {
                v->n_spans_left_out++;
                return 0;
        }
        v->spans[v->n_spans++] = *span;
        if (v->n_spans == 2 * s->n_spans)
                keep_longest(v, s->n_spans);
        return 0;
}

static int waited(void *userdata, const CallWait *wait) {
        const Frame *f = wait->frame;
        InvocationSpan span = {
                .begin_ns = MAX(wait->wait->left_ns, f->begin_ns),
                .end_ns = MIN(wait->wait->back_ns, f->end_ns),
                .level = (int32_t) (f - wait->stack->frames) + 1,
                .waker = wait->wait->waker,
                .is_woken = wait->wait->woken_ns > 0,
                .is_forced = wait->wait->state == 'R',
        };

        if (span.begin_ns >= span.end_ns)
                return 0;
        return add_span(userdata, wait->stack->frames[0].more, &span);
}

void outliers_keep_spans(Outliers *s, Pairing *pairing, size_t n_spans) {
        s->n_spans = n_spans;
        pairing_place(pairing);
        pairing_set_wait(pairing, waited, s);
}

/* Of one that is only a sample: there are many of those. */
static void compact_spans(const Outliers *s, Invocation *v) {
        InvocationSpan *less;

        keep_longest(v, s->n_spans / 2);
        v->is_compact = true;
        less = v->n_spans > 0 ? realloc(v->spans, v->n_spans * sizeof(*less)) : NULL;
        v->spans = less ?: v->spans;
}

static void drop_spans(Outliers *s, Invocation *v) {
        if (!s->spare_spans && !v->is_compact)
                s->spare_spans = v->spans;
        else
                free(v->spans);
        v->spans = NULL;
        v->n_spans = v->n_spans_left_out = 0;
}

static void drop(Outliers *s, Invocation *v) {
        if (--v->n_uses > 0)
                return;
        drop_spans(s, v);
        call_tree_clear(v->tree);
        *v = (Invocation){ .tree = v->tree, .next = v->next, .next_spare = s->spare };
        s->spare = v;
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

static void offer_to_heap(Outliers *s, Invocation *v) {
        if (s->n_heap < s->n_wanted) {
                size_t i = s->n_heap++;

                v->n_uses++;
                v->is_slow = true;
                s->heap[i] = v;
                for (; i > 0 && is_less(s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2)
                        SWAP(s->heap[i], s->heap[(i - 1) / 2]);
                return;
        }
        if (s->n_wanted == 0 || !is_less(s->heap[0], v))
                return;
        v->n_uses++;
        v->is_slow = true;
        SWAP(v, s->heap[0]);
        sift_down(s, 0);
        v->is_slow = false;
        if (v->n_uses > 1 && s->n_spans > 0)
                compact_spans(s, v);
        drop(s, v);
}

/* Which of the roots; n_roots: it is none that is known. */
static size_t find_root(const Outliers *s, const Function *function) {
        size_t i = 0;

        while (i < s->n_roots && s->roots[i].function != function)
                i++;
        return i;
}

static int offer_to_sample(Outliers *s, Invocation *v) {
        size_t i = find_root(s, v->root);
        Root *root = &s->roots[i];
        uint64_t place;
        int r;

        if (i == OUTLIERS_ROOTS)
                return 0;
        root->function = v->root;
        s->n_roots = MAX(s->n_roots, i + 1);
        if (v->is_cut)
                return 0;
        r = quantiles_add(&root->quantiles, v->duration_ns);
        if (r < 0)
                return r;
        root->n++;
        place = root->n_samples < OUTLIERS_SAMPLES ? root->n_samples
                                                   : chance_random(&s->random) % root->n;
        if (place >= OUTLIERS_SAMPLES)
                return 0;
        v->n_uses++;
        if (place == root->n_samples) {
                root->samples[root->n_samples++] = v;
                return 0;
        }
        SWAP(v, root->samples[place]);
        drop(s, v);
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* What an outermost call's frame has is its invocation, other frames have their node. */
static CallNode *node_of(const Stack *stack, const Frame *frame) {
        const Invocation *v = stack->frames[0].more;

        return frame == stack->frames ? call_tree_root(v->tree)->children : frame->more;
}

static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        Outliers *s = userdata;
        Invocation *v = caller ? stack->frames[0].more : take_spare(s);
        CallNode *parent, *node;

        if (!v)
                return -ENOMEM;
        parent = caller ? node_of(stack, caller) : call_tree_root(v->tree);
        node = call_tree_child(v->tree, parent, frame->function);
        frame->more = caller ? (void *) node : v;
        if (!caller)
                v->number = frame->tree;
        return node ? 0 : -ENOMEM;
}

static int end(void *userdata, const Call *call) {
        Outliers *s = userdata;
        const Frame *f = call->frame;
        Invocation *v = call->stack->frames[0].more;
        int r;

        call_node_add(node_of(call->stack, f), call);
        if (s->n_spans > 0) {
                InvocationSpan span = {
                        .function = f->function,
                        .begin_ns = f->begin_ns,
                        .end_ns = f->end_ns,
                        .blocked_ns = call->blocked_ns,
                        .level = (int32_t) call->stack->n,
                        .in_irq = f->in_irq,
                        .is_cut = call->is_cut,
                };

                r = add_span(s, v, &span);
                if (r < 0)
                        return r;
        }
        if (!call->is_root)
                return 0;
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
        if (call->in_own_work) {
                drop(s, v);
                return 0;
        }
        offer_to_heap(s, v);
        r = offer_to_sample(s, v);
        if (v->n_uses > 1 && !v->is_slow && s->n_spans > 0)
                compact_spans(s, v);
        drop(s, v);
        return r;
}

/* --- afterwards ------------------------------------------------------------------------------- */

static int compare_invocations(const void *a, const void *b) {
        const Invocation *x = *(Invocation *const *) a, *y = *(Invocation *const *) b;

        return is_less(x, y) - is_less(y, x);
}

static int finish(const Outliers *s, Invocation *v) {
        keep_longest(v, s->n_spans);
        SORT(v->spans, v->n_spans, compare_beginnings);
        return call_tree_finish(v->tree);
}

int outliers_finish(Outliers *s) {
        int r = 0;

        if (s->n_heap > 0)
                qsort(s->heap, s->n_heap, sizeof(Invocation *), compare_invocations);
        for (size_t i = 0; i < s->n_heap && r >= 0; i++)
                r = finish(s, s->heap[i]);
        for (size_t i = 0; i < s->n_roots; i++)
                for (size_t k = 0; k < s->roots[i].n_samples && r >= 0; k++)
                        r = finish(s, s->roots[i].samples[k]);
        return r;
}

size_t outliers_n(const Outliers *s) {
        return s->n_heap;
}

const Invocation *outliers_get(const Outliers *s, size_t i) {
        return s->heap[i];
}

const Quantiles *outliers_quantiles(const Outliers *s, const Invocation *slow) {
        size_t i = find_root(s, slow->root);

        return i < s->n_roots && s->roots[i].quantiles.n > 0 ? &s->roots[i].quantiles : NULL;
}

const Invocation *outliers_usual(const Outliers *s, const Invocation *slow) {
        size_t i_root = find_root(s, slow->root);
        const Root *root = &s->roots[i_root];
        const Invocation *best = NULL;
        uint64_t median, least = UINT64_MAX;

        if (i_root == s->n_roots)
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

int outliers_new(Outliers **ret, Pairing *pairing, size_t n_wanted) {
        _cleanup_(outliers_freep) Outliers *s = NEW(Outliers, .random = 1, .n_wanted = n_wanted);

        if (s)
                s->heap = calloc(n_wanted, sizeof(Invocation *));
        if (!s || !s->heap)
                return -ENOMEM;
        pairing_add_sink(pairing, begin, end, s);
        *ret = TAKE_PTR(s);
        return 0;
}

Outliers *outliers_free(Outliers *s) {
        if (!s)
                return NULL;
        for (Invocation *v; (v = POP(s->all));) {
                call_tree_free(v->tree);
                free(v->spans);
                free(v);
        }
        for (size_t i = 0; i < s->n_roots; i++)
                quantiles_done(&s->roots[i].quantiles);
        free(s->spare_spans);
        free(s->heap);
        return mfree(s);
}
