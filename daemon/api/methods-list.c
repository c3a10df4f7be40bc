/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What there is: answers that have many sessions in them (daemon/api/listing.h), and numbers of all of them, from
 * what is in memory.  Who asks for all waits until all have been read.
 */

#include <sys/utsname.h>

#include "daemon/api/janitor.h"
#include "daemon/api/methods-private.h"

/* How many sessions are in which state, and what all of them lost: members of @o.  0 or -1. */
static int add_counts(json_t *o, const Roster *roster) {
        size_t states[_SESSION_STATE_N] = {};
        json_t *counts = json_object();
        uint64_t n_lost = 0;
        int r = 0;

        for (size_t i = 0; i < roster_n(roster); i++) {
                const RosterEntry *e = roster_get(roster, i);
                const SessionMeta *m = e->session ? session_meta(e->session) : NULL;

                if (!e->is_known)
                        continue;
                if (m)
                        session_refresh(e->session);
                states[m ? m->state : e->rest.brief.state]++;
                n_lost += m ? session_meta_events_lost(m) : e->rest.brief.events_lost;
        }
        for (size_t i = 0; i < ELEMENTSOF(states); i++)
                if (states[i] > 0)
                        r |= json_object_set_new(counts, session_state_name((SessionState) i),
                                                 json_integer((json_int_t) states[i]));
        r |= json_object_set_new(o, "states", counts);
        r |= json_object_set_new(o, "events_lost",
                                 json_integer((json_int_t) MIN(n_lost, (uint64_t) INT64_MAX)));
        return r;
}

/* NULL: all are known. */
static json_t *survey_to_json(const Sessions *sessions) {
        size_t n_known, n;

        return sessions_are_known(sessions, &n_known, &n)
                       ? NULL
                       : json_pack("{s:I, s:I}", "done", (json_int_t) n_known, "total",
                                   (json_int_t) n);
}

int method_get_status(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        Methods *m = userdata;
        const char *tracefs = controller_tracefs(m->controller);
        struct utsname u;
        bool is_brief = false;
        json_t *reply;
        int r = parameter_get_boolean(parameters, "brief", &is_brief, refusal);

        if (r != 0)
                return r;
        if (!is_brief && !sessions_are_known(m->sessions, NULL, NULL))
                return methods_run_known(m, call, parameters, method_get_status);
        if (uname(&u) < 0)
                return ORIGIN(-errno);
        reply = json_pack("{s:s, s:i, s:s, s:s, s:I, s:I, s:b, s:o*, s:o*}", "version",
                          PACKAGE_VERSION, "pid", (int) getpid(), "kernel", u.release, "store",
                          store_path(m->store), "store_bytes",
                          (json_int_t) sessions_disk_bytes(m->sessions), "store_free_bytes",
                          (json_int_t) store_free_bytes(m->store), "instances",
                          controller_has_instances(m->controller), "retention",
                          janitor_foresee(m->janitor), "survey", survey_to_json(m->sessions));
        if (!reply)
                return -ENOMEM;
        if (add_counts(reply, sessions_roster(m->sessions)) < 0 ||
            (tracefs && json_object_set_new(reply, "tracefs", json_string(tracefs)) < 0)) {
                json_decref(reply);
                return -ENOMEM;
        }
        return listings_answer(m->listings, call, reply,
                               is_brief ? LISTING_RECENT : LISTING_SESSIONS, 0);
}

/* @again: the method, for when more is known. */
static int list(ServerCall *call, json_t *parameters, Refusal *refusal, Methods *m,
                ListingKind kind, ServerMethodHandler again) {
        uint64_t n_newest;
        int r = parameter_get_number(parameters, "newest", &n_newest, refusal);

        if (r != 0)
                return r;
        if (!sessions_are_known(m->sessions, NULL, NULL) &&
            (n_newest == 0 || !sessions_know_newest(m->sessions, (size_t) n_newest)))
                return methods_run_known(m, call, parameters, again);
        return listings_answer(m->listings, call,
                               json_pack("{s:o*, s:I}", "retention", janitor_foresee(m->janitor),
                                         "total",
                                         (json_int_t) roster_n(sessions_roster(m->sessions))),
                               kind, n_newest);
}

int method_list(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return list(call, parameters, refusal, userdata, LISTING_SESSIONS, method_list);
}

int method_list_briefs(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        return list(call, parameters, refusal, userdata, LISTING_BRIEFS, method_list_briefs);
}
