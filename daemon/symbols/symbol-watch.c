/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel tells nobody without a netlink socket that a module came, so we
 * look.  The last look that saw the old modules and the first that saw the new
 * ones are both kept: in between either may be right.  On a full disk the symbols
 * of a changed kernel cannot be stored, and reading them is dear: after a failure
 * the next looks are left out, more of them each time.
 */

#include "base/array.h"
#include "base/io.h"
#include "daemon/symbols/symbol-watch.h"

#define SKIP_SHIFT_MAX 5U /* 32 looks */

/* What is not there has an empty name. */
static int replace(char **p, const char *hash) {
        return text_replace(p, *hash ? hash : NULL);
}

int symbol_watch_begin(KernelSymbols *k, int symbols_fd, SessionMeta *m) {
        const SymbolNames *names;
        int r = kernel_symbols_store(k, symbols_fd, &names);

        if (r != 0)
                return r;
        r = replace(&m->symbols, names->symbols);
        return r < 0 ? r : replace(&m->modules, names->modules);
}

static bool is_same(const SymbolNames *names, const char *symbols, const char *modules) {
        return streq(names->symbols, symbols) && streq(names->modules, modules ?: "");
}

static int look(SymbolWatch *w, KernelSymbols *k, int symbols_fd, SessionMeta *m,
                uint64_t trace_ns) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        const SymbolMap *last =
                m->symbol_maps.n > 0 ? &m->symbol_maps.items[m->symbol_maps.n - 1] : NULL;
        const SymbolNames *names;
        int r = kernel_symbols_store(k, symbols_fd, &names);

        if (r != 0)
                return MIN(r, 0); /* hidden meanwhile: what is known stays */
        if (is_same(names, last ? last->symbols : m->symbols, last ? last->modules : m->modules)) {
                w->seen_ns = trace_ns;
                return 0;
        }
        r = symbol_maps_add(&m->symbol_maps, MAX(w->seen_ns, last ? last->from_ns : 0),
                            trace_ns + now_ns(CLOCK_MONOTONIC) - since_ns, names->symbols,
                            *names->modules ? names->modules : NULL);
        return r < 0 ? r : SYMBOL_WATCH_E_CHANGED;
}

int symbol_watch_look(SymbolWatch *w, KernelSymbols *k, int symbols_fd, SessionMeta *m,
                      uint64_t trace_ns) {
        int r;

        if (!m->symbols)
                return 0;
        if (w->n_failures > 0 && w->n_skipped < 1U << MIN(w->n_failures, SKIP_SHIFT_MAX)) {
                w->n_skipped++;
                return 0;
        }
        w->n_skipped = 0;
        r = look(w, k, symbols_fd, m, trace_ns);
        w->n_failures = r < 0 ? w->n_failures + 1 : 0;
        return r;
}
