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
                free(v->object);
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
        Invocation **slowest = s->slowest + (v->is_idle ? s->n_wanted : 0), *last;
        size_t *n = &s->n_slowest[v->is_idle], at = BISECT(0, *n, i, is_slower(slowest[i], v));

        if (at == s->n_wanted)
                return;
        last = *n < s->n_wanted ? NULL : slowest[*n - 1];
        *n += !last;
        memmove(slowest + at + 1, slowest + at, (*n - at - 1) * sizeof(*slowest));
        slowest[at] = v;
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
        Invocation **samples;
        uint64_t place, *n;
        int r;

        if (!root && s->n_roots == OUTLIERS_ROOTS)
                return 0;
        root = root ?: &s->roots[s->n_roots++];
        root->function = v->root;
        if (v->is_cut)
                return 0;
        r = quantiles_add(&root->all, v->duration_ns);
        if (r >= 0 && s->idle.is_wanted && !v->is_idle)
                r = quantiles_add(&root->busy, v->duration_ns);
        if (r < 0)
                return r;
        n = &root->n[v->is_idle];
        samples = root->samples[v->is_idle];
        place = (*n)++ < OUTLIERS_SAMPLES ? *n - 1 : chance_random(&s->random) % *n;
        if (place >= OUTLIERS_SAMPLES)
                return 0;
        v->n_uses++;
        SWAP(v, samples[place]);
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
        node = call_tree_enter(v->tree, parent, frame->way, frame->function);
        frame->more = caller ? (void *) node : v;
        return node ? 0 : -ENOMEM;
}

/* @v is @call, an outermost one: whether it is kept, or -ENOMEM. */
static int offer(Outliers *s, Invocation *v, const Call *call) {
        const Frame *f = call->frame;
        int r;

        v->n_uses = 1;
        v->root = f->function;
        v->number = f->tree;
        v->start_ns = f->start_ns;
        v->duration_ns = call->duration_ns;
        v->most_ns = call->most_ns;
        v->blocked_ns = f->blocked_ns + call->blocked_ns;
        v->irq_ns = f->irq_ns;
        v->cpu = call->cpu;
        v->pid = call->stack->pid;
        v->is_cut = call->is_cut;
        memcpy(v->comm, call->stack->comm, sizeof(v->comm));
        v->object = object_copy(f->object);
        if (f->object && !v->object)
                return -ENOMEM;
        v->callers = f->callers;
        v->program = f->program;
        r = idle_note(&s->idle, v->root, call);
        v->is_idle = r > 0;
        if (r < 0 || call->in_own_work)
                return MIN(r, 0);
        offer_to_slowest(s, v);
        r = offer_to_sample(s, v);
        return r < 0 ? r : v->n_uses > 1;
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
        r = offer(s, v, call);
        drop(s, v);
        return MIN(r, 0);
}

/* Only of those that are kept the tree is made. */
static int add_trees(void *userdata, const CallTrees *t) {
        Outliers *s = userdata;
        int r = 0;

        for (uint32_t first = 1, end; first < t->n && r >= 0; first = end) {
                Frame frame;
                Call call = call_trees_root(t, first, &frame);
                Invocation *v = take_spare(s);

                end = t->sums[call_trees_at(t, first)].end;
                r = v ? offer(s, v, &call) : -ENOMEM;
                if (r > 0)
                        r = call_tree_add(v->tree, t, first, end, false);
                if (v)
                        drop(s, v);
        }
        return MIN(r, 0);
}

/* --- afterwards ------------------------------------------------------------------------------- */

static int finish(const Outliers *s, Invocation *v) {
        keep_longest(v, s->n_spans);
        SORT(v->spans, v->n_spans, compare_beginnings);
        return call_tree_finish(v->tree);
}

/* The @i-th of those that are not left out; NULL: there are no more. */
static Invocation *sample_of(const Outliers *s, const Root *root, size_t i) {
        size_t n = MIN(root->n[0], (uint64_t) OUTLIERS_SAMPLES),
               n_idle = idle_is_left_out(&s->idle) ? 0
                                                   : MIN(root->n[1], (uint64_t) OUTLIERS_SAMPLES);

        return i < n ? root->samples[0][i] : i - n < n_idle ? root->samples[1][i - n] : NULL;
}

static int compare_slowness(const void *a, const void *b) {
        const Invocation *x = *(Invocation *const *) a, *y = *(Invocation *const *) b;

        return is_slower(x, y) ? -1 : 1;
}

/* Those that are idle go, or come among the others. */
static void choose(Outliers *s) {
        s->n = s->n_slowest[0];
        if (s->n_slowest[1] == 0 || idle_is_left_out(&s->idle))
                return;
        memmove(s->slowest + s->n, s->slowest + s->n_wanted, s->n_slowest[1] * sizeof(*s->slowest));
        s->n += s->n_slowest[1];
        qsort(s->slowest, s->n, sizeof(*s->slowest), compare_slowness);
        s->n = MIN(s->n, s->n_wanted);
}

int outliers_finish(Outliers *s) {
        Invocation *v;
        int r = 0;

        choose(s);
        for (size_t i = 0; i < s->n && r >= 0; i++)
                r = finish(s, s->slowest[i]);
        for (size_t i = 0; i < s->n_roots; i++)
                for (size_t k = 0; r >= 0 && (v = sample_of(s, &s->roots[i], k)); k++)
                        r = finish(s, v);
        return r;
}

const Quantiles *outliers_quantiles(const Outliers *s, const Invocation *slow) {
        const Root *root = find_root(s, slow->root);
        const Quantiles *q = !root ? NULL : idle_is_left_out(&s->idle) ? &root->busy : &root->all;

        return q && q->n > 0 ? q : NULL;
}

const Invocation *outliers_usual(const Outliers *s, const Invocation *slow) {
        const Root *root = find_root(s, slow->root);
        const Quantiles *q = outliers_quantiles(s, slow);
        uint64_t median = q ? quantiles_at(q, 500) : 0, least = UINT64_MAX;
        const Invocation *best = NULL, *v;

        for (size_t i = 0; q && (v = sample_of(s, root, i)); i++) {
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
                s->slowest = calloc(2 * n_wanted, sizeof(Invocation *));
        if (!s || !s->slowest)
                return -ENOMEM;
        pairing_add_sink_of_trees(pairing, begin, end, add_trees, s);
        *ret = TAKE_PTR(s);
        return 0;
}

Outliers *outliers_free(Outliers *s) {
        if (!s)
                return NULL;
        for (Invocation *v; (v = POP(s->all));) {
                call_tree_free(v->tree);
                free(v->spans);
                free(v->object);
                free(v);
        }
        for (size_t i = 0; i < s->n_roots; i++) {
                quantiles_done(&s->roots[i].all);
                quantiles_done(&s->roots[i].busy);
        }
        idle_done(&s->idle);
        free(s->slowest);
        return mfree(s);
}
