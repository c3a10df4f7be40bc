/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The message is text from the beginning on, for a tree of JSON takes several times as much memory,
 * and as long again to be written.  Which sessions there are is noted first; those that are removed
 * meanwhile are missing.  One whose client does not read as fast as that waits for it.
 */

#include <sys/utsname.h>
#include <time.h>

#include "base/array.h"
#include "base/io.h"
#include "daemon/api/api.h"
#include "wire/frame.h"

#define SLICE_NS (10 * NSEC_PER_MSEC)
#define PART_BYTES ((size_t) 512 << 10)
#define PAUSE_US 5000
#define RECENT_S 86400

typedef enum ListingKind {
        LISTING_SESSIONS, /* "sessions": every Session */
        LISTING_RECENT,   /* the same of those that are live, and that a limit ended within a day */
        LISTING_BRIEFS,   /* "briefs": a Brief of each */
} ListingKind;

struct Listing {
        LIST_ENTRY(Listing) link;
        sd_event_source *turn; /* NULL: it is among none yet */
        Methods *methods;
        ServerCall *call;
        ListingKind kind;
        Strv names;
        size_t i; /* of the next name */
        Buf text;
};

static Listing *listing_free(Listing *l) {
        if (!l)
                return NULL;
        if (l->turn)
                LIST_REMOVE(l, link);
        (void) sd_event_source_disable_unref(l->turn);
        (void) server_call_unref(l->call);
        strv_done(&l->names);
        buf_done(&l->text);
        return mfree(l);
}
DEFINE_CLEANUP(Listing *, listing_free);

static int add_text(const char *text, size_t n, void *userdata) {
        Buf *b = userdata;

        buf_add(b, text, n);
        return b->error < 0 ? -1 : 0;
}

static void add_json(Buf *b, const json_t *value) {
        if (!value || json_dump_callback(value, add_text, b, JSON_COMPACT) < 0)
                b->error = b->error ?: -ENOMEM;
}

/* --- what of one ------------------------------------------------------------------------------ */

/* Whether it is there still; -errno: that is not known.  *@ret: NULL without memory. */
static int describe(Sessions *sessions, const char *name, ListingKind kind, json_t **ret) {
        Session *s;
        int r;

        if (kind == LISTING_BRIEFS) {
                SessionEntry *e = sessions_find(sessions, name);

                if (e && e->session)
                        session_refresh(e->session);
                if (e)
                        *ret = brief_to_json(&session_entry_look(e)->brief);
                return e != NULL;
        }
        r = sessions_open(sessions, &s, name);
        if (r == 0)
                *ret = session_to_json(s);
        return r == SESSIONS_E_NONE ? 0 : r < 0 ? r : 1;
}

static bool is_recent(SessionEntry *e) {
        const Brief *b = &session_entry_look(e)->brief;

        return session_state_is_live(b->state) ||
               (b->limit != SESSION_LIMIT_NONE &&
                (uint64_t) time(NULL) < b->stop_ns / NSEC_PER_SEC + RECENT_S);
}

/* --- the answer ------------------------------------------------------------------------------- */

static const char *array_of(ListingKind kind) {
        return kind == LISTING_BRIEFS ? "\"briefs\":[" : "\"sessions\":[";
}

/* True if @l is over: nobody waits for it any more. */
static bool send_part(Listing *l) {
        char *text;

        buf_adds(&l->text, "]},\"continues\":true}");
        if (buf_take_string(&l->text, &text) < 0 || server_call_continue_text(l->call, text) < 0)
                return true;
        buf_adds(&l->text, "{\"parameters\":{");
        buf_adds(&l->text, array_of(l->kind));
        return false;
}

typedef enum Progress { GOES_ON, WAITS, IS_OVER } Progress;

/* No client would take it. */
static Progress refuse_long(Listing *l) {
        _cleanup_refusal_ Refusal refusal = {};

        if (refusal_set_errno(&refusal, EMSGSIZE,
                              "%zu sessions are too many for one reply; ask with \"more\", for the "
                              "\"newest\", or ListBriefs",
                              l->names.n) == REFUSED)
                (void) server_call_refuse(l->call, &refusal);
        return IS_OVER;
}

/* Many take no more of the loop's time than one. */
static uint64_t end_of_turn(const Methods *m) {
        const Listing *l;
        uint64_t n = 1;

        LIST_FOREACH(l, &m->listings, link)
        n++;
        return now_ns(CLOCK_MONOTONIC) + SLICE_NS / n;
}

/* IS_OVER: with an answer, or because nobody waits for one. */
static Progress listing_go_on(Listing *l) {
        uint64_t until_ns = end_of_turn(l->methods);
        char *text;

        if (!server_call_is_connected(l->call))
                return IS_OVER;
        if (server_call_is_behind(l->call))
                return WAITS;
        while (l->i < l->names.n && l->text.error == 0) {
                const char *name = l->names.items[l->i++];
                json_t *json = NULL;
                int r = describe(l->methods->sessions, name, l->kind, &json);

                if (r < 0)
                        l->text.error = r;
                else if (r > 0) {
                        if (l->text.data[l->text.n_data - 1] != '[')
                                buf_adds(&l->text, ",");
                        add_json(&l->text, json);
                        json_decref(json);
                }
                if (l->text.n_data > FRAME_REPLY_MAX - PART_BYTES && !l->call->wants_more)
                        return refuse_long(l);
                if (l->text.n_data > PART_BYTES && l->call->wants_more)
                        return send_part(l) ? IS_OVER : GOES_ON;
                if (now_ns(CLOCK_MONOTONIC) >= until_ns && l->i < l->names.n)
                        return GOES_ON;
        }
        buf_adds(&l->text, "]}}");
        if (buf_take_string(&l->text, &text) == 0)
                (void) server_call_reply_text(l->call, text);
        return IS_OVER; /* without an answer it is refused when it is freed */
}

