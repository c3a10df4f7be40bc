/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A child is found by a guess, or else in a hash of parents and functions.  The guesses are the
 * child that was entered last, and the one that came after it the last time: code that runs again
 * runs in the same order.
 *
 * Where only ends were recorded, a call comes after those below it.  These wait, in nodes that
 * nobody has found yet, in a list of levels at their task, the deepest last; an end takes those of
 * greater depths for its children.  What still waits at the end had no caller.
 */

#include "analyze/call-tree.h"

#define CHUNK_NODES 64
#define SLOTS_FIRST 256

typedef struct Chunk {
        struct Chunk *next;
        CallNode nodes[CHUNK_NODES];
} Chunk;

/* Calls without a caller at one depth. */
typedef struct Level {
        int32_t depth;
        CallNode *top; /* its children are these calls; those with n 0 are left from former ones */
} Level;

typedef struct Waiting {
        Level *levels;
        size_t n;
        size_t n_tops; /* the tops behind the first n are free */
        size_t n_room;
} Waiting;

struct CallTree {
        CallNode root;
        Chunk *chunks; /* the first is the one that is being filled */
        size_t n_in_chunk, n_nodes, n_hashed;
        CallNode **slots; /* by parent and function */
        size_t n_slots;   /* a power of two, at least twice n_hashed */
        Waiting *waiting; /* by a stack's number - 1 */
        uint32_t n_waiting;
};

/* --- nodes ------------------------------------------------------------------------------------ */

static size_t find_slot(CallNode *const *slots, size_t n, const CallNode *parent,
                        const Function *function) {
        uint64_t x = ((uintptr_t) parent >> 4) * UINT64_C(0x9e3779b97f4a7c15) ^
                     ((uintptr_t) function >> 4);
        size_t i;

        x *= UINT64_C(0xff51afd7ed558ccd);
        i = (size_t) (x ^ x >> 32) & (n - 1);
        while (slots[i] && (slots[i]->function != function || slots[i]->parent != parent))
                i = (i + 1) & (n - 1);
        return i;
}

static int grow_slots(CallTree *t) {
        size_t n = t->n_slots ? t->n_slots * 2 : SLOTS_FIRST;
        CallNode **slots = calloc(n, sizeof(CallNode *));

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < t->n_slots; i++)
                if (t->slots[i])
                        slots[find_slot(slots, n, t->slots[i]->parent, t->slots[i]->function)] =
                                t->slots[i];
        free(t->slots);
        t->slots = slots;
        t->n_slots = n;
        return 0;
}

static CallNode *new_node(CallTree *t) {
        if (!t->chunks || t->n_in_chunk == CHUNK_NODES) {
                Chunk *c = malloc(sizeof(*c));

                if (!c)
                        return NULL;
                c->next = t->chunks;
                t->chunks = c;
                t->n_in_chunk = 0;
        }
        return &t->chunks->nodes[t->n_in_chunk++];
}

static CallNode *look_up(CallTree *t, CallNode *parent, const Function *function) {
        CallNode *node;
        size_t i;

        if (t->n_hashed >= t->n_slots / 2 && grow_slots(t) < 0)
                return NULL;
        i = find_slot(t->slots, t->n_slots, parent, function);
        if (t->slots[i])
                return t->slots[i];
        node = new_node(t);
        if (!node)
                return NULL;
        *node = (CallNode){
                .function = function,
                .parent = parent,
                .next = parent->children,
                .level = parent->level + 1,
                .min_ns = UINT64_MAX,
        };
        parent->children = node;
        t->slots[i] = node;
        t->n_hashed++;
        return node;
}

CallNode *call_tree_child(CallTree *t, CallNode *parent, const Function *function) {
        CallNode *recent = parent->recent, *node;

        if (recent && recent->after && recent->after->function == function)
                node = recent->after;
        else if (recent && recent->function == function)
                node = recent;
        else
                node = look_up(t, parent, function);
        if (!node)
                return NULL;
        if (recent)
                recent->after = node;
        parent->recent = node;
        return node;
}

static void add_figures(CallNode *to, const CallNode *from) {
        to->n += from->n;
        to->n_cut += from->n_cut;
        to->self_ns += from->self_ns;
        to->blocked_ns += from->blocked_ns;
        to->min_ns = MIN(to->min_ns, from->min_ns);
        to->max_ns = MAX(to->max_ns, from->max_ns);
        to->is_irq |= from->is_irq;
        to->in_irq |= from->in_irq;
}

