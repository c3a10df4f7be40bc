/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Own store: the store that this daemon writes to, or a sentence that says why it cannot
 *
 * Root's daemon takes the group of a directory that is there already, and what it makes has it.
 */

#include "daemon/tracefs/ledger-copy.h"
#include "store/store.h"

/* @ret_copy: of its ledger.  Logs what is in the way.  0 or -errno; -EBUSY: another daemon owns it. */
int own_store_open(Store **ret, LedgerCopy *ret_copy, const char *path);
