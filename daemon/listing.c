/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The message is text from the beginning on, for a tree of JSON takes several times as much memory,
 * and as long again to be written.  Which sessions there are is noted first; those that are removed
 * meanwhile are missing.  Several listings take turns.
 */

#include "base/buf.h"
#include "base/now.h"
#include "base/strv.h"
#include "daemon/listing.h"

#define SLICE_NS (10 * NSEC_PER_MSEC)

typedef struct Listing Listing;
struct Listing {
        Listing *next;
        ServerCall *call;
        Strv names;
        size_t i;  /* of the next name */
        size_t at; /* where in the sessions it should be found */
        Buf text;
};

struct Listings {
        Sessions *sessions;
        sd_event_source *source;
        Listing *first;
};

static Listing *listing_free(Listing *l) {
        if (!l)
                return NULL;
        (void) server_call_unref(l->call);
        strv_done(&l->names);
        buf_done(&l->text);
        free(l);
        return NULL;
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

/* Others move down when one is removed, and up never. */
static Session *find(Sessions *sessions, Listing *l) {
        const char *name = l->names.items[l->i++];

        for (size_t i = MIN(l->at + 1, sessions_n(sessions)); i > 0; i--) {
                Session *s = sessions_get(sessions, i - 1);

                if (streq(session_name(s), name)) {
                        l->at = i;
                        return s;
                }
        }
        return NULL;
}

/* Whether it is done: with an answer, or because nobody waits for one. */
static bool listing_go_on(Listing *l, Sessions *sessions, uint64_t until_ns) {
        char *text;

        if (!server_call_is_connected(l->call))
                return true;
        while (l->i < l->names.n && l->text.error == 0) {
                Session *s = find(sessions, l);
                json_t *json;

                if (!s)
                        continue;
                if (l->text.data[l->text.n_data - 1] != '[')
                        buf_adds(&l->text, ",");
                json = session_to_json(s);
                add_json(&l->text, json);
                json_decref(json);
                if (now_ns(CLOCK_MONOTONIC) >= until_ns && l->i < l->names.n)
                        return false;
        }
        buf_adds(&l->text, "]}}");
        if (buf_take_string(&l->text, &text) == 0)
                (void) server_call_reply_text(l->call, text);
        return true; /* without an answer it is refused when it is freed */
}

static int on_free_loop(sd_event_source *source, void *userdata) {
        Listings *l = userdata;
        Listing *first = l->first, **at = &l->first;

        l->first = first->next;
        if (listing_go_on(first, l->sessions, now_ns(CLOCK_MONOTONIC) + SLICE_NS))
                (void) listing_free(first);
        else {
                while (*at)
                        at = &(*at)->next;
                first->next = NULL;
                *at = first;
        }
        return l->first ? 0 : sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

static int listing_begin(Listing **ret, Sessions *sessions, ServerCall *call, const json_t *head) {
        _cleanup_(listing_freep) Listing *l = malloc(sizeof(*l));

        if (!l)
                return -ENOMEM;
        *l = (Listing){ .text = BUF_INIT };
        for (size_t i = 0; i < sessions_n(sessions); i++)
                if (strv_add(&l->names, session_name(sessions_get(sessions, i))) < 0)
                        return -ENOMEM;
        buf_adds(&l->text, "{\"parameters\":");
        add_json(&l->text, head);
        if (l->text.error < 0)
                return l->text.error;
        l->text.n_data--; /* the head goes on */
        buf_adds(&l->text, json_object_size(head) > 0 ? ",\"sessions\":[" : "\"sessions\":[");
        if (l->text.error < 0)
                return l->text.error;
        l->call = server_call_ref(call);
        *ret = TAKE_PTR(l);
        return 0;
}

int listings_answer(Listings *l, ServerCall *call, json_t *head) {
        json_auto_t *consumed = head;
        _cleanup_(listing_freep) Listing *one = NULL;
        int r = consumed ? listing_begin(&one, l->sessions, call, head) : -ENOMEM;

        if (r < 0 || listing_go_on(one, l->sessions, now_ns(CLOCK_MONOTONIC) + SLICE_NS))
                return r;
        one->next = l->first;
        l->first = TAKE_PTR(one);
        return sd_event_source_set_enabled(l->source, SD_EVENT_ON);
}

int listings_new(Listings **ret, sd_event *event, Sessions *sessions) {
        _cleanup_(listings_freep) Listings *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return -ENOMEM;
        l->sessions = sessions;
        r = sd_event_add_defer(event, &l->source, on_free_loop, l);
        if (r >= 0)
                r = sd_event_source_set_enabled(l->source, SD_EVENT_OFF);
        if (r >= 0) /* of equal rank what is due first is first, which this always is */
                r = sd_event_source_set_priority(l->source, SD_EVENT_PRIORITY_NORMAL + 1);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(l);
        return 0;
}

Listings *listings_free(Listings *l) {
        if (!l)
                return NULL;
        while (l->first) {
                Listing *one = l->first;

                l->first = one->next;
                (void) listing_free(one);
        }
        (void) sd_event_source_disable_unref(l->source);
        free(l);
        return NULL;
}
