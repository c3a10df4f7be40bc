/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Reading: the steps of a SOURCE, whatever it is, past the filters of the command line
 *
 * For verbs that add steps up or draw them.  One that takes OPTIONS_FILTER need not know more of
 * filters.
 */

#include "analyze/wakers.h"
#include "calls/name-set.h"
#include "calls/playback.h"
#include "cli/source/source.h"
#include "cli/source/text-source.h"

typedef struct Reading {
        const Options *o; /* borrowed for its life */
        TextSource text;  /* trace NULL: it is a recording */
        Source *source;
        Playback *playback;
        Filtering filtering;
        Wakers *wakers; /* NULL: nothing is left out, or nobody wants to know when calls wait */
        Filter *filter; /* a text's; a playback has its own; NULL: all of it is passed on */
        uint64_t begin_ns;
        bool has_begun; /* begin_ns is known */
        int failure;    /* what the text could not do, as text_source_next() said it */
} Reading;

/* Which events are passed on whatever is asked for. */
typedef enum ReadingFor {
        READING_FOR_DRAWING, /* none */
        /* Who adds up calls wants to know when they wait: those that tell, whosever they are. */
        READING_FOR_CALLS,
        /* And who wants to know whose request a task works at: besides, those that say so, also
         * before the time that is asked for, so that all before it is read. */
        READING_FOR_REQUESTS,
} ReadingFor;

/* @word: as the command line has it.  @ret must stay where it is; reading_done() it also after a
 * failure.  An exit status. */
int reading_open(Reading *ret, const Options *o, const char *word, ReadingFor purpose);
/* The same for who has another way to read a recording: of one there is no playback, and only a text gives
 * steps. */
int reading_find(Reading *ret, const Options *o, const char *word);
/* 1: @ret is the next step; 0: there are no more; a negative exit status, after having said why. */
int reading_next(Reading *r, Step *ret);
/* Says what was skipped, damaged or lost; an exit status: STATUS_FAILED after damage of a text,
 * STATUS_INCOMPLETE after a loss. */
int reading_finish(const Reading *r);
/* What is known of it; NULL: it is a text. */
static inline const SessionMeta *reading_meta(const Reading *r) {
        return r->source ? r->source->meta : NULL;
}

void reading_done(Reading *r);
#define _cleanup_reading_ _cleanup_(reading_done)

/*
 * Chosen: of two words the SOURCE and the function that is asked about
 *
 *      hist SOURCE            the roots
 *      hist SOURCE FUNCTION   calls of FUNCTION, a name or a glob
 *      hist FUNCTION SOURCE   the same, where only one of them can be a function
 */
typedef struct Chosen {
        const char *source;
        Strv patterns;  /* empty: nothing was asked for */
        NameSet *names; /* NULL: the same */
} Chosen;

/* @ret must stay where it is; chosen_done() it also after a failure.  An exit status. */
int chosen_init(Chosen *ret, const Options *o);
void chosen_done(Chosen *c);
#define _cleanup_chosen_ _cleanup_(chosen_done)

/* Says that there are no calls of what was asked for; STATUS_NOT_FOUND. */
int chosen_not_found(const Chosen *c, const Options *o);
