/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Ledger directory: where a daemon's ledger is
 *
 *      /run/ftraced/ledgers/%2Fvar%2Flib%2Fftraced/
 *              lock     of the daemon (store/store.h)
 *              ledger   daemon/tracefs/ledger.h
 *
 * A directory for each store, named for its path; $FTRACED_LEDGERS takes the place of /run/ftraced/ledgers.  It
 * goes with the boot, as the changes do, and stays when the service stops (RuntimeDirectoryPreserve=).  A daemon
 * holds its lock as well as the store's, which goes with the store's content if somebody removes that.
 */

#include "base/array.h"
#include "store/store.h"

typedef struct LedgerDir {
        int fd;     /* < 0: -errno, there can be none here */
        char *path; /* NULL, likewise */
        int lock_fd;
} LedgerDir;

#define LEDGER_DIR_INIT ((LedgerDir){ -EBADF, NULL, -EBADF })

const char *ledger_dir_root(void); /* "/run/ftraced/ledgers" */
/*
 * ledger_dir_open()
 * @store: path of the store, which need not be there
 *
 * Whoever cannot write there (who is not root) has none, which is no failure: nothing can be changed in the
 * kernel then (ledger_commit()).
 * Return: 0; LEDGER_DIR_E_HELD: the daemon *@ret_holder (0: not to be seen) is alive.
 */
enum { LEDGER_DIR_E_HELD = 1 };
int ledger_dir_open(LedgerDir *ret, const char *store, pid_t *ret_holder);
/* Leaves nothing but a ledger that has records. */
void ledger_dir_done(LedgerDir *d);

/* Path of the store whose directory has this @path; NULL: it is no name of ours, or no memory.  The caller frees. */
char *ledger_dir_store(const char *path);
/* Adds the paths of the other stores that have a directory beside the one that @fd is.  0 or -ENOMEM. */
int ledger_dir_list(int fd, Strv *ret);
/* The directory of one of these; the caller owns it; -errno. */
int ledger_dir_open_other(int fd, const char *store);
