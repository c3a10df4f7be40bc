/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What there is: answers that have many sessions in them (listing.c), and numbers of all of them, from memory. */

#include <sys/utsname.h>

#include "daemon/api/api.h"

/* How many sessions are in which state, what all of them lost, and what they take: members of @o.  0 or -1. */
static int add_counts(json_t *o, const Sessions *s) {
        size_t states[_SESSION_STATE_N] = {};
        uint64_t n_lost = 0, n_bytes = 0;
        json_t *counts = json_object();
        int r = 0;

        for (size_t i = 0; i < s->n_entries; i++) {
                const SessionEntry *e = s->entries[i];
                const SessionMeta *m = e->session ? session_meta(e->session) : NULL;

                if (m)
                        session_refresh(e->session);
                states[m ? m->state : e->rest.brief.state]++;
                n_lost += m ? session_meta_events_lost(m) : e->rest.brief.events_lost;
                n_bytes += session_entry_disk_bytes(e);
        }
        for (size_t i = 0; i < ELEMENTSOF(states); i++)
                if (states[i] > 0)
                        r |= json_object_set_new(counts, session_state_name((SessionState) i),
                                                 json_integer((json_int_t) states[i]));
        r |= json_object_set_new(o, "store_bytes", json_integer((json_int_t) n_bytes));
        r |= json_object_set_new(o, "states", counts);
        r |= json_object_set_new(o, "events_lost",
                                 json_integer((json_int_t) MIN(n_lost, (uint64_t) INT64_MAX)));
        return r;
}

int method_get_status(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        _cleanup_(json_decrefp) json_t *reply = NULL;
        Methods *m = userdata;
        struct utsname u;

        if (uname(&u) < 0)
                return ORIGIN(-errno);
        reply = json_pack("{s:s, s:i, s:s, s:s, s:I, s:b, s:o*, s:s*}", "version", PACKAGE_VERSION,
                          "pid", (int) getpid(), "kernel", u.release, "store", store_path(m->store),
                          "store_free_bytes", (json_int_t) store_free_bytes(m->store), "instances",
                          controller_has_instances(m->controller), "retention",
                          janitor_foresee(m->janitor), "tracefs",
                          controller_tracefs(m->controller));
        if (!reply || add_counts(reply, m->sessions) < 0)
                return -ENOMEM;
        return listings_answer(m, call, TAKE_PTR(reply),
                               json_is_true(json_object_get(parameters, "brief"))
                                       ? LISTING_RECENT
                                       : LISTING_SESSIONS,
                               0);
}

static int list(ServerCall *call, json_t *parameters, Methods *m, ListingKind kind) {
        json_int_t n_newest = json_integer_value(json_object_get(parameters, "newest"));

        return listings_answer(m, call,
                               json_pack("{s:o*, s:I}", "retention", janitor_foresee(m->janitor),
                                         "total", (json_int_t) m->sessions->n_entries),
                               kind, (uint64_t) n_newest);
}

int method_list(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return list(call, parameters, userdata, LISTING_SESSIONS);
}

int method_list_briefs(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return list(call, parameters, userdata, LISTING_BRIEFS);
}
