/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All nodes by parent and name, in the order of the tree, so that of two that are alike the first is
 * found. */

#include "analyze/alike.h"
#include "analyze/path-match.h"

static uint64_t key_of(const CallNode *parent, const Alike *name) {
        return hash_mix(hash_key(parent)) ^ alike_hash(name);
}

static const CallNode *find(const Hash *nodes, const CallNode *parent, const Alike *name) {
        const HashSlot *slot;

        hash_each (slot, nodes, key_of(parent, name)) {
                const CallNode *node = (void *) (uintptr_t) slot->value;
                Alike other = alike_of(node->function);

                if (node->parent == parent && alike_equal(&other, name))
                        return node;
        }
        return NULL;
}

const CallNode *path_match_find(const Hash *nodes, const CallNode *parent,
                                const Function *function) {
        Alike name = alike_of(function);

        return find(nodes, parent, &name);
}

int path_match_init(Hash *ret, CallTree *tree) {
        const CallNode *root = call_tree_root(tree);

        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                Alike name = alike_of(n->function);

                if (!find(ret, n->parent, &name) &&
                    hash_add_ptr(ret, key_of(n->parent, &name), n) < 0)
                        return -ENOMEM;
        }
        return 0;
}
