/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Reading: the steps of a SOURCE, whatever it is, for verbs that add them up
 */

#include "cli/playback.h"
#include "cli/source.h"
#include "cli/text-source.h"

typedef struct Reading {
        TextSource text; /* trace NULL: it is a recording */
        Source *source;
        Playback *playback;
} Reading;

/* @word: as the command line has it.  An exit status. */
int reading_open(Reading *ret, const Options *o, const char *word);
/* 1: @ret is the next step; 0: there are no more; a negative exit status, after having said why. */
int reading_next(Reading *r, Step *ret);
/* Says what was skipped, damaged or lost; an exit status: STATUS_FAILED after damage of a text,
 * STATUS_INCOMPLETE after a loss. */
int reading_finish(const Reading *r, const Options *o);
void reading_done(Reading *r);
#define _cleanup_reading_ _cleanup_(reading_done)
