/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Daemon: everything put together, and the loop
 */

#include "daemon/tracefs/ledger-dir.h"
#include "meta/config.h"
#include "store/store.h"

#define DAEMON_STORE LOCALSTATEDIR "/lib/ftraced" /* unless said */

typedef struct DaemonConfig {
        const char *store;   /* directory of the store */
        const char *socket;  /* path, bound unless systemd hands one over; unused with private_fd */
        const char *tracefs; /* NULL: find it */
        const char *config_file; /* only this one; NULL: the usual ones */
        const char *config_root; /* before their paths; NULL: none */
        uint64_t
                idle_us; /* leave after so long without work, if systemd owns the socket; 0: never */
        int private_fd; /* serve this connected socket alone, and leave when it closes; or -EBADF */
} DaemonConfig;

/*
 * daemon_run() - serves until SIGTERM, SIGINT, SIGUSR1 (what records goes on without it), or the end of the private
 *                connection
 *
 * Then it ends what still records and puts the kernel back, unless another daemon is to go on with it.  Says itself
 * what is wrong: -errno is for the exit status.
 */
int daemon_run(const DaemonConfig *config);

/* --- own-store.c: the store that this daemon writes to, or a sentence that says why it cannot --- */

/* @ret_ledger: where its ledger is.  Root's daemon takes the group of a directory that is there already, and what it
 * makes has it.  Logs what is in the way.  0 or -errno; -EBUSY: another daemon owns it. */
int own_store_open(Store **ret, LedgerDir *ret_ledger, const char *path);
/* The ledger of the store @path alone, which need not be there.  Likewise. */
int own_store_open_ledger(LedgerDir *ret, const char *path);

/* --- settings.c: ftraced.conf and its drop-ins, as they count now ------------------------------ */

typedef struct Settings {
        Config config; /* config_done() it */
        Limits limits; /* refers to the Config */
} Settings;

/*
 * settings_load() - reads them, perhaps again
 * @store_fd:  some are shares of its disk
 * @is_strict: all or nothing: SETTINGS_E_PROBLEMS if anything is wrong; else that is left out, so that a daemon always
 *             starts
 * @problems:  sentences
 *
 * 0, SETTINGS_E_PROBLEMS, -errno: nothing has changed.
 */
enum { SETTINGS_E_PROBLEMS = 1 };
int settings_load(Settings *s, const char *root, const char *file, int store_fd, bool is_strict,
                  Strv *problems);
/* Whether nothing is wrong in them: 0, or -errno and said. */
int settings_check(const char *root, const char *file);
