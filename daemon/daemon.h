/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Daemon: everything put together, and the loop
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/cleanup.h"

typedef struct Daemon Daemon;

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

/* Everything up to the first call.  Says itself what is wrong: -errno is for the exit status.
 * @config's strings are borrowed for as long as the daemon lives. */
int daemon_new(Daemon **ret, const DaemonConfig *config);
/* Serves until SIGTERM, SIGINT, SIGUSR1 (what records goes on without it), or the end of the
 * private connection.  0 or -errno, said too. */
int daemon_run(Daemon *d);
/* Ends what still records and puts the kernel back, unless another daemon is to go on with it. */
Daemon *daemon_free(Daemon *d);
DEFINE_CLEANUP(Daemon *, daemon_free);
