/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Removed: what became of sessions that are no more
 *
 * STORE/removed, a line each, the newest last, the oldest forgotten:
 *
 *      REALTIME_NS BYTES NAME ID WHY...
 *
 * It tells who asks for one why it is gone; nothing depends on it.
 */

#include <stdint.h>

#define REMOVED_BYTES_MAX (256U << 10) /* of the file; then its older half goes */
#define REMOVED_WHY_MAX 400            /* characters; more are cut */

typedef struct Removed {
        uint64_t realtime_ns; /* 0: now */
        uint64_t n_bytes;     /* on disk */
        char *name, *id, *why;
} Removed;

void removed_done(Removed *r);
#define _cleanup_removed_ _cleanup_(removed_done)

/* Whoever writes the store.  0 or -errno, and then nobody will know. */
int removed_note(int store_fd, const Removed *r);
/* The last one of that name or id: 1, 0 (none is known), -errno. */
int removed_find(Removed *ret, int store_fd, const char *word);
/* "session 'r1' (4.2M) was removed on 2026-11-23 02:10:04: WHY"; the caller frees *@ret.  0 or -ENOMEM. */
int removed_describe(char **ret, const Removed *r);
