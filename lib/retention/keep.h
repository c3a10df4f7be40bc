/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Keep: what stands against removing a session
 *
 * Whoever reads a session holds a shared flock() of its directory, which goes with the reader, however that ends.
 */

#include "base/array.h"
#include "store/session-dir.h"

typedef enum Keep {
        KEEP_NOT,     /* nothing does */
        KEEP_PINNED,  /* somebody asked for it */
        KEEP_IN_USE,  /* somebody reads it */
        KEEP_FOREIGN, /* there is a file in it that ftraced did not make */
        KEEP_UNKNOWN, /* !session_meta_is_known(): it goes if somebody asks for it by name */
} Keep;

/* Says that @d is being read until what this returns is closed: a descriptor that the caller owns, or -errno. */
int keep_lock(const SessionDir *d);

/*
 * keep_look() - whether a session that has ended may be removed
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
/*
 * keep_list_misplaced() - what has the name of one of our files and is something else
 * @ret: the paths in the session are added, and all of it is sorted
 *
 * A directory, link, FIFO, socket or device where a file should be; no directory where one should
 * be.  Whoever reads steps over them.  0 or -errno.
 */
int keep_list_misplaced(const SessionDir *d, Strv *ret);
