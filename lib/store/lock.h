/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lock: who owns a store
 *
 * STORE/lock is flock()ed for as long as its daemon lives, and has its pid.  Only the store's owner can open
 * it (0600).
 */

#include <stdbool.h>
#include <sys/types.h>

enum {
        LOCK_E_HELD = 1, /* by another process: *ret_holder */
};

/*
 * lock_take() - become the owner
 * @ret:        a descriptor that the caller owns; closing it lets go
 * @ret_holder: may be NULL; with LOCK_E_HELD the process that has it, 0 if that does not live any more
 * @ret_is_new: there was no lock before; set in any case
 *
 * Return: 0, LOCK_E_HELD, -errno (entry_open_file()'s for what is no regular file).
 */
int lock_take(int *ret, int store_fd, pid_t *ret_holder, bool *ret_is_new);
/* Whether somebody owns the store: 1 (*@ret_holder as above), 0, -errno: it cannot be told, to group members for one. */
int lock_look(int store_fd, pid_t *ret_holder);
