/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A map is some 15 MB in memory and is asked for the time of one span only, and
 * events come in the order of time: so a map is read when a span needs it, and
 * dropped when another span needs others.
 */

#include "base/array.h"
#include "decode/symbol-timeline.h"

#define BEGINNING_BYTES_MAX 16

typedef struct Map {
        uint64_t unchanged_ns, from_ns;
        char *hash;       /* NULL: `symbols` was given to us */
        Symbols *symbols; /* NULL: not read yet */
        bool is_damaged;  /* and therefore empty */
} Map;

struct SymbolTimeline {
        const SessionDir *dir;
        Map *maps; /* in order of time, at least one */
        size_t n_maps;
};

static int add_map(SymbolTimeline *a, Map map) {
        if (ARRAY_ADD(a->maps, a->n_maps, map))
                return 0;
        free(map.hash);
        (void) symbols_free(map.symbols);
        return -ENOMEM;
}

/* -ENODATA, -ENOENT and what symbols_new() says. */
static int map_load(const SymbolTimeline *a, Map *m) {
        char *text = NULL;
        size_t n = 0;
        int r;

        if (m->symbols)
                return 0;
        r = session_dir_read_symbols(a->dir, m->hash, &text, &n);
        return r < 0 ? r : symbols_new(&m->symbols, text, n);
}

/* As map_load(), but empty if it cannot be had: names are addresses then. */
static int map_need(const SymbolTimeline *a, Map *m) {
        int r = map_load(a, m);

        if (r >= 0 || r == -ENOMEM)
                return r;
        /* Not if it was hidden, or the recording came without the store's symbols. */
        m->is_damaged = r != -ENODATA && r != -ENOENT && r != -EBADF;
        return symbols_new(&m->symbols, NULL, 0);
}

int symbol_timeline_new(SymbolTimeline **ret, Symbols *symbols) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = calloc(1, sizeof(*a));
        int r;

        if (!a) {
                (void) symbols_free(symbols);
                return -ENOMEM;
        }
        r = add_map(a, (Map){ .symbols = symbols });
        if (r < 0)
                return r;
        *ret = TAKE_PTR(a);
        return 0;
}

int symbol_timeline_add(SymbolTimeline *a, uint64_t unchanged_ns, uint64_t from_ns,
                        Symbols *symbols) {
        return add_map(a, (Map){ unchanged_ns, from_ns, NULL, symbols });
}

static int open_first(SymbolTimeline *a, const SessionMeta *meta) {
        Map first = {};
        int r = text_replace(&first.hash, meta->symbols);

        if (r >= 0)
                r = add_map(a, first);
        return r < 0 ? r : map_need(a, &a->maps[0]);
}

int symbol_timeline_open(SymbolTimeline **ret, const SessionDir *dir, const SessionMeta *meta) {
        _cleanup_(symbol_timeline_freep) SymbolTimeline *a = calloc(1, sizeof(*a));
        int r;

        if (!a)
                return -ENOMEM;
        a->dir = dir;
        r = open_first(a, meta);
        if (r >= 0)
                r = symbol_timeline_refresh(a, meta);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(a);
        return 0;
}

int symbol_timeline_refresh(SymbolTimeline *a, const SessionMeta *meta) {
        int changed = 0;

        for (size_t i = a->n_maps - 1; i < meta->symbol_maps.n; i++) {
                const SymbolMap *map = &meta->symbol_maps.items[i];
                char *hash = strdup(map->symbols);
                int r;

                if (!hash)
                        return -ENOMEM;
                r = add_map(a, (Map){ map->unchanged_ns, map->from_ns, hash, NULL });
                if (r < 0)
                        return r;
                changed = 1;
        }
        return changed;
}

bool symbol_timeline_is_damaged(const SymbolTimeline *a) {
        for (size_t i = 0; i < a->n_maps; i++)
                if (a->maps[i].is_damaged)
                        return true;
        return false;
}

bool symbol_timeline_has_names(const SymbolTimeline *a) {
        const Symbols *first = a->maps[0].symbols;

        /* The first is dropped only when there are later ones, and was read to be dropped. */
        return !first || (symbols_n(first) > 0 && !symbols_are_hidden(first));
}

int symbol_timeline_span(SymbolTimeline *a, uint64_t timestamp_ns, SymbolTimelineSpan *ret) {
        size_t older = 0, newer;
        uint64_t begin_ns, end_ns = UINT64_MAX;
        int r;

        while (older + 1 < a->n_maps && a->maps[older + 1].from_ns <= timestamp_ns)
                older++;
        newer = older;
        begin_ns = a->maps[older].from_ns;
        if (older + 1 < a->n_maps) {
                const Map *next = &a->maps[older + 1];

                end_ns = next->unchanged_ns;
                if (timestamp_ns >= end_ns) {
                        newer++;
                        begin_ns = next->unchanged_ns;
                        end_ns = next->from_ns;
                }
        }

        for (size_t i = 0; i < a->n_maps; i++)
                if (i != older && i != newer && a->maps[i].hash)
                        a->maps[i].symbols = symbols_free(a->maps[i].symbols);
        r = map_need(a, &a->maps[older]);
        if (r >= 0)
                r = map_need(a, &a->maps[newer]);
        if (r < 0)
                return r;
        *ret = (SymbolTimelineSpan){ begin_ns, end_ns, a->maps[older].symbols,
                                     a->maps[newer].symbols, false };
        return 0;
}

/* Behind the beginning the call of the tracer may follow another instruction or two. */
static bool begins(bool found, const Symbol *s, uint64_t address) {
        return found && symbol_is_function(s) && address - s->address <= BEGINNING_BYTES_MAX;
}

bool symbol_timeline_span_find(SymbolTimelineSpan *s, uint64_t address, Symbol *ret) {
        Symbol older = {}, newer = {};
        bool has_older = symbols_find(s->older, address, &older), has_newer, in_older, in_newer;

        if (s->newer == s->older) {
                *ret = older;
                return has_older;
        }
        has_newer = symbols_find(s->newer, address, &newer);
        in_older = begins(has_older, &older, address);
        in_newer = begins(has_newer, &newer, address);
        if (in_newer && !in_older && newer.module)
                s->has_turned = true;
        if (in_older == in_newer)
                in_newer = has_older && has_newer ? s->has_turned : has_newer;
        *ret = in_newer ? newer : older;
        return has_older || has_newer;
}

SymbolTimeline *symbol_timeline_free(SymbolTimeline *a) {
        if (!a)
                return NULL;
        for (size_t i = 0; i < a->n_maps; i++) {
                free(a->maps[i].hash);
                (void) symbols_free(a->maps[i].symbols);
        }
        free(a->maps);
        return mfree(a);
}
