/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Twins: where in another call tree the same path of callers is
 *
 * Functions are the same that analyze/alike.h says are.  Memory is in proportion to the other tree's
 * nodes, and a look-up takes as long whatever their number is.
 */

#include "analyze/call-tree.h"
#include "base/cleanup.h"

typedef struct Twins Twins;

/* @tree must outlive it, unchanged.  0 or -ENOMEM. */
int twins_new(Twins **ret, CallTree *tree);
/* The first child of @parent, a node of the tree, that is the same function; NULL: there is none, or no
 * @parent. */
const CallNode *twins_find(const Twins *t, const CallNode *parent, const Function *function);
Twins *twins_free(Twins *t);
DEFINE_CLEANUP(Twins *, twins_free);
