/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A table for one map, and the order that a stranger's list must have to be believed. */

#include <assert.h>
#include <stdlib.h>

#include "base/grow.h"
#include "store/json-field.h"
#include "store/symbol-file.h"
#include "store/symbol-map.h"

#define FIELD(member, ...)                                                                         \
        { .key = #member, .offset = offsetof(SymbolMap, member), __VA_ARGS__ }

static const JsonField map_fields[] = {
        FIELD(unchanged_ns, .type = JSON_FIELD_U64, .max = INT64_MAX),
        FIELD(from_ns, .type = JSON_FIELD_U64, .max = INT64_MAX),
        FIELD(symbols, .type = JSON_FIELD_TEXT, .flags = JSON_FIELD_REQUIRED,
              .max_text = SYMBOL_HASH_CHARS, .is_valid = symbol_hash_is_valid),
        FIELD(modules, .type = JSON_FIELD_TEXT, .flags = JSON_FIELD_NULLABLE,
              .max_text = SYMBOL_HASH_CHARS, .is_valid = symbol_hash_is_valid),
};

static void map_done(SymbolMap *m) {
        free(m->symbols);
        free(m->modules);
}

static int make_room(SymbolMaps *m) {
        if (m->n >= SYMBOL_MAPS_MAX)
                return ORIGIN(-ENOSPC);
        if (!ARRAY_GROW(m->items, m->n))
                return -ENOMEM;
        m->items[m->n] = (SymbolMap){};
        return 0;
}

int symbol_maps_add(SymbolMaps *m, uint64_t unchanged_ns, uint64_t from_ns, const char *symbols,
                    const char *modules) {
        SymbolMap *map;
        int r = make_room(m);

        if (r < 0)
                return r;
        map = &m->items[m->n];
        *map = (SymbolMap){ .unchanged_ns = unchanged_ns, .from_ns = from_ns };
        map->symbols = strdup(symbols);
        map->modules = modules ? strdup(modules) : NULL;
        if (!map->symbols || (modules && !map->modules)) {
                map_done(map);
                return -ENOMEM;
        }
        m->n++;
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
        json_t *list = json_array();

        for (size_t i = 0; list && i < m->n; i++) {
                json_t *o = json_object();

                if (!o ||
                    json_fields_write(o, map_fields, ELEMENTSOF(map_fields), &m->items[i]) < 0) {
                        json_decref(o);
                        o = NULL;
                }
                if (json_array_append_new(list, o) < 0) {
                        json_decref(list);
                        return NULL;
                }
        }
        return list;
}

int symbol_maps_from_json(SymbolMaps *ret, const json_t *list) {
        uint64_t last_ns = 0;

        *ret = (SymbolMaps){};
        if (!list || json_is_null(list))
                return 0;
        if (!json_is_array(list) || json_array_size(list) > SYMBOL_MAPS_MAX)
                return SYMBOL_MAPS_E_INVALID;
        for (size_t i = 0; i < json_array_size(list); i++) {
                const char *member; /* refusals name the list */
                SymbolMap *map;
                int r = make_room(ret);

                if (r < 0)
                        return r;
                map = &ret->items[ret->n++];
                r = json_fields_read(map, map_fields, ELEMENTSOF(map_fields),
                                     json_array_get(list, i), &member);
                if (r != 0)
                        return r;
                if (map->unchanged_ns < last_ns || map->from_ns < map->unchanged_ns)
                        return SYMBOL_MAPS_E_INVALID;
                last_ns = map->from_ns;
        }
        return 0;
}
