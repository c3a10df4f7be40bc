/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A list of names and an event source that is always due while there are any, after all others: who
 * removes one session after the other has the symbols looked at once, at the end.  What cannot be
 * unlinked is said and left to the next daemon, which tries again when it opens the store.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/now.h"
#include "daemon/removal.h"

#define SLICE_NS (10 * NSEC_PER_MSEC)

struct Removal {
        Store *store;
        RemovalUsed used;
        void *userdata;
        sd_event_source *source;
        Strv names;
};

static void drop_symbols(Removal *r) {
        _cleanup_strv_ Strv used = {};
        int k = r->used(&used, r->userdata);

        if (k == 0)
                k = store_drop_symbols(r->store, &used);
        if (k < 0)
                log_warning_errno(k, "Cannot remove the symbols that no session uses any more: %m");
}

bool removal_go_on(Removal *r, uint64_t until_ns, uint64_t *freed_bytes) {
        while (r->names.n > 0) {
                char **last = &r->names.items[r->names.n - 1];
                int k = store_clear_hidden(r->store, *last, until_ns, freed_bytes);

                if (k == TREE_GOES_ON)
                        return true;
                if (k < 0)
                        log_warning_errno(k,
                                          "Session '%s' is removed, but not all of its files could "
                                          "be: %m; the next ftraced tries again.",
                                          *last);
                free(TAKE_PTR(*last));
                r->names.n--;
                if (now_ns(CLOCK_MONOTONIC) >= until_ns)
                        break;
        }
        return r->names.n > 0;
}

static int on_free_loop(sd_event_source *source, void *userdata) {
        Removal *r = userdata;

        if (removal_go_on(r, now_ns(CLOCK_MONOTONIC) + SLICE_NS, NULL))
                return 0;
        drop_symbols(r);
        return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

int removal_add(Removal *r, const char *name) {
        int k;

        k = strv_add(&r->names, name);
        if (k < 0)
                return k;
        k = store_hide_session(r->store, name);
        if (k < 0) {
                free(r->names.items[--r->names.n]);
                return k;
        }
        (void) sd_event_source_set_enabled(r->source, SD_EVENT_ON);
        return 0;
}

int removal_new(Removal **ret, sd_event *event, Store *store, RemovalUsed used, void *userdata) {
        _cleanup_(removal_freep) Removal *r = calloc(1, sizeof(*r));
        int k;

        if (!r)
                return -ENOMEM;
        *r = (Removal){ .store = store, .used = used, .userdata = userdata };
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
        (void) removal_go_on(r, UINT64_MAX, NULL);
        (void) sd_event_source_disable_unref(r->source);
        strv_done(&r->names);
        free(r);
        return NULL;
}
