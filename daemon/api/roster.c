/* SPDX-License-Identifier: GPL-2.0-or-later */

/* An array for whoever wants all of them, and a tree of tsearch(3) for whoever wants one. */

#include <search.h>

#include "base/array.h"
#include "base/hash.h"
#include "daemon/api/roster.h"

struct RosterSymbols {
        RosterSymbols *next;
        size_t n_users;
        uint64_t hash;
        Strv names;
};

struct Roster {
        RosterEntry **items;
        size_t n;
        void *by_name; /* the tree */
        RosterSymbols *symbols;
};

static int compare_names(const void *a, const void *b) {
        return strcmp(((const RosterEntry *) a)->name, ((const RosterEntry *) b)->name);
}

int roster_new(Roster **ret) {
        *ret = calloc(1, sizeof(**ret));
        return *ret ? 0 : -ENOMEM;
}

int roster_add(Roster *r, const char *name, RosterEntry **ret) {
        _cleanup_free_ RosterEntry *e = calloc(1, sizeof(*e));
        _cleanup_free_ char *copy = strdup(name);

        if (!e || !copy || !ARRAY_GROW(r->items, r->n))
                return -ENOMEM;
        e->name = copy;
        e->at = r->n;
        if (!tsearch(e, &r->by_name, compare_names))
                return -ENOMEM;
        TAKE_PTR(copy);
        *ret = r->items[r->n++] = TAKE_PTR(e);
        return 0;
}

RosterEntry *roster_find(const Roster *r, const char *name) {
        const RosterEntry wanted = { .name = (char *) name };
        RosterEntry *const *at = tfind(&wanted, &r->by_name, compare_names);

        return at ? *at : NULL;
}

RosterEntry *roster_find_id(const Roster *r, const char *id) {
        for (size_t i = 0; i < r->n; i++) {
                RosterEntry *e = r->items[i];
                const char *own = e->session    ? session_meta(e->session)->id
                                  : e->is_known ? e->rest.brief.id
                                                : NULL;

                if (own && streq(own, id))
                        return e;
        }
        return NULL;
}

size_t roster_n(const Roster *r) {
        return r->n;
}

RosterEntry *roster_get(const Roster *r, size_t i) {
        return r->items[i];
}

uint64_t roster_start_ns(const RosterEntry *e) {
        return e->session ? session_meta(e->session)->start.realtime_ns : e->rest.brief.start_ns;
}

static int by_start(const void *a, const void *b) {
        const RosterEntry *x = *(RosterEntry *const *) a, *y = *(RosterEntry *const *) b;
        uint64_t x_ns = roster_start_ns(x), y_ns = roster_start_ns(y);

        if (x_ns != y_ns)
                return x_ns < y_ns ? -1 : 1;
        return strcmp(x->name, y->name);
}

int roster_sort(const Roster *r, RosterEntry ***ret) {
        RosterEntry **sorted = calloc(r->n + 1, sizeof(RosterEntry *));

        if (!sorted)
                return -ENOMEM;
        memcpy(sorted, r->items, r->n * sizeof(RosterEntry *));
        qsort(sorted, r->n, sizeof(RosterEntry *), by_start);
        *ret = sorted;
        return 0;
}

/* --- symbols ---------------------------------------------------------------------------------- */

static void drop_symbols(Roster *r, RosterSymbols *symbols) {
        RosterSymbols **at = &r->symbols;

        if (!symbols || --symbols->n_users > 0)
                return;
        while (*at != symbols)
                at = &(*at)->next;
        *at = symbols->next;
        strv_done(&symbols->names);
        free(symbols);
}

int roster_set_symbols(Roster *r, RosterEntry *e, Strv *names) {
        uint64_t hash = HASH_BYTES_FIRST;
        RosterSymbols *one = r->symbols;

        for (size_t i = 0; i < names->n; i++)
                hash = hash_bytes(hash, names->items[i], strlen(names->items[i]));
        while (one && (one->hash != hash || !strv_equal(&one->names, names)))
                one = one->next;
        if (one)
                strv_done(names);
        else {
                one = NEW(RosterSymbols, .next = r->symbols, .hash = hash,
                          .names = TAKE(*names, (Strv){}));
                if (!one)
                        return -ENOMEM;
                r->symbols = one;
        }
        one->n_users++;
        drop_symbols(r, e->symbols);
        e->symbols = one;
        return 0;
}

int roster_add_symbols(const Roster *r, Strv *ret) {
        int k = 0;

        for (const RosterSymbols *one = r->symbols; one; one = one->next)
                for (size_t i = 0; k >= 0 && i < one->names.n; i++)
                        k = strv_add_new(ret, one->names.items[i]);
        return k;
}

/* ---------------------------------------------------------------------------------------------- */

void roster_remove(Roster *r, RosterEntry *e) {
        (void) tdelete(e, &r->by_name, compare_names);
        r->items[e->at] = r->items[--r->n];
        r->items[e->at]->at = e->at;
        drop_symbols(r, e->symbols);
        session_rest_done(&e->rest);
        free(e->name);
        free(e);
}

Roster *roster_free(Roster *r) {
        if (!r)
                return NULL;
        while (r->n > 0)
                roster_remove(r, r->items[r->n - 1]);
        free(r->items);
        return mfree(r);
}
