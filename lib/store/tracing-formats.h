/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Tracing formats: which formats of events are kept with a recording, and go with it where it goes
 *
 * The daemon copies them, sealing reads those of tracers, and a trace.dat and an excerpt have them all.
 */

#include "meta/meta.h"

typedef enum TracingFormat {
        TRACING_FORMAT_REQUIRED, /* every kernel has it; a constant */
        TRACING_FORMAT_OPTIONAL, /* not every kernel has it; a constant */
        TRACING_FORMAT_EVENT,    /* of an event that was asked for */
} TracingFormat;

/* @path: as below tracefs.  0 to go on. */
typedef int (*TracingFormatEach)(void *userdata, const char *path, TracingFormat kind);

/* Those of tracers, then those of @m's events unless it is NULL.  What @each returned, 0 or -ENOMEM. */
int tracing_formats_walk(const SessionMeta *m, TracingFormatEach each, void *userdata);
