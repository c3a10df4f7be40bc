/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A child is found by a guess, or else by a hash of its parent and its function.  The guesses are the child that was
 * entered last, and the one that came after it the last time: code that runs again runs in the same order.
 */

#include "analyze/call-tree.h"
#include "analyze/held.h"

#define SLOTS_KEPT 512 /* when it is emptied for the next of many */

struct CallTree {
        CallNode root, *spare; /* nodes that went, by next */
        Hash nodes;            /* by parent and function */
};

/* --- nodes ------------------------------------------------------------------------------------ */

static CallNode *look_up(CallTree *t, CallNode *parent, const Function *function) {
        uint64_t key = hash_mix(hash_key(parent)) ^ hash_key(function);
        const HashSlot *slot;
        CallNode *node;

        hash_each (slot, &t->nodes, key) {
                node = (void *) (uintptr_t) slot->value;
                if (node->function == function && node->parent == parent)
                        return node;
        }
        node = t->spare ?: malloc(sizeof(*node));
        t->spare = t->spare ? t->spare->next : NULL;
        if (!node || hash_add_ptr(&t->nodes, key, node) < 0)
                return mfree(node);
        *node = (CallNode){ .function = function,
                            .parent = parent,
                            .next = parent->children,
                            .level = parent->level + 1,
                            .id = (uint32_t) t->nodes.n,
                            .n_unhooked = function->n_unhooked,
                            .was_left_out = function->was_left_out,
                            .min_ns = UINT64_MAX };
        return parent->children = node;
}

CallNode *call_tree_find_child(CallTree *t, CallNode *parent, const Function *function) {
        CallNode *recent = parent->recent;
        CallNode *node =
                recent && recent->function == function ? recent : look_up(t, parent, function);

        if (recent)
                recent->after = node;
        return parent->recent = node;
}

static void add_figures(CallNode *to, const CallNode *from) {
        to->n += from->n;
        to->n_cut += from->n_cut;
        to->n_left_out += from->n_left_out;
        to->total_ns += from->total_ns;
        to->self_ns += from->self_ns;
        to->cut_self_ns += from->cut_self_ns;
        to->blocked_ns += from->blocked_ns;
        to->cut_blocked_ns += from->cut_blocked_ns;
        to->min_ns = MIN(to->min_ns, from->min_ns);
        to->max_ns = MAX(to->max_ns, from->max_ns);
        to->is_irq |= from->is_irq;
        to->in_irq |= from->in_irq;
}

/* --- calls ------------------------------------------------------------------------------------ */

CallNode *call_tree_enter(CallTree *t, CallNode *parent, const CallWay *way,
                          const Function *function) {
        for (uint32_t i = 0; way && i + 1 < way->n && parent; i++)
                parent = call_tree_child(t, parent, way->functions[i]);
        return parent ? call_tree_child(t, parent, call_way_callee(way, function)) : NULL;
}

static CallNode *add_above(CallTree *t, CallNode *parent, const Callers *above) {
        for (uint32_t i = above ? above->n : 0; i > 0 && parent; i--)
                parent = call_tree_child(t, parent, above->functions[i - 1]);
        return parent;
}

static int begin(void *userdata, Stack *stack, const Frame *caller, Frame *frame) {
        CallTree *t = userdata;
        CallNode *parent = caller ? caller->data : add_above(t, &t->root, frame->program);

        if (!caller)
                parent = add_above(t, parent, frame->callers);
        frame->data = parent ? call_tree_enter(t, parent, frame->way, frame->function) : NULL;
        return frame->data ? 0 : -ENOMEM;
}

static inline void add_call(CallNode *node, uint64_t duration_ns, uint64_t self_ns,
                            uint64_t blocked_ns, uint64_t n_left_out, bool is_cut) {
        node->n++;
        node->n_left_out += n_left_out;
        node->total_ns += duration_ns;
        node->self_ns += self_ns;
        node->blocked_ns += blocked_ns;
        if (is_cut) {
                node->n_cut++;
                node->cut_self_ns += self_ns;
                node->cut_blocked_ns += blocked_ns;
                return;
        }
        node->min_ns = MIN(node->min_ns, duration_ns);
        node->max_ns = MAX(node->max_ns, duration_ns);
}

