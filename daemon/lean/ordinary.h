/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ordinary: what ordinary work of others calls often
 *
 * daemon/lean/ordinary-functions has the names; tests/bench/ordinary-functions counted their calls on
 * several kernels.  As long as nobody knows what some roots call, lean hooks everything but these: most of
 * the kernel is hardly ever called, so that others pay next to nothing from the first moment on, and what
 * is missing are helpers, whose time is then their callers' own.
 *
 * What only some kinds of work call, as TCP's, is hooked for roots that the same kinds call: then it is what is traced.
 * So what TCP and UDP share is hooked for roots that both call, and who traces one of them does not slow down the other.
 */

#include "daemon/admission/functions.h"

/*
 * ordinary_find()
 * @roots:    none: what is traced is nobody's kind of work
 * @host:     sorted; what this host calls often, as ordinary_find_host() has it
 * @ret:      what ordinary work calls anywhere, sorted
 * @ret_here: what is to be left out besides because this host calls it often, sorted
 *
 * All of this kernel.  0 or -ENOMEM.
 */
int ordinary_find(const Functions *f, const Strv *roots, const Strv *host, Strv *ret,
                  Strv *ret_here);
/* It is in the list as what only some kinds of work call. */
bool ordinary_has_kind(const char *name);

/*
 * What this host calls often, as it was counted here (daemon/watch/bystander-watch.h): a LeanCache of no roots, so of
 * one kernel build and its modules.
 *   - ordinary_find_host() adds the names to @ret, sorted; *@ret_since_ns: when counting began, on the real time
 *     clock, 0: never, or too long ago.  0 or -errno; what is damaged was never there
 *   - ordinary_learn_host() adds @names to them: what others called while a session recorded.  @anew: what all called
 *     while none did; what was known before is forgotten
 * 0 or -errno.
 */
#define ORDINARY_HOST_MAX 4096
int ordinary_find_host(const Functions *f, int store_fd, int root_fd, Strv *ret,
                       uint64_t *ret_since_ns);
int ordinary_learn_host(const Functions *f, int store_fd, int root_fd, const char *kernel,
                        const Strv *names, bool anew);
