/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Listing: answers that have many sessions in them, written a few sessions at a time
 *
 * Of a store with thousands of recordings such an answer is megabytes.  While it is written others
 * are served.  Whoever asks with `more` gets it in parts, each a reply of its own that has the next of the
 * sessions; the first has the rest, too.
 */

#include <jansson.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/api/sessions.h"
#include "daemon/server/server.h"

typedef struct Listings Listings;

typedef enum ListingKind {
        LISTING_SESSIONS, /* "sessions": every Session */
        LISTING_RECENT,   /* the same of those that are live, and that a limit ended within a day */
        LISTING_BRIEFS,   /* "briefs": a Brief of each */
} ListingKind;

/* Everything is borrowed. */
int listings_new(Listings **ret, sd_event *event, Sessions *sessions);
/*
 * listings_answer() - answer @call with @head and what there is of @kind, oldest first
 * @head: an object; consumed, and what a failed json_*() gives is -ENOMEM
 * @n_newest: at most so many; 0: all
 *
 * At once if that takes but a moment.  What is not known yet (daemon/api/sessions.h) is missing.
 * 0 or -errno.
 */
int listings_answer(Listings *l, ServerCall *call, json_t *head, ListingKind kind,
                    uint64_t n_newest);
Listings *listings_free(Listings *l);
DEFINE_CLEANUP(Listings *, listings_free);
