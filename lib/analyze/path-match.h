/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Path match: where in another call tree the same path of callers is
 *
 * Functions are the same that analyze/alike.h says are.  Memory is in proportion to the other tree's
 * nodes, and a look-up takes as long whatever their number is.
 */

#include "analyze/call-tree.h"
#include "base/cleanup.h"

typedef struct PathMatch PathMatch;

/* @tree must outlive it, unchanged.  0 or -ENOMEM. */
int path_match_new(PathMatch **ret, CallTree *tree);
/* The first child of @parent, a node of the tree, that is the same function; NULL: there is none, or no
 * @parent. */
const CallNode *path_match_find(const PathMatch *t, const CallNode *parent,
                                const Function *function);
PathMatch *path_match_free(PathMatch *t);
DEFINE_CLEANUP(PathMatch *, path_match_free);
