/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Source: a recording, wherever it is
 *
 * From the daemon, which hands over descriptors of the session's directory, or
 * straight from a store: the one that --store names or, if no daemon runs, the
 * usual one.  Or a file that another program wrote, a trace.dat.  Whoever reads a Source need not know which.
 */

#include <jansson.h>

#include "base/cleanup.h"
#include "cli/client.h"
#include "cli/options.h"
#include "store/meta.h"
#include "store/session-dir.h"

#define SOURCE_DEFAULT_STORE LOCALSTATEDIR "/lib/ftraced"

typedef struct Source {
        SessionDir *dir;
        SessionMeta *meta;
        uint64_t disk_bytes; /* what it takes in the store; of source_describe(); 0: not known */
        int readers_fd;      /* keeps it from being removed (store/keep.h), or negative */
        bool from_store;     /* not through a daemon: nothing is known to be alive */
} Source;

/* @name: a session's name or id, or the path of a trace.dat.  An exit status, like the next three. */
int source_open(Source **ret, const Options *o, const char *name);
/* The same through a daemon that is already connected. */
int source_open_client(Source **ret, const Options *o, Client *c, const char *name);
/* Metadata alone; the directory is not opened if a daemon answers (dir is NULL then). */
int source_describe(Source **ret, const Options *o, const char *name);
/* All sessions: an array of Session objects, which the caller owns. */
int source_list(json_t **ret, const Options *o);
/* Metadata as it is on disk now. */
int source_refresh(Source *s);
Source *source_free(Source *s);
DEFINE_CLEANUP(Source *, source_free);

/* Takes the `session` of a reply: an exit status. */
int source_meta_from_reply(SessionMeta **ret, const json_t *reply);
/* Says that @name cannot be a session's name; an exit status. */
int source_check_name(const char *name);
