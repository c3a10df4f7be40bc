/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lock: who owns a store
 *
 * STORE/lock is flock()ed for as long as its daemon lives, and has its pid.  Whoever can open a file can
 * lock it, for as long as he likes, so it is for the owner of the store alone (0600).  Everybody may ask
 * who holds it: /proc/locks tells, without a lock.
 *
 * Stores of older versions have a lock that readers can open (0640).  It counts as held only by the
 * process whose pid it has, and is replaced by another file of that name, so that nobody has an old
 * descriptor of it.  It is still flock()ed, so that of two daemons of different versions one is refused.
 */

#include <stdbool.h>
#include <sys/types.h>

#define LOCK_FILE_MODE 0600

typedef struct Lock {
        int fd;
        int old_fd; /* of the file that was replaced, held as well: somebody may have opened it before */
} Lock;

#define LOCK_INIT ((Lock){ -EBADF, -EBADF })

enum {
        LOCK_E_HELD = 1, /* by another process: *ret_holder */
        LOCK_E_FULL,     /* there is no room for a new one */
        _LOCK_E_N,
};

/*
 * lock_take() - become the owner
 * @ret_holder: may be NULL; with LOCK_E_HELD a process that lives and has the lock, 0 if none can be
 *              seen that does
 * @ret_is_new: there was no lock before; set in any case
 *
 * Return: 0, LOCK_E_*, -errno (entry_open_file()'s for what is no regular file).
 */
int lock_take(Lock *ret, int store_fd, pid_t *ret_holder, bool *ret_is_new);
/* Whether somebody owns the store: 1 (*@ret_holder as above), 0, -errno: it cannot be told. */
int lock_look(int store_fd, pid_t *ret_holder);
void lock_done(Lock *l);
