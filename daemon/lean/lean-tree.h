/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * LeanTree: what some roots call
 *
 * The text of what was learned here:
 *
 *      root udp_sendmsg                    what follows was seen below it, itself included
 *      ip_make_skb 0 41000                 FUNCTION LEAF SHARE_PPM
 *       udp_sendmsg                        who calls the function above; some of them
 *
 * LEAF: 1 if it was seen to call nothing, else 0.  SHARE_PPM: its time with all that it calls, of the root's
 * [millionths].  daemon/lean/trees, which is shipped, says itself what it consists of.
 */

#include "daemon/admission/functions.h"

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
void lean_tree_done(LeanTree *t);
#define _cleanup_lean_tree_ _cleanup_(lean_tree_done)
/* Keeps those of the names that this kernel has, without what is only called because somebody traces, as function_graph
 * does each change of tasks; sorts. */
void lean_tree_keep_present(LeanTree *t, const Functions *f);
/* Adds what is shipped of @root.  1: something is; 0: nothing; -ENOMEM; -EINVAL: the shipped text is damaged. */
int lean_tree_ship(LeanTree *t, const char *root);

/*
 * LeanCache: what was learned about some roots, as a file
 *
 * STORE/lean/KEY, KEY being the XXH3-128 of the kernel's release, its build id, the set of modules
 * and the roots.  Text:
 *
 *      ftraced lean 3
 *      kernel 6.12.117+deb12-amd64
 *      roots udp_sendmsg
 *      learned 1795267200000000000         when, on the real time clock [ns]
 *      calls 600                           of the roots, that it was learned from
 *      ...                                 their tree (above)
 *
 * The kernel and the roots are for people.  Names, not addresses: they hold for the whole boot
 * and for the next one.  Whoever uses them checks each against the kernel's own list.
 */
#define LEAN_DIR "lean"
#define LEAN_KEY_CHARS 32
#define LEAN_MAX_FILES 512 /* of the newest, and of so many bytes: the rest is forgotten */
#define LEAN_MAX_BYTES (32U << 20)

typedef struct LeanCache {
        uint64_t learned_ns;
        uint64_t n_calls;
        LeanTree tree;
} LeanCache;

/* @root_fd: where proc/ and sys/ are.  0 or -errno. */
int lean_cache_make_key(int root_fd, const Functions *f, const Strv *roots,
                        char ret[static LEAN_KEY_CHARS + 1]);

enum { LEAN_CACHE_E_INVALID = 1 };
/* @ret: lean_cache_done() it; @ret_key: set unless that fails.  0, LEAN_CACHE_E_INVALID, -ENOENT, other -errno. */
int lean_cache_load(LeanCache *ret, int store_fd, int root_fd, const Functions *f,
                    const Strv *roots, char ret_key[static LEAN_KEY_CHARS + 1]);
int lean_cache_parse(LeanCache *ret, const char *text);
/* Replaces the file as a whole, making the directory if need be, and forgets the oldest of too many.  0 or
 * -errno. */
int lean_cache_write(const LeanCache *c, int store_fd, const char *key, const char *kernel,
                     const Strv *roots);
void lean_cache_done(LeanCache *c);
#define _cleanup_lean_cache_ _cleanup_(lean_cache_done)
