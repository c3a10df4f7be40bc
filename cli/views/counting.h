/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Counting: all calls of a SOURCE, for a verb that adds them up
 *
 *      counting_init()     whatever is added to counting.pairing now is told of the calls
 *      counting_read()     all of them; or counting_open() and counting_run(), with something between
 *      counting_headline() what was shown, and how much of it is the tracer's
 *      counting_end()
 */

#include "analyze/overhead.h"
#include "analyze/pairing.h"
#include "cli/source/reading.h"
#include "cli/terminal/table.h"

typedef struct Counting {
        Reading reading;
        Pairing *pairing;
        Floor *floor;      /* NULL: nobody asks what tracing costs */
        Overhead overhead; /* after counting_run() */
} Counting;

/* 0 or -errno; what is to be told of the calls may fail in the same line. */
int counting_init(Counting *ret, bool with_floor);
/* All of these: an exit status, after having said why. */
/* @c must stay where it is from now on. */
int counting_open(Counting *c, const Options *o, const char *word);
int counting_run(Counting *c, const Options *o);
int counting_read(Counting *c, const Options *o, const char *word);
/* How many calls were left out of what leaves out those in which ftraced changed hooks; nothing for none. */
void counting_say_own_work(const Counting *c, const Options *o);
/* What the source was short of; also why nothing is shown, if nothing was recorded. */
int counting_end(const Counting *c, const Options *o);
void counting_done(Counting *c);
#define _cleanup_counting_ _cleanup_(counting_done)

/* Says that adding up failed with @r; STATUS_FAILED. */
int counting_failure(int r);

/* A line with overhead_describe(); nothing, if there are no calls. */
void counting_headline(const Counting *c, Buf *out);
/* The rows of @t below that, through a pager; an exit status. */
int counting_print(const Counting *c, const Options *o, const Table *t);
/* The same as counting_headline() for JSON; NULL without memory. */
json_t *counting_cost_json(const Counting *c);
