/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Removal: what removed sessions held is given back a little at a time
 *
 * A session that is removed is gone for everybody at once; to unlink what it had may take seconds,
 * which nobody is to wait for.  When the last is gone, so are the symbols that no other refers to.
 */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "store/store.h"

typedef struct Removal Removal;

/* Adds the symbols that are referred to: 0, STORE_E_UNKNOWN (all are kept), -errno. */
typedef int (*RemovalUsed)(Strv *ret, void *userdata);

/* @store: borrowed.  0 or -errno. */
int removal_new(Removal **ret, sd_event *event, Store *store, RemovalUsed used, void *userdata);
/* From now on there is no session @name.  0 or -errno. */
int removal_add(Removal *r, const char *name);
/*
 * removal_go_on() - do some of it now
 * @until_ns:    CLOCK_MONOTONIC
 * @freed_bytes: as tree_remove_until() (base/io.h)
 *
 * Return: whether anything is left to do.
 */
bool removal_go_on(Removal *r, uint64_t until_ns, uint64_t *freed_bytes);
/* Finishes what is left. */
Removal *removal_free(Removal *r);
DEFINE_CLEANUP(Removal *, removal_free);
