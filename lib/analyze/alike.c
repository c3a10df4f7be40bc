/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The kernel's own functions for system calls, from linux 3.10 (SyS_) over 4.17
 * (arch/x86/include/asm/syscall_wrapper.h and its like: __x64_sys_) and fs/'s ksys_.
 */

#include "analyze/alike.h"
#include "analyze/role.h"

static const char *const syscall_prefixes[] = {
        "SyS_",        "sys_",         "ksys_",          "__se_sys_",  "__do_sys_",
        "__x64_sys_",  "__ia32_sys_",  "__arm64_sys_",   "__arm_sys_", "__riscv_sys_",
        "__s390_sys_", "__s390x_sys_", "__powerpc_sys_",
};

Alike alike_of(const Function *function) {
        size_t n = role_plain_name(function);

        for (size_t i = 0; i < ELEMENTSOF(syscall_prefixes); i++) {
                size_t n_prefix = strlen(syscall_prefixes[i]);

                if (n > n_prefix && memcmp(function->label, syscall_prefixes[i], n_prefix) == 0)
                        return (Alike){ "sys_", function->label + n_prefix, n - n_prefix };
        }
        return (Alike){ "", function->label, n };
}

bool alike_equal(const Alike *a, const Alike *b) {
        return a->n_name == b->n_name && streq(a->prefix, b->prefix) &&
               memcmp(a->name, b->name, a->n_name) == 0;
}

uint64_t alike_hash(const Alike *a) {
        return hash_bytes(*a->prefix ? 1 : 0, a->name, a->n_name);
}

/* --- nodes of a tree ---------------------------------------------------------------------------- */

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

const CallNode *alike_find_node(const Hash *nodes, const CallNode *parent,
                                const Function *function) {
        Alike name = alike_of(function);

        return find(nodes, parent, &name);
}

/* In the order of the tree, so that of two that are alike the first is found. */
int alike_index_nodes(Hash *ret, CallTree *tree) {
        const CallNode *root = call_tree_root(tree);

        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                Alike name = alike_of(n->function);

                if (!find(ret, n->parent, &name) &&
                    hash_add_ptr(ret, key_of(n->parent, &name), n) < 0)
                        return -ENOMEM;
        }
        return 0;
}