void call_node_add(CallNode *node, const Call *call) {
        add_call(node, call->duration_ns, call->self_ns, call->blocked_ns, call->frame->n_left_out,
                 call->is_cut);
        node->is_irq |= call->frame->role == ROLE_IRQ;
        node->in_irq |= call->frame->in_irq;
}

static int end(void *userdata, const Call *call) {
        call_node_add(call->frame->data, call);
        return 0;
}

int call_tree_add(CallTree *t, const CallTrees *trees, uint32_t first, uint32_t end,
                  bool with_callers) {
        CallNode **nodes = (CallNode **) trees->room;

        for (uint32_t place = first; place < end; place++) {
                uint32_t i = call_trees_at(trees, place);
                const HeldCall *c = &trees->calls[i];
                const CallSums *s = &trees->sums[i];
                CallNode *node = c->parent != HELD_TASK ? nodes[c->parent] : &t->root;

                if (c->parent == HELD_TASK && with_callers)
                        node = add_above(t, add_above(t, node, c->program), c->callers);
                if (node)
                        node = call_tree_enter(t, node, c->way, c->function);
                if (!node)
                        return -ENOMEM;
                nodes[i] = node;
                add_call(node, c->duration_ns, s->self_ns, s->self_blocked_ns, c->n_left_out,
                         c->is_cut);
                node->is_irq |= c->role == ROLE_IRQ;
                node->in_irq |= s->in_irq;
        }
        return 0;
}

static int add_trees(void *userdata, const CallTrees *trees) {
        return call_tree_add(userdata, trees, 1, trees->n, true);
}

/* --- afterwards ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
        const CallNode *x = *(CallNode *const *) a, *y = *(CallNode *const *) b;

        return CMP(y->total_ns, x->total_ns) ?: strcmp(x->function->label, y->function->label);
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

static void sort(CallTree *t, CallNode **room) {
        for (CallNode *n = &t->root; n; n = (CallNode *) call_node_next(&t->root, n))
                sort_children(n, room);
}

/* Sums are made from the last node on, for callers come first. */
int call_tree_finish(CallTree *t) {
        _cleanup_free_ CallNode **nodes = calloc(t->nodes.n + 1, sizeof(CallNode *));

        if (!nodes)
                return -ENOMEM;
        nodes[0] = &t->root;
        for (size_t i = 0; i < t->nodes.n_slots; i++) {
                CallNode *node = (void *) (uintptr_t) t->nodes.slots[i].value;

                if (node)
                        nodes[node->id] = node;
        }
        for (size_t i = 0; i <= t->nodes.n; i++) {
                nodes[i]->share_ns = nodes[i]->self_ns;
                nodes[i]->waited_ns = nodes[i]->blocked_ns;
                nodes[i]->n_below = nodes[i]->n_left_out;
                if (call_node_is_uncounted(nodes[i]))
                        nodes[i]->total_ns = 0;
        }
        for (size_t i = t->nodes.n; i > 0; i--) {
                /* A caller with calls may have some below it whose own call of it was not recorded. */
                if (call_node_is_uncounted(nodes[i]))
                        nodes[i]->total_ns = MAX(nodes[i]->total_ns, nodes[i]->share_ns);
                nodes[i]->parent->share_ns += nodes[i]->share_ns;
                nodes[i]->parent->waited_ns += nodes[i]->waited_ns;
                nodes[i]->parent->n_below += nodes[i]->n_below + nodes[i]->n;
                if (call_node_is_uncounted(nodes[i]->parent))
                        nodes[i]->parent->total_ns += nodes[i]->total_ns;
        }
        t->root.total_ns = t->root.share_ns;
        sort(t, nodes);
        return 0;
}

CallNode *call_tree_root(CallTree *t) {
        return &t->root;
}

size_t call_tree_n_nodes(const CallTree *t) {
        return t->nodes.n;
}

