/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A list of names, and a task that clears them one after the other as long as there are any: to unlink
 * a file may take a busy disk tenths of a second, during which the loop goes on.  What it unlinks
 * nobody else knows of any more, not even by its name (store_hide_session()).  What cannot be unlinked is
 * said and left to the next daemon, which tries again when it opens the store.
 *
 * Symbols are another matter, for a session that is about to be may want them: they are looked at when the last of
 * the list is gone, and it is known who uses them.
 */

#include "base/io.h"
#include "base/log.h"
#include "daemon/upkeep/upkeep.h"

#define SLICE_NS (50 * NSEC_PER_MSEC)

struct Removal {
        Store *store;
        Background *sweeper;
        RemovalUsed used;
        void *userdata;
        bool symbols_are_due;
        bool is_running; /* the task is under way, or will be */
        Strv names;      /* what store_hide_session() called them; the first is being cleared */
};

bool removal_go_on(Removal *r, uint64_t *freed_bytes) {
        const char *name = r->names.n > 0 ? r->names.items[0] : NULL;
        uint64_t n_bytes = 0;
        int k;

        if (!name)
                return false;
        k = BACKGROUND_CALL(
                store_clear_hidden(r->store, name, now_ns(CLOCK_MONOTONIC) + SLICE_NS, &n_bytes));
        if (freed_bytes)
                *freed_bytes += n_bytes;
        if (k < 0)
                log_warning_errno(
                        k,
                        "A session is removed, but not all of its files in %s/sessions/%s "
                        "could be: %m; the next ftraced tries again.",
                        store_path(r->store), name);
        if (k != TREE_GOES_ON)
                free(strv_take_first(&r->names));
        return true;
}

/* A task. */
static void clear(void *userdata) {
        Removal *r = userdata;

        while (removal_go_on(r, NULL))
                ;
        r->is_running = false;
        r->symbols_are_due = true;
}

int removal_add(Removal *r, const char *name) {
        _cleanup_free_ char *hidden = NULL;
        int k;

        k = strv_add(&r->names, ""); /* its place: nothing may fail once it is hidden */
        if (k < 0)
                return k;
        k = store_hide_session(r->store, name, &hidden);
        if (k < 0) {
                free(r->names.items[--r->names.n]);
                return k;
        }
        free(r->names.items[r->names.n - 1]);
        r->names.items[r->names.n - 1] = TAKE_PTR(hidden);
        if (TAKE(r->is_running, true))
                return 0;
        background_run(r->sweeper, clear, r);
        return 0;
}

void removal_look(Removal *r) {
        _cleanup_strv_ Strv used = {};
        int k = r->symbols_are_due && !r->is_running ? r->used(&used, r->userdata)
                                                     : REMOVAL_E_LATER;

        if (k == REMOVAL_E_LATER)
                return;
        r->symbols_are_due = false;
        k = k ?: store_drop_symbols(r->store, &used);
        if (k < 0)
                log_warning_errno(k, "Cannot remove the symbols that no session uses any more: %m");
}

int removal_new(Removal **ret, Background *sweeper, Store *store, RemovalUsed used,
                void *userdata) {
        *ret = NEW(Removal, .sweeper = sweeper, .store = store, .used = used, .userdata = userdata);
        return *ret ? 0 : -ENOMEM;
}

Removal *removal_free(Removal *r) {
        if (!r)
                return NULL;
        if (r->is_running)
                background_settle(r->sweeper);
        strv_done(&r->names);
        return mfree(r);
}
