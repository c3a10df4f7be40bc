/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * When a session was told as kept, and what that means for it
 *
 * All times are on the store's uptime (retention/uptime.h).
 */

#include <stdbool.h>
#include <stdint.h>

#include "meta/config.h"
#include "meta/meta.h"
#include "retention/uptime.h"

/* From now on @m is told as kept. */
void session_kept_note(SessionMeta *m, const Uptime *u);
/* When that was.  It is noted in @m if nobody had: then it is news, which is to be written down. */
typedef enum SessionKeptNews {
        SESSION_KEPT_NO_NEWS,
        SESSION_KEPT_CONVERTED, /* from what session.json says of another uptime */
        SESSION_KEPT_GUESSED,   /* when it was first seen, for want of a word of it */
} SessionKeptNews;

uint64_t session_kept_at(SessionMeta *m, const Uptime *u, SessionKeptNews *ret);
/* It is known.  0 or -ENOMEM. */
int session_kept_set(SessionMeta *m, const Uptime *u, uint64_t kept_ns);
/* Of an ended session that was kept at @kept_ns: until when nothing but a request removes it, and when
 * it is too old, as members of @o.  0 or -1. */
int session_kept_to_json(json_t *o, uint64_t kept_ns, const Uptime *u, const Limits *limits);
