/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Inventory: the segments of a live session, and what each takes on disk
 *
 * They are many: a ring of 1G has 16,000 of 64K each on every look.  So each is looked at once when its
 * reader has closed it, and again only when it is said to have changed; the one that a reader has open
 * is looked at every time.  Main thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "daemon/record/recorder.h"
#include "store/session-dir.h"

typedef struct Inventory Inventory;

typedef struct InventorySums {
        size_t n;               /* segments */
        uint64_t n_bytes;       /* their blocks on disk */
        uint64_t counted_bytes; /* FOOTPRINT_ENTRY_BYTES at least of each (retention/footprint.h) */
} InventorySums;

/* What is there is looked at, once; the readers have the sequences that they begin or go on with, and do
 * not run yet, or no cut has been.  Everything is borrowed.  0 or -errno. */
int inventory_new(Inventory **ret, const SessionDir *dir, const Recorder *recorder);
/* Takes in what has been closed since.  0 or -errno, and the next look tries again. */
int inventory_look(Inventory *i);
/* Of all, those that are open as well, as of the last look. */
InventorySums inventory_sum(const Inventory *i);
/* A closed one may take another size now, or may be gone.  0 or -ENOMEM. */
int inventory_look_again(Inventory *i, uint32_t cpu, uint64_t sequence);
/* The closed ones with the lowest sequence, all CPUs; false: there is none. */
bool inventory_oldest(const Inventory *i, uint64_t *ret_sequence, uint64_t *ret_n_bytes);
/* Those have been removed. */
void inventory_drop_oldest(Inventory *i);
Inventory *inventory_free(Inventory *i);
DEFINE_CLEANUP(Inventory *, inventory_free);
