/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Listing: answers that have all sessions in them, written a few sessions at a time
 *
 * Of a store with thousands of recordings such an answer is megabytes.  While it is written others
 * are served.
 */

#include <jansson.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/server.h"
#include "daemon/sessions.h"

typedef struct Listings Listings;

/* Everything is borrowed. */
int listings_new(Listings **ret, sd_event *event, Sessions *sessions);
/*
 * listings_answer() - answer @call with @head and `sessions`
 * @head: an object; consumed, and what a failed json_*() gives is -ENOMEM
 *
 * At once if that takes but a moment.  0 or -errno.
 */
int listings_answer(Listings *l, ServerCall *call, json_t *head);
Listings *listings_free(Listings *l);
DEFINE_CLEANUP(Listings *, listings_free);
