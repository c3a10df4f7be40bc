/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ledger copy: where the ledger is written a second time
 *
 *      /run/ftraced/ledgers/%2Fvar%2Flib%2Fftraced/
 *              lock     of the daemon (store/lock.h)
 *              ledger   daemon/tracefs/ledger.h
 *
 * A directory for each store, named for its path, below what systemd calls $RUNTIME_DIRECTORY.  It goes
 * with the boot, as the changes do.  A daemon holds its lock as well as the store's, which goes with the
 * store's content if somebody removes that.
 */

#include "base/strv.h"
#include "store/lock.h"

typedef struct LedgerCopy {
        int fd;         /* of the directory; -EBADF: there can be none here */
        int ledgers_fd; /* of the one above */
        char *name;     /* its name there */
        int lock_fd;
} LedgerCopy;

#define LEDGER_COPY_INIT ((LedgerCopy){ -EBADF, -EBADF, NULL, -EBADF })

/*
 * ledger_copy_open()
 * @store: path of the store, which is there
 *
 * Where nothing can be written (whoever is not root) there is no copy, and that is no failure.
 * Return: 0; LEDGER_COPY_E_HELD: the daemon *@ret_holder (0: not to be seen) is alive.
 */
enum { LEDGER_COPY_E_HELD = 1 };
int ledger_copy_open(LedgerCopy *ret, const char *store, pid_t *ret_holder);
/* Leaves nothing but a ledger that has records. */
void ledger_copy_done(LedgerCopy *c);

/* Adds the paths of the other stores that have a directory beside the one that @fd is.  0 or -ENOMEM. */
int ledger_copy_list(int fd, Strv *ret);
/* The directory of one of these; the caller owns it; -errno. */
int ledger_copy_open_other(int fd, const char *store);
