/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Own store: the store that this daemon writes to, or a sentence that says why it cannot
 */

#include "store/store.h"

/* Logs what is in the way.  0 or -errno; -EBUSY: another daemon owns it. */
int own_store_open(Store **ret, const char *path);
