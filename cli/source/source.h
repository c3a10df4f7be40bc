/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Source: a recording, wherever it is
 *
 * From the daemon, which hands over descriptors of the session's directory, or
 * straight from a store: the one that --store names or, if no daemon runs, the
 * usual one.  Or a file that another program wrote, a trace.dat.  Whoever reads a
 * Source need not know which.
 *
 * A word with a "/" is a file.  Any other is a session if there is one of that
 * name, else a file if there is one: what lies in the working directory does not
 * hide a session.  One that ends in .dat, .txt, .trace or .log is a file if there
 * is one, and else a session.
 */

#include <jansson.h>

#include "base/cleanup.h"
#include "base/name.h"
#include "cli/contact/contact.h"
#include "cli/options/options.h"
#include "codec/dat-file.h"
#include "import/source-form.h"
#include "meta/meta.h"
#include "store/session-dir.h"

typedef struct Source {
        SessionDir *dir;
        SessionMeta *meta;
        uint64_t disk_bytes; /* what it takes in the store; of source_describe(); 0: not known */
        /* The same of a daemon: until when nothing but a request removes it, and when it is too old,
         * CLOCK_REALTIME; 0: that has gone by, or is never. */
        uint64_t stays_until_ns, goes_at_ns;
        int readers_fd;  /* keeps it from being removed (store/keep.h), or negative */
        bool from_store; /* not through a daemon: nothing is known to be alive */
} Source;

/* Whether the SOURCE @word is a file, as above; asks the daemon, or the store, if it must. */
bool source_is_file(const Options *o, const char *word);
/* Whether there is a file of that name, though @word may be something else; or a session of that
 * name or id, as far as anybody answers. */
bool source_names_file(const char *word);
bool source_has_session(const Options *o, const char *name);

/* What a SOURCE is: a session, in whichever store, or a file, which @fd has open. */
typedef struct SourceFound {
        SourceForm form;
        int fd; /* of a session negative */
} SourceFound;

/* "-" is the text on standard input.  An exit status, like the next six; then @ret->fd is the caller's. */
int source_find(SourceFound *ret, const Options *o, const char *word);
/* The recording that was found, whose descriptor is consumed; a text is none. */
int source_open_found(Source **ret, const Options *o, const char *word, SourceFound found);
/* Both: @name is a session's name or id, or the path of a trace.dat. */
int source_open(Source **ret, const Options *o, const char *name);
/* A session only. */
int source_open_session(Source **ret, const Options *o, const char *name);
/* The same through a daemon that is already connected. */
int source_open_client(Source **ret, const Options *o, Client *c, const char *name);
/* Metadata alone; the directory is not opened if a daemon answers (dir is NULL then). */
int source_describe(Source **ret, const Options *o, const char *name);
/* The @n_newest sessions, 0: all: an object, which the caller owns, with an array of Session
 * objects ("sessions"), or, if @is_brief, which takes a fraction of the time, of Brief objects
 * ("briefs"); how many there are ("total"); and, of a daemon, "retention"
 * (cli/source/retention.h).  So also with STATUS_INCOMPLETE: some cannot be read, which was
 * said. */
int source_list(json_t **ret, const Options *o, uint64_t n_newest, bool is_brief);
/* Metadata as it is on disk now. */
int source_refresh(Source *s);
Source *source_free(Source *s);
DEFINE_CLEANUP(Source *, source_free);

/* What the command line calls that buffer of a trace.dat. */
const char *source_buffer_name(char text[static NAME_QUOTE_MAX], const DatBuffer *b);
/* Takes the `session` of a reply: an exit status. */
int source_meta_from_reply(SessionMeta **ret, const json_t *reply);
/* Says that @name cannot be a session's name; an exit status. */
int source_check_name(const char *name);
/* The same of each. */
int source_check_names(const Strv *names);
