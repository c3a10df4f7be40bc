/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SymbolWatch: keeps a session's maps of symbols true while modules come and go
 *
 * Embedded in the session.  Its owner looks from time to time; a look reads
 * /proc/modules, and no more unless that has changed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/symbols/kernel-symbols.h"
#include "meta/meta.h"

typedef struct SymbolWatch {
        uint64_t seen_ns; /* trace clock: when the last map still held; 0: not looked yet */
        unsigned n_failures, n_skipped;
} SymbolWatch;

/* Names the symbols of now in @m, as those of the session's beginning.
 * 0, KERNEL_SYMBOLS_E_HIDDEN (@m is left as it was), -errno. */
int symbol_watch_begin(KernelSymbols *k, int symbols_fd, SessionMeta *m);

/*
 * symbol_watch_look() - see whether the symbols are others now
 * @trace_ns: the session's trace clock, when this is called
 *
 * Return: SYMBOL_WATCH_E_CHANGED: a map was added to @m, which the caller writes down or takes away
 * again; 0: nothing new, or this session has no symbols; -ENOSPC: the maps are SYMBOL_MAPS_MAX
 * already; -errno: they cannot be read or stored, and some of the looks to come do nothing.
 */
enum { SYMBOL_WATCH_E_CHANGED = 1 };
int symbol_watch_look(SymbolWatch *w, KernelSymbols *k, int symbols_fd, SessionMeta *m,
                      uint64_t trace_ns);
