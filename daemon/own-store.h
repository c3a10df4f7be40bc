/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Own store: the store that this daemon writes to, or a sentence that says why it cannot
 *
 * Root's daemon takes the group of a directory that is there already, and what it makes has it.
 */

#include "daemon/tracefs/ledger.h"
#include "store/store.h"

/* @ret_ledger: where its ledger is.  Logs what is in the way.  0 or -errno; -EBUSY: another daemon owns it. */
int own_store_open(Store **ret, LedgerDir *ret_ledger, const char *path);
/* The ledger of the store @path alone, which need not be there.  Likewise. */
int own_store_open_ledger(LedgerDir *ret, const char *path);
