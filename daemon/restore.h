/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Restore: what `ftraced --restore` does, and how a daemon begins as well
 */

#include "base/strv.h"
#include "daemon/daemon.h"
#include "daemon/tracefs/ledger-copy.h"
#include "daemon/tracer/controller.h"
#include "store/store.h"

/* The control of tracefs with the ledger in @store and @copy.  0, or -errno and said. */
int restore_open_controller(Controller **ret, const DaemonConfig *config, const Store *store,
                            const LedgerCopy *copy);
/*
 * Only undoes what a dead daemon left in the kernel: *@ret_n changes.  Adds what is left all the same to
 * @ret_left, in sentences, and to @ret_values commands for what may be left, or somebody's.  -errno is said.
 */
int restore_all(const DaemonConfig *config, size_t *ret_n, Strv *ret_left, Strv *ret_values);
