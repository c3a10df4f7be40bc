/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Alike: which functions of two recordings are the same
 *
 * Two kernels, or two compilers, call one function differently:
 *
 *      skb_clone.part.50, skb_clone.isra.4          skb_clone
 *      SyS_write, __x64_sys_write, ksys_write       sys_write
 *
 * and build one into the kernel that is a module elsewhere.  What is compared is what is left of a
 * name without that.
 */

#include <stdbool.h>
#include <stdint.h>

#include "analyze/call-tree.h"
#include "base/hash.h"

typedef struct Alike {
        const char *prefix; /* "sys_", or "" */
        const char *name;   /* what follows it, in the function's label; not ended */
        size_t n_name;
} Alike;

Alike alike_of(const Function *function);
bool alike_equal(const Alike *a, const Alike *b);
uint64_t alike_hash(const Alike *a);

/*
 * Where in another call tree the same path of callers is.  Memory is in proportion to the other
 * tree's nodes, and a look-up takes as long whatever their number is.
 */

/* @ret, an empty hash, becomes one of all nodes of @tree, which must outlive it, unchanged; hash_done() ends
 * it.  0 or -ENOMEM. */
int alike_index_nodes(Hash *ret, CallTree *tree);
/* The first child of @parent, a node of the tree, that is the same function; NULL: there is none, or no
 * @parent. */
const CallNode *alike_find_node(const Hash *nodes, const CallNode *parent,
                                const Function *function);
