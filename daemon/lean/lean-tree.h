/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * LeanTree: what some roots call
 *
 * The text of what was learned here (daemon/lean/lean-cache.h):
 *
 *      root udp_sendmsg                    what follows was seen below it, itself included
 *      ip_make_skb 0 41000                 FUNCTION LEAF SHARE_PPM
 *       udp_sendmsg                        who calls the function above; some of them
 *
 * LEAF: 1 if it was seen to call nothing, else 0.  SHARE_PPM: its time with all that it calls, of the root's
 * [millionths].  daemon/lean/trees, which is shipped, says itself what it consists of.
 */

#include "base/array.h"
#include "base/cleanup.h"

#define LEAN_MAX_FUNCTIONS 16384
#define LEAN_MAX_CALLERS 4   /* of a function */
#define LEAN_PART_PPM 10000U /* a leaf with less of the roots' time has no part in it */

typedef struct LeanFunction {
        char *name;
        bool leaf;
        uint32_t share_ppm;
        Strv callers;
} LeanFunction;

typedef struct LeanTree {
        LeanFunction *functions; /* n of them, sorted by name and unique after lean_tree_sort() */
        size_t n;
} LeanTree;

/* Adds a function, not a root of its own.  0 or -ENOMEM. */
int lean_tree_add(LeanTree *t, const char *name, bool leaf, uint64_t share_ppm);
/* Adds a caller to the function that was added last, unless it has enough.  0 or -ENOMEM. */
int lean_tree_add_caller(LeanTree *t, const char *name);
/* Adds all of @other.  0 or -ENOMEM. */
int lean_tree_join(LeanTree *t, const LeanTree *other);
/* Puts the functions in order; of those of one name the larger numbers stay, and a leaf is what all say is one. */
void lean_tree_sort(LeanTree *t);
LeanFunction *lean_tree_find(const LeanTree *t, const char *name);
void lean_function_done(LeanFunction *f);
void lean_tree_done(LeanTree *t);
#define _cleanup_lean_tree_ _cleanup_(lean_tree_done)

/*
 * lean_tree_parse() - one line of the text
 *
 * Roots are for whoever looks for one.  0, LEAN_TREE_E_INVALID, -ENOMEM.
 */
enum { LEAN_TREE_E_INVALID = 1 };
int lean_tree_parse(LeanTree *t, const char *line);
/* Adds what is shipped of @root.  1: something is; 0: nothing; -ENOMEM; -EINVAL: the shipped text is damaged. */
int lean_tree_ship(LeanTree *t, const char *root);
