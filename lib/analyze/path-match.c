/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All nodes by parent and name, in the order of the tree, so that of two that are alike the first is
 * found. */

#include "analyze/alike.h"
#include "analyze/path-match.h"
#include "base/hash.h"

struct PathMatch {
        Hash nodes;
};

static uint64_t key_of(const CallNode *parent, const Alike *name) {
        return hash_mix(hash_key(parent)) ^ alike_hash(name);
}

static const CallNode *find(const PathMatch *t, const CallNode *parent, const Alike *name) {
        const HashSlot *slot;

        hash_each (slot, &t->nodes, key_of(parent, name)) {
                const CallNode *node = (void *) (uintptr_t) slot->value;
                Alike other = alike_of(node->function);

                if (node->parent == parent && alike_equal(&other, name))
                        return node;
        }
        return NULL;
}

const CallNode *path_match_find(const PathMatch *t, const CallNode *parent,
                                const Function *function) {
        Alike name = alike_of(function);

        return find(t, parent, &name);
}

int path_match_new(PathMatch **ret, CallTree *tree) {
        _cleanup_(path_match_freep) PathMatch *t = calloc(1, sizeof(*t));
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

PathMatch *path_match_free(PathMatch *t) {
        if (!t)
                return NULL;
        hash_done(&t->nodes);
        free(t);
        return NULL;
}
