/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * SessionRoots: modules that come and go while a session records, its symbols and its roots with them
 *
 * A module that came or went means another map of symbols.  Roots in one that went are recorded again
 * when it is back; with the last of them the session is to end.
 */

#include <stdbool.h>

#include "base/cleanup.h"
#include "daemon/session/session-types.h"
#include "daemon/symbols/kernel-symbols.h"
#include "daemon/tracer/controller.h"
#include "daemon/watch/health.h"
#include "meta/meta.h"

typedef struct SessionRoots SessionRoots;

/* Borrowed for as long as it lives. */
typedef struct SessionRootsConfig {
        SessionMeta *meta;
        Tracer *tracer;
        Health *health;
        KernelSymbols *symbols;
        int symbols_fd; /* the store's directory of symbols */
        uint64_t
                seen_ns; /* trace clock: when the last map was looked at; 0: by an earlier daemon */
        Session *session;            /* for the callbacks */
        bool (*save)(Session *s);    /* meta has another map: whether it was written */
        void (*changed)(Session *s); /* meta says what went or is back */
        void (*lost)(Session *s, const char *reason); /* nothing is left to record */
} SessionRootsConfig;

/* 0 or -ENOMEM. */
int session_roots_new(SessionRoots **ret, const SessionRootsConfig *config);
SessionRoots *session_roots_free(SessionRoots *r);

/* Notices modules that came or went since the last look; cheap if none did. */
void session_roots_look_at_modules(SessionRoots *r);
/* If any did, looks whether roots went with them; not while somebody changes what is hooked. */
void session_roots_look(SessionRoots *r);
