/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Start of a trace.dat: what time of day it was
 *
 * trace-cmd writes no moment on several clocks.  But after `trace-cmd record --date` times are those of
 * the clock on the wall (codec/dat-times.h), so that the first of them tells when it began.
 */

#include "meta/meta.h"
#include "store/session-dir.h"

/* Fills @m->start, on all clocks with the time of the first page, if @dir is such a trace.dat and
 * nothing else has told when it was.  0 or -errno. */
int dat_start_note(SessionMeta *m, const SessionDir *dir);
