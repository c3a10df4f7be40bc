/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

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
 *      ...                                 their tree (daemon/lean/lean-tree.h)
 *
 * The kernel and the roots are for people.  Names, not addresses: they hold for the whole boot
 * and for the next one.  Whoever uses them checks each against the kernel's own list.
 */

#include <stdint.h>

#include "base/array.h"
#include "daemon/admission/functions.h"
#include "daemon/lean/lean-tree.h"

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
void lean_cache_done(LeanCache *c);
#define _cleanup_lean_cache_ _cleanup_(lean_cache_done)
