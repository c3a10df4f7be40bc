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
        bool (*save)(void *userdata);    /* meta has another map: whether it was written */
        void (*changed)(void *userdata); /* meta says what went or is back */
        void (*came)(void *userdata);    /* modules changed: nearly all may be more than it was */
        void (*lost)(const char *reason, void *userdata); /* nothing is left to record */
        void *userdata;
} SessionRootsConfig;

/* 0 or -ENOMEM. */
int session_roots_new(SessionRoots **ret, const SessionRootsConfig *config);
SessionRoots *session_roots_free(SessionRoots *r);
DEFINE_CLEANUP(SessionRoots *, session_roots_free);

/* Notices modules that came or went since the last look; cheap if none did. */
void session_roots_look_at_modules(SessionRoots *r);
/* If any did, looks whether roots went with them; not while somebody changes what is hooked. */
void session_roots_look(SessionRoots *r);
