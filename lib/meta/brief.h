/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Brief: what a list says of a session, in a few hundred bytes
 *
 * A session.json may have megabytes, and a store thousands of sessions.  The `Brief` of the wire.
 */

#include "meta/meta.h"

/* Characters of the names in `roots` together; the first is there however long it is. */
#define BRIEF_ROOTS_MAX 64

typedef struct Brief {
        char *name, *id;
        SessionState state;
        SessionLimit limit;     /* that ended it */
        uint32_t newer_version; /* of its session.json; 0: we know it */
        char *unreadable;       /* why it cannot be read; NULL: it can */
        bool pinned, degraded;
        uid_t owner_uid;
        Strv roots;                 /* the first of them, or of what was asked for */
        uint64_t n_roots;           /* all of them */
        uint64_t start_ns, stop_ns; /* CLOCK_REALTIME; 0: not yet */
        uint64_t length_ns;
        uint64_t n_events, n_bytes, events_lost, pages_lost, n_gaps;
        uint64_t disk_bytes; /* what it takes in the store; UINT64_MAX: not known */
} Brief;

/* Of @m, whose disk_bytes somebody else knows.  0 or -ENOMEM. */
int brief_of_meta(Brief *ret, const SessionMeta *m, uint64_t disk_bytes);
json_t *brief_to_json(const Brief *b); /* a new object; NULL without memory */
/* Unknown members are ignored.  0, META_E_INVALID (*@ret_field names the member), -ENOMEM. */
int brief_from_json(Brief *ret, const json_t *o, const char **ret_field);
void brief_done(Brief *b);
#define _cleanup_brief_ _cleanup_(brief_done)

/*
 * Silence: why a recording has no calls
 *
 * What the kernel said while the session was still programmed comes from the daemon
 * (SessionMeta.silence); the rest is in the recording: what somebody else did meanwhile, triggers that
 * did not fire, and whom and what the session was about.
 */
#define SILENCE_MAX 1000 /* bytes of the sentence */

/* True if nothing at all was stored, also before a ring dropped it. */
bool silence_is_total(const SessionMeta *m);
/* A sentence without its full stop, which the caller frees; reasons that are known beside those in the recording,
 * @found, come first.  If nothing else explains it, nothing called the roots.  0 or -ENOMEM. */
int silence_explain(char **ret, const SessionMeta *m, const Strv *found);
