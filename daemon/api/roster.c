/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * An array for whoever wants all of them, and chains by the names' hashes for whoever wants one, as many as
 * there are places in the array: a Hash takes nothing out again.
 */

#include "base/hash.h"
#include "base/strv.h"
#include "daemon/api/roster.h"

#define FIRST_ROOM 64

struct RosterSymbols {
        RosterSymbols *next;
        size_t n_users;
        uint64_t hash;
        Strv names;
};

struct Roster {
        RosterEntry **items, **chains; /* n_room each */
        size_t n, n_room;
        RosterSymbols *symbols;
};

/* Nobody gains by names that collide, for who may record may do worse. */
static RosterEntry **chain_of(const Roster *r, const char *name) {
        return &r->chains[hash_bytes(HASH_BYTES_FIRST, name, strlen(name)) & (r->n_room - 1)];
}

static void chain(Roster *r, RosterEntry *e) {
        RosterEntry **at = chain_of(r, e->name);

        e->next = *at;
        *at = e;
}

static int make_room(Roster *r) {
        size_t n_room = r->n_room * 2;
        RosterEntry **items, **chains;

        if (r->n < r->n_room)
                return 0;
        chains = calloc(n_room, sizeof(RosterEntry *));
        items = chains ? reallocarray(r->items, n_room, sizeof(RosterEntry *)) : NULL;
        if (!items) {
                free(chains);
                return -ENOMEM;
        }
        free(r->chains);
        r->items = items;
        r->chains = chains;
        r->n_room = n_room;
        for (size_t i = 0; i < r->n; i++)
                chain(r, r->items[i]);
        return 0;
}

int roster_new(Roster **ret) {
        _cleanup_(roster_freep) Roster *r = calloc(1, sizeof(*r));

        if (!r)
                return -ENOMEM;
        r->n_room = FIRST_ROOM;
        r->items = calloc(r->n_room, sizeof(RosterEntry *));
        r->chains = calloc(r->n_room, sizeof(RosterEntry *));
        if (!r->items || !r->chains)
                return -ENOMEM;
        *ret = TAKE_PTR(r);
        return 0;
}

int roster_add(Roster *r, const char *name, RosterEntry **ret) {
        RosterEntry *e;
        int k = make_room(r);

        if (k < 0)
                return k;
        e = calloc(1, sizeof(*e));
        if (!e || !(e->name = strdup(name))) {
                free(e);
                return -ENOMEM;
        }
        e->at = r->n;
        r->items[r->n++] = e;
        chain(r, e);
        *ret = e;
        return 0;
}

RosterEntry *roster_find(const Roster *r, const char *name) {
        RosterEntry *e = *chain_of(r, name);

        while (e && !streq(e->name, name))
                e = e->next;
        return e;
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
                one = malloc(sizeof(*one));
                if (!one)
                        return -ENOMEM;
                *one = (RosterSymbols){ .next = r->symbols,
                                        .hash = hash,
                                        .names = TAKE(*names, (Strv){}) };
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
                        if (!strv_contains(ret, one->names.items[i]))
                                k = strv_add(ret, one->names.items[i]);
        return k;
}

/* ---------------------------------------------------------------------------------------------- */

static void entry_free(Roster *r, RosterEntry *e) {
        drop_symbols(r, e->symbols);
        session_rest_done(&e->rest);
        free(e->name);
        free(e);
}

void roster_remove(Roster *r, RosterEntry *e) {
        RosterEntry **at = chain_of(r, e->name);

        while (*at != e)
                at = &(*at)->next;
        *at = e->next;
        r->items[e->at] = r->items[--r->n];
        r->items[e->at]->at = e->at;
        entry_free(r, e);
}

Roster *roster_free(Roster *r) {
        if (!r)
                return NULL;
        for (size_t i = 0; i < r->n; i++)
                entry_free(r, r->items[i]);
        free(r->items);
        free(r->chains);
        return mfree(r);
}
