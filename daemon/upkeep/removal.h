/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Removal: what removed sessions held is given back beside the loop
 *
 * A session that is removed is gone for everybody at once; to unlink what it had may take seconds,
 * which nobody is to wait for.  When the last is gone, so are the symbols that no other refers to.
 */

#include <stdint.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "daemon/process/background.h"
#include "store/store.h"

typedef struct Removal Removal;

/* Adds the symbols that are referred to: 0, STORE_E_UNKNOWN (all are kept), REMOVAL_E_LATER (until
 * removal_look()), -errno. */
enum { REMOVAL_E_LATER = _STORE_E_N };
typedef int (*RemovalUsed)(Strv *ret, void *userdata);

/* @sweeper, of which it takes much, and @store: borrowed.  0 or -ENOMEM. */
int removal_new(Removal **ret, Background *sweeper, Store *store, RemovalUsed used, void *userdata);
/* From now on there is no session @name.  0 or -errno. */
int removal_add(Removal *r, const char *name);
/* In a task of the sweeper's: takes a moment's worth of what was added off the disk.  Whether there was any.
 * @freed_bytes: what went is added; may be NULL. */
bool removal_go_on(Removal *r, uint64_t *freed_bytes);
/* The loop is free: what symbols are referred to may be known now. */
void removal_look(Removal *r);
/* Finishes what is left. */
Removal *removal_free(Removal *r);
DEFINE_CLEANUP(Removal *, removal_free);
