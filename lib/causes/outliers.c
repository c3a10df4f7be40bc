/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each outermost call that is open has a tree of its own, known by its frame, the first on the stack.
 * When it has ended the tree is kept among the slowest, by its root's sample, by both, or it is emptied and used again.
 * The sample is a reservoir: of n calls each stays with the chance OUTLIERS_SAMPLES / n.
 *
 * Spans gather until there are twice as many as are kept; then the shorter half goes, and what is
 * shorter than all that stayed does not come any more.
 */

#include "base/array.h"
#include "causes/chance.h"
#include "causes/outliers.h"

typedef struct OutlierRoot Root;

/* An empty one; NULL without memory. */
static Invocation *take_spare(Outliers *s) {
        Invocation *v = s->spare;

        if (v) {
                s->spare = v->next_spare;
                return v;
        }
        v = calloc(1, sizeof(*v));
        if (!v || call_tree_new(&v->tree, NULL) < 0)
                return mfree(v);
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

static int add_span(const Outliers *s, Invocation *v, const InvocationSpan *span) {
        /* After a cut the last one is the shortest that stayed. */
        if (v->n_spans_left_out > 0 && compare_lengths(span, &v->spans[s->n_spans - 1]) > 0) {
                v->n_spans_left_out++;
                return 0;
        }
        if (!ARRAY_ROOM(v->spans, v->n_spans_room, v->n_spans + 1))
                return -ENOMEM;
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
        pairing->places = true;
        pairing_set_wait(pairing, waited, s);
}

/* --- which are kept --------------------------------------------------------------------------- */

/* One that is only a sample has less room, for there are many of those. */
static void drop(Outliers *s, Invocation *v) {
        InvocationSpan *less;

        if (--v->n_uses == 0) {
                free(v->spans);
                call_tree_clear(v->tree);
                *v = (Invocation){ .tree = v->tree, .next = v->next, .next_spare = s->spare };
                s->spare = v;
                return;
        }
        if (v->is_slow || v->n_spans == 0)
                return;
        keep_longest(v, s->n_spans / 2);
        less = realloc(v->spans, v->n_spans * sizeof(*less));
        v->spans = less ?: v->spans;
}

/* Of two that are alike the earlier one is slower. */
static bool is_slower(const Invocation *a, const Invocation *b) {
        return a->duration_ns != b->duration_ns ? a->duration_ns > b->duration_ns
                                                : a->number < b->number;
}

static void offer_to_slowest(Outliers *s, Invocation *v) {
        size_t at = BISECT(0, s->n, i, is_slower(s->slowest[i], v));
        Invocation *last;

        if (at == s->n_wanted)
                return;
        last = s->n < s->n_wanted ? NULL : s->slowest[s->n - 1];
        s->n += !last;
        memmove(s->slowest + at + 1, s->slowest + at, (s->n - at - 1) * sizeof(*s->slowest));
        s->slowest[at] = v;
        v->n_uses++;
        v->is_slow = true;
        if (last) {
                last->is_slow = false;
                drop(s, last);
        }
}

/* NULL: it is none that is known. */
static const Root *find_root(const Outliers *s, const Function *function) {
        for (size_t i = 0; i < s->n_roots; i++)
                if (s->roots[i].function == function)
                        return &s->roots[i];
        return NULL;
}

static int offer_to_sample(Outliers *s, Invocation *v) {
        Root *root = (Root *) find_root(s, v->root);
        uint64_t place;

        if (!root && s->n_roots == OUTLIERS_ROOTS)
                return 0;
        root = root ?: &s->roots[s->n_roots++];
        root->function = v->root;
        if (v->is_cut)
                return 0;
        if (quantiles_add(&root->quantiles, v->duration_ns) < 0)
                return -ENOMEM;
        place = root->n++ < OUTLIERS_SAMPLES ? root->n - 1 : chance_random(&s->random) % root->n;
        if (place >= OUTLIERS_SAMPLES)
                return 0;
        v->n_uses++;
        SWAP(v, root->samples[place]);
        if (v)
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
        v->most_ns = call->most_ns;
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
        offer_to_slowest(s, v);
        r = offer_to_sample(s, v);
        drop(s, v);
        return r;
}

/* --- afterwards ------------------------------------------------------------------------------- */

static int finish(const Outliers *s, Invocation *v) {
        keep_longest(v, s->n_spans);
        SORT(v->spans, v->n_spans, compare_beginnings);
        return call_tree_finish(v->tree);
}

static size_t n_samples(const Root *root) {
        return MIN(root->n, (uint64_t) OUTLIERS_SAMPLES);
}

int outliers_finish(Outliers *s) {
        int r = 0;

        for (size_t i = 0; i < s->n && r >= 0; i++)
                r = finish(s, s->slowest[i]);
        for (size_t i = 0; i < s->n_roots; i++)
                for (size_t k = 0; k < n_samples(&s->roots[i]) && r >= 0; k++)
                        r = finish(s, s->roots[i].samples[k]);
        return r;
}

const Quantiles *outliers_quantiles(const Outliers *s, const Invocation *slow) {
        const Root *root = find_root(s, slow->root);

        return root && root->n > 0 ? &root->quantiles : NULL;
}

const Invocation *outliers_usual(const Outliers *s, const Invocation *slow) {
        const Root *root = find_root(s, slow->root);
        uint64_t median = root ? quantiles_at(&root->quantiles, 500) : 0, least = UINT64_MAX;
        const Invocation *best = NULL;

        for (size_t i = 0; root && i < n_samples(root); i++) {
                const Invocation *v = root->samples[i];
                uint64_t distance = MAX(v->duration_ns, median) - MIN(v->duration_ns, median);

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
                s->slowest = calloc(n_wanted, sizeof(Invocation *));
        if (!s || !s->slowest)
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
        free(s->slowest);
        return mfree(s);
}
