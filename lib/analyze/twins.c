/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A hash of all nodes by parent and name; nodes come into it in the order of the tree, so that of
 * two that are alike the first is found. */

#include "analyze/alike.h"
#include "analyze/twins.h"

struct Twins {
        const CallNode **slots;
        size_t n; /* a power of two, at least twice the nodes */
};

static size_t find_slot(const Twins *t, const CallNode *parent, const Alike *name) {
        uint64_t x = alike_hash(name) ^ ((uintptr_t) parent >> 4) * UINT64_C(0x9e3779b97f4a7c15);
        size_t i;

        x *= UINT64_C(0xff51afd7ed558ccd);
        for (i = (size_t) (x ^ x >> 32) & (t->n - 1); t->slots[i]; i = (i + 1) & (t->n - 1)) {
                Alike a = alike_of(t->slots[i]->function);

                if (t->slots[i]->parent == parent && alike_equal(&a, name))
                        break;
        }
        return i;
}

const CallNode *twins_find(const Twins *t, const CallNode *parent, const Function *function) {
        Alike name = alike_of(function);

        return parent ? t->slots[find_slot(t, parent, &name)] : NULL;
}

int twins_new(Twins **ret, CallTree *tree) {
        _cleanup_(twins_freep) Twins *t = calloc(1, sizeof(*t));
        const CallNode *root = call_tree_root(tree);

        if (!t)
                return -ENOMEM;
        for (t->n = 64; t->n / 2 < call_tree_n_nodes(tree);)
                t->n *= 2;
        t->slots = calloc(t->n, sizeof(*t->slots));
        if (!t->slots)
                return -ENOMEM;
        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                Alike name = alike_of(n->function);
                size_t i = find_slot(t, n->parent, &name);

                if (!t->slots[i])
                        t->slots[i] = n;
        }
        *ret = TAKE_PTR(t);
        return 0;
}

Twins *twins_free(Twins *t) {
        if (!t)
                return NULL;
        free(t->slots);
        free(t);
        return NULL;
}
