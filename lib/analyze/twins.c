/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All nodes by parent and name, in the order of the tree, so that of two that are alike the first is
 * found. */

#include "analyze/alike.h"
#include "analyze/twins.h"
#include "base/hash.h"

struct Twins {
        Hash nodes;
};

static uint64_t key_of(const CallNode *parent, const Alike *name) {
        return hash_mix(hash_key(parent)) ^ alike_hash(name);
}

static const CallNode *find(const Twins *t, const CallNode *parent, const Alike *name) {
        const HashSlot *slot;

        hash_each (slot, &t->nodes, key_of(parent, name)) {
                const CallNode *node = (void *) (uintptr_t) slot->value;
                Alike other = alike_of(node->function);

                if (node->parent == parent && alike_equal(&other, name))
                        return node;
        }
        return NULL;
}

const CallNode *twins_find(const Twins *t, const CallNode *parent, const Function *function) {
        Alike name = alike_of(function);

        return find(t, parent, &name);
}

int twins_new(Twins **ret, CallTree *tree) {
        _cleanup_(twins_freep) Twins *t = calloc(1, sizeof(*t));
        const CallNode *root = call_tree_root(tree);

        if (!t)
                return -ENOMEM;
        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                Alike name = alike_of(n->function);

                if (!find(t, n->parent, &name) &&
                    hash_add_ptr(&t->nodes, key_of(n->parent, &name), n) < 0)
                        return -ENOMEM;
        }
        *ret = TAKE_PTR(t);
        return 0;
}

Twins *twins_free(Twins *t) {
        if (!t)
                return NULL;
        hash_done(&t->nodes);
        free(t);
        return NULL;
}
