/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A table for one map, and the order that a stranger's list must have to be believed. */

#include <assert.h>
#include <stdlib.h>

#include "base/grow.h"
#include "store/symbol-file.h"
#include "store/symbol-map.h"

static const JsonField fields[] = {
        JSON_FIELD(SymbolMap, unchanged_ns, U64, .max = INT64_MAX),
        JSON_FIELD(SymbolMap, from_ns, U64, .max = INT64_MAX),
        JSON_FIELD(SymbolMap, symbols, TEXT, .flags = JSON_FIELD_REQUIRED,
                   .max_text = SYMBOL_HASH_CHARS, .is_valid = symbol_hash_is_valid),
        JSON_FIELD(SymbolMap, modules, TEXT, .flags = JSON_FIELD_NULLABLE,
                   .max_text = SYMBOL_HASH_CHARS, .is_valid = symbol_hash_is_valid),
};

static bool is_next(const void *items, size_t i) {
        const SymbolMap *m = items;

        return m[i].from_ns >= m[i].unchanged_ns &&
               (i == 0 || m[i].unchanged_ns >= m[i - 1].from_ns);
}

const JsonTable symbol_map_table =
        JSON_TABLE(SymbolMap, fields, .n_max = SYMBOL_MAPS_MAX, .fits = is_next);

int symbol_maps_add(SymbolMaps *m, uint64_t unchanged_ns, uint64_t from_ns, const char *symbols,
                    const char *modules) {
        SymbolMap map = { .unchanged_ns = unchanged_ns, .from_ns = from_ns };

        if (m->n >= SYMBOL_MAPS_MAX)
                return ORIGIN(-ENOSPC);
        map.symbols = strdup(symbols);
        map.modules = modules ? strdup(modules) : NULL;
        if (!map.symbols || (modules && !map.modules) || !ARRAY_GROW(m->items, m->n)) {
                json_fields_done(&symbol_map_table, &map);
                return -ENOMEM;
        }
        m->items[m->n++] = map;
        return 0;
}

void symbol_maps_drop_last(SymbolMaps *m) {
        assert(m->n > 0);
        json_fields_done(&symbol_map_table, &m->items[--m->n]);
}
