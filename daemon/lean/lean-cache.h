/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * LeanCache: what was learned about some roots, as a file
 *
 * STORE/lean/KEY, KEY being the XXH3-128 of the kernel's release, its build id, the set of modules
 * and the roots.  Without roots it is what this host calls often (daemon/lean/ordinary.h).  Text:
 *
 *      ftraced lean 2
 *      kernel 6.12.117+deb12-amd64
 *      roots udp_sendmsg
 *      learned 1795267200000000000         when, on the real time clock [ns]
 *      calls 600                           of the roots, that it was learned from
 *      ordinary no                         those of daemon/lean/ordinary.h were not hooked then
 *      tasks read pipe fork                what ordinary work was measured (daemon/lean/workload.h)
 *      fixed 0 20000 0                     how much longer each takes whatever is hooked [millionths]
 *      __rcu_read_lock 91000 45000 8200    a function, and how much longer each task takes while it
 *      ip_make_skb                         is hooked [millionths]; nothing: none, or not measured
 *       udp_sendmsg                        who calls the function above
 *
 * The kernel and the roots are for people.  Names, not addresses: they hold for the whole boot
 * and for the next one.  Whoever uses them checks each against the kernel's own list.
 */

#include <stdint.h>

#include "base/strv.h"
#include "daemon/admission/functions.h"

#define LEAN_DIR "lean"
#define LEAN_KEY_CHARS 32
#define LEAN_MAX_FILES 512 /* of the newest, and of so many bytes: the rest is forgotten */
#define LEAN_MAX_BYTES (32U << 20)
#define LEAN_MAX_FUNCTIONS 16384
#define LEAN_MAX_TASKS 16
#define LEAN_MAX_CALLERS 4 /* of a function */
#define LEAN_RELEARN_NS (UINT64_C(7) * 24 * 3600 * 1000000000)

typedef struct LeanFunction {
        char *name;
        uint32_t ppm[LEAN_MAX_TASKS]; /* the first tasks.n count */
        Strv callers;                 /* some of them */
} LeanFunction;

typedef struct LeanCache {
        uint64_t learned_ns;
        uint64_t n_calls;
        bool lacks_ordinary;
        Strv tasks;
        uint32_t fixed_ppm[LEAN_MAX_TASKS];
        LeanFunction *functions; /* n of them, sorted by name, unique */
        size_t n;
} LeanCache;

/* @root_fd: where proc/ and sys/ are.  0 or -errno. */
int lean_cache_make_key(int root_fd, const Functions *f, const Strv *roots,
                        char ret[static LEAN_KEY_CHARS + 1]);

enum { LEAN_CACHE_E_INVALID = 1 };
/* @ret: lean_cache_done() it.  0, LEAN_CACHE_E_INVALID, -ENOENT, other -errno. */
int lean_cache_read(LeanCache *ret, int store_fd, const char *key);
/* Both of these.  @ret_key: set unless that fails. */
int lean_cache_load(LeanCache *ret, int store_fd, int root_fd, const Functions *f,
                    const Strv *roots, char ret_key[static LEAN_KEY_CHARS + 1]);
int lean_cache_parse(LeanCache *ret, const char *text);
/* Replaces the file as a whole, making the directory if need be, and forgets the oldest of too many.  0 or
 * -errno. */
int lean_cache_write(const LeanCache *c, int store_fd, const char *key, const char *kernel,
                     const Strv *roots);
/* Adds a function unless it is there; its weights become the larger of both.  The order is lost
 * until lean_cache_sort(). */
int lean_cache_add(LeanCache *c, const char *name, const uint32_t *ppm, size_t n_ppm);
/* Adds a caller to the function that was added last, unless it has enough.  0 or -errno. */
int lean_cache_add_caller(LeanCache *c, const char *name);
/* Puts the functions in order, merging those of the same name. */
void lean_cache_sort(LeanCache *c);
/* Learned more than LEAN_RELEARN_NS ago. */
bool lean_cache_is_old(const LeanCache *c);
LeanFunction *lean_cache_find(const LeanCache *c, const char *name);
void lean_function_done(LeanFunction *f);
void lean_cache_done(LeanCache *c);
#define _cleanup_lean_cache_ _cleanup_(lean_cache_done)