static int on_turn(sd_event_source *source, uint64_t usec, void *userdata) {
        Listing *l = userdata;
        Progress progress = listing_go_on(l);

        if (progress == IS_OVER) {
                (void) listing_free(l);
                return 0;
        }
        (void) sd_event_source_set_time_relative(source, progress == WAITS ? PAUSE_US : 0);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int note_names(Listing *l, uint64_t n_newest) {
        const Sessions *sessions = l->methods->sessions;
        _cleanup_free_ SessionEntry **sorted = NULL;
        size_t n = sessions->n_entries;
        int r = sessions_sort(sessions, &sorted);

        for (size_t i = n_newest > 0 && n_newest < n ? n - n_newest : 0; r >= 0 && i < n; i++)
                if (l->kind != LISTING_RECENT || is_recent(sorted[i]))
                        r = strv_add(&l->names, sorted[i]->name);
        return r;
}

static int listing_begin(Listing *l, const json_t *head, uint64_t n_newest) {
        int r = note_names(l, n_newest);

        if (r < 0)
                return r;
        buf_adds(&l->text, "{\"parameters\":");
        add_json(&l->text, head);
        if (l->text.error < 0)
                return l->text.error;
        l->text.n_data--; /* the head goes on */
        buf_adds(&l->text, json_object_size(head) > 0 ? "," : "");
        buf_adds(&l->text, array_of(l->kind));
        return l->text.error;
}

/* Answers @call with @head (an object, consumed; what a failed json_*() gives is -ENOMEM) and what there is of @kind,
 * oldest first, at most @n_newest (0: all).  At once if that takes but a moment.  Whoever asks with `more` gets it in
 * parts, each a reply of its own that has the next of the sessions; the first has the rest, too.  0 or -errno. */
static int listings_answer(Methods *m, ServerCall *call, json_t *head, ListingKind kind,
                           uint64_t n_newest) {
        json_auto_t *consumed = head;
        _cleanup_(listing_freep) Listing *l = NEW(Listing, .methods = m, .text = BUF_INIT,
                                                  .kind = kind, .call = server_call_ref(call));
        int r = consumed && l ? listing_begin(l, head, n_newest) : -ENOMEM;

        if (r < 0 || listing_go_on(l) == IS_OVER)
                return r;
        r = sd_event_add_time_relative(m->event, &l->turn, CLOCK_MONOTONIC, 0, 0, on_turn, l);
        if (r < 0)
                return r;
        LIST_INSERT_HEAD(&m->listings, l, link);
        TAKE_PTR(l);
        return 0;
}

void listings_done(Methods *m) {
        for (Listing *l; (l = LIST_FIRST(&m->listings));)
                (void) listing_free(l);
}

/* --- the methods ------------------------------------------------------------------------------ */

/* How many sessions are in which state, what all of them lost, and what they take: members of @o.  0 or -1. */
static int add_counts(json_t *o, const Sessions *s) {
        size_t states[_SESSION_STATE_N] = {};
        uint64_t n_lost = 0, n_bytes = 0;
        json_t *counts = json_object();
        int r = 0;

        for (size_t i = 0; i < s->n_entries; i++) {
                const Brief *b;

                if (s->entries[i]->session)
                        session_refresh(s->entries[i]->session);
                b = &session_entry_look(s->entries[i])->brief;
                states[b->state]++;
                n_lost += b->events_lost;
                n_bytes += b->disk_bytes;
        }
        for (size_t i = 0; i < ELEMENTSOF(states); i++)
                if (states[i] > 0)
                        r |= json_object_set_new(counts, session_state_name((SessionState) i),
                                                 json_integer((json_int_t) states[i]));
        return r | json_object_update_new(
                           o, json_pack("{s:I, s:o, s:I}", "store_bytes", (json_int_t) n_bytes,
                                        "states", counts, "events_lost",
                                        (json_int_t) MIN(n_lost, (uint64_t) INT64_MAX)));
}

int method_get_status(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        _cleanup_(json_decrefp) json_t *reply = NULL;
        Methods *m = userdata;
        struct utsname u;

        if (uname(&u) < 0)
                return ORIGIN(-errno);
        reply = json_pack("{s:s, s:i, s:s, s:s, s:I, s:b, s:o*, s:s*, s:s*}", "version", PACKAGE_VERSION,
                          "pid", (int) getpid(), "kernel", u.release, "store", store_path(m->store),
                          "store_free_bytes", (json_int_t) store_free_bytes(m->store), "instances",
                          controller_has_instances(m->controller), "retention",
                          janitor_foresee(m->janitor), "tracefs",
                          controller_tracefs(m->controller), "not_put_back",
                          controller_debt(m->controller));
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
