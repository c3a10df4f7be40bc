/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Keep: what stands against removing a session
 *
 * Whoever reads a session holds a shared flock(2) on a descriptor of its directory; a lock goes
 * away with the last descriptor of its opening, so that a reader that is killed holds nothing.  The
 * daemon takes the lock on what it hands out before it does, so that its clients need not.
 */

#include "store/session-dir.h"

typedef enum Keep {
        KEEP_NOT,     /* nothing does */
        KEEP_PINNED,  /* somebody asked for it */
        KEEP_IN_USE,  /* somebody reads it */
        KEEP_FOREIGN, /* there is a file in it that ftraced did not make */
} Keep;

/* Says that @d is being read, until its descriptor and all copies of it are closed. */
void keep_lock(const SessionDir *d);

/*
 * keep_look() - whether a session that has ended may be removed
 * @d:           opened for this, and locked by nobody through this opening
 * @ret_foreign: with KEEP_FOREIGN the path of the file in the session; the caller frees
 *
 * Return: a Keep, or -errno.
 */
int keep_look(const SessionDir *d, const SessionMeta *m, char **ret_foreign);
/* One sentence with the way out; the caller frees *@ret.  @k: not KEEP_NOT.  0 or -ENOMEM. */
int keep_describe(char **ret, Keep k, const char *name, const char *foreign);
/*
 * keep_find_foreign() - a file that is not one of ours
 *
 * By its name and type: what store/format.h lists, and what an interrupted replacement leaves.
 * Return: 1 (*@ret, which the caller frees), 0 if there is none, -errno.
 */
int keep_find_foreign(const SessionDir *d, char **ret);
