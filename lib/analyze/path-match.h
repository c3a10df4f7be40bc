/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Path match: where in another call tree the same path of callers is
 *
 * Functions are the same that analyze/alike.h says are.  Memory is in proportion to the other tree's
 * nodes, and a look-up takes as long whatever their number is.
 */

#include "analyze/call-tree.h"
#include "base/hash.h"

/* @ret, an empty hash, becomes one of all nodes of @tree, which must outlive it, unchanged; hash_done() ends
 * it.  0 or -ENOMEM. */
int path_match_init(Hash *ret, CallTree *tree);
/* The first child of @parent, a node of the tree, that is the same function; NULL: there is none, or no
 * @parent. */
const CallNode *path_match_find(const Hash *nodes, const CallNode *parent,
                                const Function *function);
