/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a recording keeps of tracefs: which formats of events are kept with a recording, and go with it where it goes
 *
 * The daemon copies them, sealing reads those of tracers, and a trace.dat and an excerpt have them all.
 */

#include "store/session-dir.h"

typedef enum TracingFormat {
        TRACING_FORMAT_REQUIRED, /* every kernel has it; a constant */
        TRACING_FORMAT_OPTIONAL, /* not every kernel has it; a constant */
        TRACING_FORMAT_EVENT,    /* of an event that was asked for */
} TracingFormat;

/* @path: as below tracefs.  0 to go on. */
typedef int (*TracingFormatEach)(void *userdata, const char *path, TracingFormat kind);

/* Those of tracers, then those of @m's events unless it is NULL.  What @each returned, 0 or -ENOMEM. */
int tracing_formats_walk(const SessionMeta *m, TracingFormatEach each, void *userdata);

/* Where a field lies in an event's records, or, of header_page, in a page. */
typedef struct TracingField {
        uint32_t offset, size; /* below 2^31 */
        bool is_signed, is_array;
        bool is_string; /* "__data_loc char[]": its length and place, 16 bits each, are in the record, the text behind */
        const char *name; /* n_name bytes, in the text */
        size_t n_name;
} TracingField;

/* The next field of a format file's text, which is hostile, from *@at on, which goes behind its name; false: there is none. */
bool tracing_next_field(const char **at, TracingField *ret);

/* The field @name of a format file's @text, which is hostile; all zero: there is none. */
TracingField tracing_find_field(const char *text, const char *name);

/*
 * tracing_link() - all files in tracing/ of @from, at the same paths in @to
 *
 * Hard links: they are replaced as a whole or not at all (session_dir_write_tracing()), never changed.  What is
 * neither a directory nor a regular file is left out, and so is what lies deeper or is more than any
 * recording has.  Return: 0; -EEXIST: one is there already; other -errno.
 */
int tracing_link(const SessionDir *from, const SessionDir *to);
