/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tracing copy: what decoding needs of tracefs, kept with the recording
 *
 * So that a session can be drawn on another machine, with another kernel, in
 * ten years.  Stored below sessions/NAME/tracing, paths as in tracefs.
 */

#include "daemon/tracer/controller.h"
#include "store/session-dir.h"

/* Formats, header_page, options: once armed.  @m: tells what is recorded beside the calls.  0 or -errno;
 * *@ret_path is what it failed at, a constant. */
int tracing_copy_begin(SessionDir *dir, Tracer *tracer, const SessionMeta *m,
                       const char **ret_path);
/* What is complete only after the recording, and as complete as it is before: names of tasks.  @synced: as
 * session_dir_write_tracing_synced(). */
int tracing_copy_end(SessionDir *dir, Tracer *tracer, bool synced, const char **ret_path);
