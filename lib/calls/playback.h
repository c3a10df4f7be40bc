/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Playback: a recording, opened for decoding */

#include <time.h>

#include "calls/census.h"
#include "calls/filter.h"
#include "calls/steps.h"
#include "decode/names.h"
#include "store/session-dir.h"

typedef struct Playback {
        const SessionDir *dir; /* borrowed */
        const SessionMeta *meta;
        Formats formats;
        SymbolTimeline *symbol_timeline;
        Foreign *foreign;
        Values *values;         /* NULL: no events tell of calls' values */
        Prototypes *prototypes; /* NULL: the recording has no arguments, or no types to name them */
        Tasks *tasks;
        Owners *owners; /* NULL: whose tasks are was not recorded */
        Spaces *spaces; /* NULL: programs' stacks were not recorded, like the next */
        ProgramStacks *stacks;
        StackCopies *copies; /* NULL: there are none, or they are not for you */
        Functions functions;
        Unhooked unhooked;
        Stream *stream;
        Steps steps;
        Filter *filter; /* NULL: everything is passed on */
        bool counts;    /* what is passed on is counted in census */
        Census census;
        StepSource source;          /* the filter's */
        struct timespec owners_mtime; /* likewise of what `owners` has */
        struct timespec maps_mtime;   /* of what `spaces` has */
        struct timespec meta_mtime; /* of the session.json whose maps are in the symbol timeline */
} Playback;

enum { PLAYBACK_E_UNREADABLE = 1 };

/*
 * playback_open()
 * @dir, @meta:  borrowed for the playback's life
 * @ret_problem: on PLAYBACK_E_UNREADABLE the reason, half a sentence that the caller frees: "its
 *               events/header_page is missing or no regular file"
 *
 * A recording without symbols, task names or pages can be opened.  One whose roots have to be told
 * from a neighbour's is passed on whole if its symbols are missing.
 * Return: 0, PLAYBACK_E_UNREADABLE, -errno.
 */
int playback_open(Playback **ret, const SessionDir *dir, const SessionMeta *meta,
                  char **ret_problem);
/* Leaves out what @spec, borrowed, does not ask for.  Before the first step.  For the slowest trees the recording is read
 * once to find them; what lies before @spec->from_ns is not read at all, unless contexts are kept.
 * 0, PLAYBACK_E_UNREADABLE (@ret_problem: why it cannot be told what that is), -errno. */
int playback_filter(Playback *p, const FilterSpec *spec, char **ret_problem);
/* Counts what is read of another program's file, for nobody else has counted what should be there; not
 * behind a filter.  Before the first step. */
void playback_count(Playback *p);
/* The next step not later than @until_ns: 1, 0 (there is none), -errno. */
static inline int playback_next(Playback *p, uint64_t until_ns, Step *ret) {
        int r;

        if (_unlikely_(p->filter != NULL))
                return filter_next(p->filter, &p->source, until_ns, ret);
        r = steps_next(&p->steps, until_ns, ret);
        if (_unlikely_(p->counts) && r > 0) {
                int e = census_step(&p->census, ret);

                return e < 0 ? e : r;
        }
        return r;
}
/* Looks for pages that came since, and for maps of symbols that session.json has got.  0 or -errno. */
int playback_refresh(Playback *p);
Playback *playback_free(Playback *p);
DEFINE_CLEANUP(Playback *, playback_free);
