/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A list of names, and a task that clears them one after the other as long as there are any: to unlink
 * a file may take a busy disk tenths of a second, during which the loop goes on.  What it unlinks
 * nobody else knows of any more, not even by its name (store_hide_session()).
 *
 * Symbols are another matter, for a session that is about to be may want them: they are looked at in
 * the loop, by an event source after all others, when the last of the list is gone; so whoever removes
 * one session after the other has them looked at once.  If it is not known at the moment who uses them
 * it is tried again at removal_look().
 *
 * What cannot be unlinked is said and left to the next daemon, which tries again when it opens the
 * store.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/now.h"
#include "daemon/upkeep/removal.h"

#define SLICE_NS (50 * NSEC_PER_MSEC)

struct Removal {
        Store *store;
        Background *sweeper;
        RemovalUsed used;
        void *userdata;
        sd_event_source *source; /* of looking at symbols */
        bool symbols_are_due;
        bool is_running; /* the task is under way, or will be */
        Strv names;      /* what store_hide_session() called them; the first is being cleared */
};

/* --- files ------------------------------------------------------------------------------------ */

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
        removal_look(r);
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
        if (background_run(r->sweeper, clear, r) < 0)
                clear(r); /* the loop waits */
        return 0;
}

/* --- symbols ---------------------------------------------------------------------------------- */

static void drop_symbols(Removal *r) {
        _cleanup_strv_ Strv used = {};
        int k = r->used(&used, r->userdata);

        if (k == REMOVAL_E_LATER)
                return;
        r->symbols_are_due = false;
        if (k == 0)
                k = store_drop_symbols(r->store, &used);
        if (k < 0)
                log_warning_errno(k, "Cannot remove the symbols that no session uses any more: %m");
}

static int on_free_loop(sd_event_source *source, void *userdata) {
        Removal *r = userdata;

        if (r->symbols_are_due && !r->is_running)
                drop_symbols(r);
        return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

void removal_look(Removal *r) {
        if (r && r->symbols_are_due)
                (void) sd_event_source_set_enabled(r->source, SD_EVENT_ON);
}

/* ---------------------------------------------------------------------------------------------- */

int removal_new(Removal **ret, sd_event *event, Background *sweeper, Store *store, RemovalUsed used,
                void *userdata) {
        _cleanup_(removal_freep) Removal *r = NEW(Removal, .sweeper = sweeper, .store = store,
                                                  .used = used, .userdata = userdata);
        int k;

        if (!r)
                return -ENOMEM;
        k = sd_event_add_defer(event, &r->source, on_free_loop, r);
        if (k >= 0)
                k = sd_event_source_set_enabled(r->source, SD_EVENT_OFF);
        if (k >= 0)
                k = sd_event_source_set_priority(r->source, SD_EVENT_PRIORITY_IDLE + 1);
        if (k < 0)
                return k;
        *ret = TAKE_PTR(r);
        return 0;
}

Removal *removal_free(Removal *r) {
        if (!r)
                return NULL;
        if (r->is_running)
                background_settle(r->sweeper);
        (void) sd_event_source_disable_unref(r->source);
        strv_done(&r->names);
        return mfree(r);
}