static int compare_shares(const void *a, const void *b) {
        return CMP(*(const uint64_t *) b, *(const uint64_t *) a);
}

int call_tree_threshold(uint64_t *ret_ns, CallTree *t, size_t n_max) {
        _cleanup_free_ uint64_t *shares = NULL;
        size_t n = 0;

        *ret_ns = 0;
        if (t->nodes.n <= n_max)
                return 0;
        shares = calloc(t->nodes.n, sizeof(*shares));
        if (!shares)
                return -ENOMEM;
        for (const CallNode *c = call_node_next(&t->root, &t->root); c;
             c = call_node_next(&t->root, c))
                shares[n++] = c->share_ns;
        qsort(shares, n, sizeof(*shares), compare_shares);
        *ret_ns = shares[n_max] + 1; /* more than the first that has no place */
        return 0;
}

int call_tree_new(CallTree **ret, Pairing *pairing) {
        *ret = NEW(CallTree, .root.min_ns = UINT64_MAX);
        if (*ret && pairing)
                pairing_add_sink_of_trees(pairing, begin, end, add_trees, *ret);
        return *ret ? 0 : -ENOMEM;
}

void call_tree_clear(CallTree *t) {
        for (size_t i = 0; i < t->nodes.n_slots; i++) {
                CallNode *node = (void *) (uintptr_t) t->nodes.slots[i].value;

                if (node) {
                        node->next = t->spare;
                        t->spare = node;
                }
        }
        if (t->nodes.n_slots > SLOTS_KEPT)
                hash_done(&t->nodes);
        hash_clear(&t->nodes);
        t->root = (CallNode){ .min_ns = UINT64_MAX };
}

CallTree *call_tree_free(CallTree *t) {
        if (!t)
                return NULL;
        call_tree_clear(t);
        for (CallNode *next; t->spare; t->spare = next) {
                next = t->spare->next;
                free(t->spare);
        }
        hash_done(&t->nodes);
        return mfree(t);
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
                at->n_unhooked = node->n_unhooked; /* whose self it is */
                at->total_ns -= is_nested ? node->total_ns : 0;
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
        _cleanup_free_ CallNode **room = NULL;
        int r = call_tree_new(&turned, NULL);

        for (const CallNode *n = call_node_next(&t->root, &t->root); n && r >= 0;
             n = call_node_next(&t->root, n)) {
                const CallNode *up = n->parent;

                if (n->n == 0 || !wants(userdata, n->function))
                        continue;
                while (up->function && function_plain(up->function) != function_plain(n->function))
                        up = up->parent;
                r = add_way(turned, n, up->function != NULL);
        }
        if (r < 0)
                return r;
        room = calloc(turned->nodes.n + 1, sizeof(CallNode *));
        if (!room)
                return -ENOMEM;
        sort(turned, room);
        *ret = TAKE_PTR(turned);
        return 0;
}

/* --- another tree ----------------------------------------------------------------------------- */

static uint64_t key_of(const CallNode *parent, const Alike *name) {
        return hash_mix(hash_key(parent)) ^ alike_hash(name);
}

const CallNode *alike_find_node(const Hash *nodes, const CallNode *parent,
                                const Function *function) {
        Alike name = alike_of(function);
        const HashSlot *slot;

        hash_each (slot, nodes, key_of(parent, &name)) {
                const CallNode *node = (void *) (uintptr_t) slot->value;
                Alike other = alike_of(node->function);

                if (node->parent == parent && alike_equal(&other, &name))
                        return node;
        }
        return NULL;
}

/* In the order of the tree, so that of two that are alike the first is found. */
int alike_index_nodes(Hash *ret, CallTree *tree) {
        for (const CallNode *n = call_node_next(&tree->root, &tree->root); n;
             n = call_node_next(&tree->root, n)) {
                Alike name = alike_of(n->function);

                if (!alike_find_node(ret, n->parent, n->function) &&
                    hash_add_ptr(ret, key_of(n->parent, &name), n) < 0)
                        return -ENOMEM;
        }
        return 0;
}
