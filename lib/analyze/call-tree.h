/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Call tree: the trees of all calls, merged
 *
 * A node is a function under the path of its callers; all calls on that path are added up in it:
 *
 *      root                       its children are the outermost calls
 *        udp_sendmsg      n 2     total 240   self  60
 *          ip_make_skb    n 2     total 180   self 180
 *
 * A node's share is its self and the shares of its children, exactly; its total is what its calls
 * took, which is the same unless calls overlap (analyze/held.h).  Where frames have the ways of their calls, a
 * function has a node for each line that it is called from.  What was inlined, and what the kernel's stack has above an
 * outermost call, has nodes without calls, whose total is that of what they called.  The root's total is the sum of the
 * self times of all.  After call_tree_finish() siblings are in order, what took longest first.
 */

#include "analyze/pairing.h"

typedef struct CallTree CallTree;

typedef struct CallNode {
        const Function *function; /* NULL: the root */
        struct CallNode *parent, *children, *next;
        struct CallNode *recent, *after; /* the child asked for last; the sibling asked for after this one */
        int32_t level;    /* root: 0, outermost calls: 1 */
        uint32_t id;      /* in the order in which they were made, so callers first; root: 0 */
        uint64_t n;       /* calls */
        uint64_t n_cut;   /* of them, those with lower bounds */
        uint64_t n_below; /* calls anywhere below */
        uint64_t
                n_left_out; /* of them, those that a filter has not passed on, and that no node below has */
        uint64_t total_ns;
        uint64_t self_ns;
        uint64_t cut_self_ns;    /* of that, of calls that are cut */
        uint64_t share_ns;       /* after call_tree_finish() */
        uint64_t blocked_ns;     /* of its self, waited */
        uint64_t cut_blocked_ns; /* of that, of calls that are cut */
        uint64_t waited_ns;      /* after call_tree_finish(): that, and of all below */
        uint64_t min_ns, max_ns; /* of one call, cut ones aside; min_ns > max_ns: of none */
        bool was_left_out; /* its calls may lack: in one of the recordings it was not hooked all the time */
        int32_t n_unhooked; /* what else its self may be (calls/function.h); of several recordings the most */
        bool is_irq; /* it is an interrupt */
        bool in_irq; /* or below one */
} CallNode;

/* No call of it was recorded on that path: what is below it is all that is known of it. */
static inline bool call_node_is_uncounted(const CallNode *node) {
        return node->function && node->n == 0;
}

/* A sink of @pairing, which must outlive its last step; NULL: it is filled by call_tree_child().
 * 0 or -ENOMEM. */
int call_tree_new(CallTree **ret, Pairing *pairing);
/* The node of @function under @parent, made if new; NULL without memory. */
CallNode *call_tree_find_child(CallTree *t, CallNode *parent, const Function *function);
/* What code calls that runs again: the child that came after the one asked for last; NULL: it is another function's. */
static inline CallNode *call_node_guess(CallNode *parent, const Function *function) {
        CallNode *node = parent->recent ? parent->recent->after : NULL;

        return node && node->function == function ? (parent->recent = node) : NULL;
}
static inline CallNode *call_tree_child(CallTree *t, CallNode *parent, const Function *function) {
        return call_node_guess(parent, function) ?: call_tree_find_child(t, parent, function);
}
/* The same of a call, below what it went through (CallWay). */
CallNode *call_tree_enter(CallTree *t, CallNode *parent, const CallWay *way,
                          const Function *function);
/* Adds one call to its node. */
void call_node_add(CallNode *node, const Call *call);
/* Adds the trees from the place @first to the one before @end; if they are @with_callers, below who called them.  0 or
 * -ENOMEM. */
int call_tree_add(CallTree *t, const CallTrees *trees, uint32_t first, uint32_t end,
                  bool with_callers);
/* Leaves the root alone. */
void call_tree_clear(CallTree *t);
/* After pairing_finish(), or when nodes have changed: adds up and puts in order.  0 or -ENOMEM. */
int call_tree_finish(CallTree *t);
/* Valid until the tree is freed; its total_ns and n_below are those of all. */
CallNode *call_tree_root(CallTree *t);
size_t call_tree_n_nodes(const CallTree *t); /* without the root */
/* The share that a node must have for no more than @n_max of them to have it, of a finished tree: callers
 * have no less than what they call.  0: all may stay.  0 or -ENOMEM. */
int call_tree_threshold(uint64_t *ret_ns, CallTree *t, size_t n_max);
CallTree *call_tree_free(CallTree *t);
DEFINE_CLEANUP(CallTree *, call_tree_free);

/* A finished tree upside down, finished: its outermost nodes are the functions that @wants, and what is below a node are
 * its callers.  A node's n, n_cut, total and self are what the function at its top took in calls that came this way;
 * totals count recursion once, min and max are of its calls.  0 or -ENOMEM. */
int call_tree_callers(CallTree **ret, CallTree *t,
                      bool (*wants)(void *userdata, const Function *function), void *userdata);

/* Returns what follows @node in the tree below @top, callers first, or NULL. */
const CallNode *call_node_next(const CallNode *top, const CallNode *node);
/* The same without what is below @node. */
const CallNode *call_node_skip(const CallNode *top, const CallNode *node);

/* Where in another call tree the same path of callers is (Alike): @ret, an empty hash, becomes one of all nodes of @tree,
 * which must outlive it, unchanged; hash_done() ends it.  0 or -ENOMEM. */
int alike_index_nodes(Hash *ret, CallTree *tree);
/* The first child of @parent, a node of the tree, that is the same function; NULL: there is none, or no @parent. */
const CallNode *alike_find_node(const Hash *nodes, const CallNode *parent,
                                const Function *function);
