/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Display: what the verbs that draw have in common
 */

#include "calls/census.h"
#include "cli/options/options.h"
#include "cli/source/drawing.h"
#include "cli/source/source.h"

/* From --format, -O and --no-legend; an exit status. */
int display_options(DrawingOptions *ret, const Options *o);
/* Turns the result of a function of cli/source/drawing.h into an exit status; consumes @problem. */
int display_status(int r, const SessionMeta *m, const Options *o, char *problem);
/* Draws all of @s on stdout, through a pager on a terminal, and says what was damaged; an exit
 * status, STATUS_INCOMPLETE if anything was. */
int display_report(const Source *s, const Options *o, const DrawingOptions *d);
/* Counts what is in @s without drawing it; an exit status. */
int display_count(Census *ret, const Source *s);
/* That no call is left of a recording with @f; @o as it was said.  Nothing if one is, or nothing was left out. */
void display_none_left(const Options *o, const Filtering *f);
/* Why there are no calls, if there are none.  Counts them only where that is quick. */
void display_silence(const Options *o, const Source *s);
/* The same for what a ring dropped, which is no loss. */
void display_dropped(const Options *o, const SessionMeta *m);
/* A line for each time that the host slept or its clock was set, which the times drawn do not show. */
void display_clock(const Options *o, const SessionMeta *m);
/* One line about the functions that were not hooked, if any. */
void display_left_out(const Options *o, const SessionMeta *m);
/* Says what is missing, CPU by CPU, if anything is; not silenced by --quiet. */
void display_loss(const SessionMeta *m);
