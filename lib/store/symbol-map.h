/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * SymbolMap: what the kernel's addresses stood for from a moment on
 *
 * A session names the symbols and the modules of its beginning itself; each
 * change of the module set that was noticed meanwhile adds a map.  When exactly
 * the kernel changed is not known, only between which two looks at it:
 *
 *      the map before holds     either may hold     this map holds
 *      ------------------ unchanged_ns ------- from_ns ----------->
 *
 * Both are in the session's trace clock.  Maps are in order and do not overlap:
 * from_ns of one <= unchanged_ns of the next.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/json-field.h"

#define SYMBOL_MAPS_MAX 64

typedef struct SymbolMap {
        uint64_t unchanged_ns, from_ns;
        char *symbols; /* hash of the kallsyms in the store */
        char *modules; /* hash of the module list there; NULL: not known */
} SymbolMap;

typedef struct SymbolMaps {
        SymbolMap *items;
        size_t n;
} SymbolMaps;

/* Copies; @modules may be NULL.  0, -ENOMEM, -ENOSPC (SYMBOL_MAPS_MAX of them are there). */
int symbol_maps_add(SymbolMaps *m, uint64_t unchanged_ns, uint64_t from_ns, const char *symbols,
                    const char *modules);
/* Takes the last one away again. */
void symbol_maps_drop_last(SymbolMaps *m);

extern const JsonTable symbol_map_table;
