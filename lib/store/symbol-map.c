/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A table for one map, and the order that a stranger's list must have to be believed. */

#include <assert.h>
#include <stdlib.h>

#include "base/grow.h"
#include "store/json-field.h"
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

static void map_done(SymbolMap *m) {
        free(m->symbols);
        free(m->modules);
}

int symbol_maps_add(SymbolMaps *m, uint64_t unchanged_ns, uint64_t from_ns, const char *symbols,
                    const char *modules) {
        SymbolMap map = { .unchanged_ns = unchanged_ns, .from_ns = from_ns };

        if (m->n >= SYMBOL_MAPS_MAX)
                return ORIGIN(-ENOSPC);
        map.symbols = strdup(symbols);
        map.modules = modules ? strdup(modules) : NULL;
        if (!map.symbols || (modules && !map.modules) || !ARRAY_GROW(m->items, m->n)) {
                map_done(&map);
                return -ENOMEM;
        }
        m->items[m->n++] = map;
        return 0;
}

void symbol_maps_drop_last(SymbolMaps *m) {
        assert(m->n > 0);
        map_done(&m->items[--m->n]);
}

void symbol_maps_done(SymbolMaps *m) {
        while (m->n > 0)
                symbol_maps_drop_last(m);
        free(m->items);
        m->items = NULL;
}

json_t *symbol_maps_to_json(const SymbolMaps *m) {
        return json_fields_new_list(fields, ELEMENTSOF(fields), m->items, m->n, sizeof(*m->items));
}

int symbol_maps_from_json(SymbolMaps *ret, const json_t *list) {
        int r = json_fields_read_list(&ret->items, &ret->n, fields, ELEMENTSOF(fields),
                                      sizeof(*ret->items), list, SYMBOL_MAPS_MAX);
        uint64_t last_ns = 0;

        for (size_t i = 0; r == 0 && i < ret->n; i++) {
                const SymbolMap *map = &ret->items[i];

                if (map->unchanged_ns < last_ns || map->from_ns < map->unchanged_ns)
                        r = SYMBOL_MAPS_E_INVALID;
                last_ns = map->from_ns;
        }
        return r;
}
