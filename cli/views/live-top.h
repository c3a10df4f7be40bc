/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Live top: a table of where time goes, while it is recorded
 *
 * On a terminal it is drawn anew in place, and the key q ends it; else it is printed every time,
 * with an empty line before it.
 */

#include "calls/census.h"
#include "cli/options/options.h"

typedef struct LiveTop LiveTop;

/* --by, --sort, --limit and --corrected count.  An exit status. */
int live_top_new(LiveTop **ret, const Options *o);
/* For DrawingOptions: @userdata is the live top.  0 or -errno. */
int live_top_step(void *userdata, const Step *step);
/* Draws, unless the last time was less than a second ago, or, if @is_last, anyhow.  @census: what
 * was lost so far; @calibration: the session's.  0 or -errno, -EPIPE if nobody reads any more. */
int live_top_draw(LiveTop *t, const Census *census, bool is_last);
/* Whether q was pressed. */
bool live_top_wants_end(LiveTop *t);
/* Gives the terminal back. */
LiveTop *live_top_free(LiveTop *t);
DEFINE_CLEANUP(LiveTop *, live_top_free);