int call_tree_merge(CallTree *t, CallNode *to, const CallNode *from) {
        const CallNode *last = from, *node = call_node_next(from, from);
        CallNode *at = to;

        while (node) {
                if (node->n == 0) {
                        node = call_node_skip(from, node);
                        continue;
                }
                for (; last != node->parent; last = last->parent)
                        at = at->parent;
                at = call_tree_child(t, at, node->function);
                if (!at)
                        return -ENOMEM;
                add_figures(at, node);
                last = node;
                node = call_node_next(from, node);
        }
        return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

static int begin(void *userdata, const Stack *stack, const Frame *caller, Frame *frame,
                 const Step *step) {
        CallTree *t = userdata;

        (void) step;
        if (!caller && !stack->has_called)
                return 0; /* it is an end, and end() finds its place */
        frame->data = call_tree_child(t, caller ? caller->data : &t->root, frame->function);
        return frame->data ? 0 : -ENOMEM;
}

void call_node_add(CallNode *node, const Call *call) {
        node->n++;
        node->self_ns += call->self_ns;
        node->blocked_ns += call->blocked_ns;
        node->is_irq |= call->frame->role == ROLE_IRQ;
        node->in_irq |= call->frame->in_irq;
        if (call->is_cut) {
                node->n_cut++;
                return;
        }
        node->min_ns = MIN(node->min_ns, call->duration_ns);
        node->max_ns = MAX(node->max_ns, call->duration_ns);
}

static Waiting *waiting_of(CallTree *t, Stack *stack) {
        if (stack->number == 0) {
                Waiting *p = realloc(t->waiting, (t->n_waiting + 1) * sizeof(*p));

                if (!p)
                        return NULL;
                t->waiting = p;
                p[t->n_waiting] = (Waiting){};
                stack->number = ++t->n_waiting;
        }
        return &t->waiting[stack->number - 1];
}

/* Room for another level, with a top. */
static int reserve_level(CallTree *t, Waiting *w) {
        if (w->n < w->n_tops)
                return 0;
        if (w->n == w->n_room) {
                size_t n = w->n_room ? w->n_room * 2 : 8;
                Level *p = realloc(w->levels, n * sizeof(*p));

                if (!p)
                        return -ENOMEM;
                w->levels = p;
                w->n_room = n;
        }
        w->levels[w->n].top = new_node(t);
        if (!w->levels[w->n].top)
                return -ENOMEM;
        *w->levels[w->n].top = (CallNode){};
        w->n_tops++;
        return 0;
}

/* Merges what waits at @level into @to, and leaves nothing there. */
static int take_level(CallTree *t, CallNode *to, const Level *level) {
        int r = call_tree_merge(t, to, level->top);

        for (CallNode *n = level->top; n; n = (CallNode *) call_node_next(level->top, n)) {
                n->n = n->n_cut = n->self_ns = n->blocked_ns = n->max_ns = 0;
                n->min_ns = UINT64_MAX;
        }
        return r;
}

/* An end that is the first that is known of its call, in a task of which only ends are known. */
static int add_end(CallTree *t, const Call *call) {
        Waiting *w = waiting_of(t, call->stack);
        int32_t depth = call->frame->depth;
        CallNode *own;
        size_t i;
        int r = w ? reserve_level(t, w) : -ENOMEM;

        if (r < 0)
                return r;
        for (i = w->n; i > 0 && w->levels[i - 1].depth > depth; i--)
                ;
        if (i == 0 || w->levels[i - 1].depth < depth) {
                Level level = w->levels[w->n];

                memmove(&w->levels[i + 1], &w->levels[i], (w->n - i) * sizeof(level));
                level.depth = depth;
                w->levels[i++] = level;
                w->n++;
        }
        own = call_tree_child(t, w->levels[i - 1].top, call->frame->function);
        if (!own)
                return -ENOMEM;
        call_node_add(own, call);
        for (size_t k = i; k < w->n && r >= 0; k++)
                r = take_level(t, own, &w->levels[k]);
        w->n = i;
        return r;
}

static int end(void *userdata, const Call *call) {
        CallTree *t = userdata;

        if (!call->frame->data)
                return add_end(t, call);
        call_node_add(call->frame->data, call);
        return 0;
}

/* --- afterwards ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
        const CallNode *x = *(CallNode *const *) a, *y = *(CallNode *const *) b;

        if (x->total_ns != y->total_ns)
                return x->total_ns < y->total_ns ? 1 : -1;
        return strcmp(x->function->label, y->function->label);
}

/* Every node's children; @room holds as many as any has. */
static void sort_children(CallNode *parent, CallNode **room) {
        size_t n = 0;

        for (CallNode *c = parent->children; c; c = c->next)
                room[n++] = c;
        if (n < 2)
                return;
        qsort(room, n, sizeof(*room), compare);
        parent->children = room[0];
        for (size_t i = 0; i < n; i++)
                room[i]->next = i + 1 < n ? room[i + 1] : NULL;
}

/* Totals, from the bottom up. */
static void add_up(CallNode *root) {
        CallNode *node = root;

        for (CallNode *n = root; n; n = (CallNode *) call_node_next(root, n))
                n->total_ns = n->n_below = 0;
        for (;;) {
                while (node->children)
                        node = node->children;
                for (;;) {
                        node->total_ns += node->self_ns;
                        if (node == root)
                                return;
                        node->parent->total_ns += node->total_ns;
                        node->parent->n_below += node->n_below + node->n;
                        if (node->next)
                                break;
                        node = node->parent;
                }
                node = node->next;
        }
}

static int sort(CallTree *t) {
        CallNode **room = calloc(t->n_hashed + 1, sizeof(CallNode *));

        if (!room)
                return -ENOMEM;
        t->n_nodes = 0;
        for (CallNode *n = &t->root; n; n = (CallNode *) call_node_next(&t->root, n)) {
                sort_children(n, room);
                t->n_nodes += n != &t->root;
        }
        free(room);
        return 0;
}

int call_tree_finish(CallTree *t) {
        int r = 0;

        for (uint32_t i = 0; i < t->n_waiting; i++) {
                Waiting *w = &t->waiting[i];

                for (; w->n > 0 && r >= 0; w->n--)
                        r = take_level(t, &t->root, &w->levels[w->n - 1]);
        }
        if (r < 0)
                return r;
        add_up(&t->root);
        return sort(t);
}

CallNode *call_tree_root(CallTree *t) {
        return &t->root;
}

size_t call_tree_n_nodes(const CallTree *t) {
        return t->n_nodes;
}

int call_tree_new(CallTree **ret, Pairing *pairing) {
        CallTree *t = calloc(1, sizeof(*t));

        if (!t)
                return -ENOMEM;
        t->root.min_ns = UINT64_MAX;
        if (pairing)
                pairing_add_sink(pairing, begin, end, t);
        *ret = t;
        return 0;
}

static void free_chunks(CallTree *t, Chunk *but) {
        while (t->chunks && t->chunks != but) {
                Chunk *c = t->chunks;

                t->chunks = c->next;
                free(c);
        }
}

void call_tree_clear(CallTree *t) {
        Chunk *first = t->chunks;

        while (first && first->next)
                first = first->next;
        free_chunks(t, first);
        if (t->n_slots > SLOTS_FIRST) {
                free(TAKE_PTR(t->slots));
                t->n_slots = 0;
        } else if (t->slots)
                memset(t->slots, 0, t->n_slots * sizeof(CallNode *));
        t->n_in_chunk = t->n_nodes = t->n_hashed = 0;
        t->root = (CallNode){ .min_ns = UINT64_MAX };
}

CallTree *call_tree_free(CallTree *t) {
        if (!t)
                return NULL;
        for (uint32_t i = 0; i < t->n_waiting; i++)
                free(t->waiting[i].levels);
        free(t->waiting);
        free(t->slots);
        free_chunks(t, NULL);
        free(t);
        return NULL;
}

const CallNode *call_node_skip(const CallNode *top, const CallNode *node) {
        while (node != top && !node->next)
                node = node->parent;
        return node == top ? NULL : node->next;
}

const CallNode *call_node_next(const CallNode *top, const CallNode *node) {
        return node->children ?: call_node_skip(top, node);
}

/* --- upside down ------------------------------------------------------------------------------ */

/* @node's calls, by the way that they came. */
static int add_way(CallTree *t, const CallNode *node, bool is_nested) {
        CallNode *at = call_tree_child(t, &t->root, node->function);

        t->root.n += node->n;
        t->root.total_ns += is_nested ? 0 : node->total_ns;
        t->root.self_ns += node->self_ns;
        for (const CallNode *up = node; at; up = up->parent) {
                add_figures(at, node);
                at->total_ns += is_nested ? 0 : node->total_ns;
                at->n_below += node->n_below;
                if (!up->parent->function)
                        return 0;
                at = call_tree_child(t, at, up->parent->function);
        }
        return -ENOMEM;
}

int call_tree_callers(CallTree **ret, CallTree *t,
                      bool (*wants)(void *userdata, const Function *function), void *userdata) {
        _cleanup_(call_tree_freep) CallTree *turned = NULL;
        int r = call_tree_new(&turned, NULL);

        for (const CallNode *n = call_node_next(&t->root, &t->root); n && r >= 0;
             n = call_node_next(&t->root, n)) {
                const CallNode *up = n->parent;

                if (n->n == 0 || !wants(userdata, n->function))
                        continue;
                while (up->function && up->function != n->function)
                        up = up->parent;
                r = add_way(turned, n, up->function != NULL);
        }
        if (r >= 0)
                r = sort(turned);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(turned);
        return 0;
}
