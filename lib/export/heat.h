/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Heat: heat maps (analyze/heat-map.h) as one picture, SVG with what makes it answer
 *
 * A click on a cell, dragging over several, or arrow keys and Enter show how many calls are there, and
 * copy the window as words: "--from=40.580546560 --to=40.670577669".  A grid and its cells have the exact
 * figures as attributes:
 *
 *      <g class="heat-grid" data-begin data-column data-columns data-rows>   [ns], [ns]
 *      <rect class="h1" data-c data-r data-n data-e>   column, row, calls, the last end since data-begin [ns]
 *
 * Then the picture has an event, "window", that says which calls are meant.  Times are of the trace clock.  What was copied last is in the grid's data-copied.
 */

#include "analyze/heat-map.h"
#include "base/buf.h"

typedef struct HeatPart {
        const HeatGrid *grid;
        const char *name; /* of its calls; n_name bytes */
        size_t n_name;
} HeatPart;

typedef struct HeatPicture {
        const char *title; /* of a file, which has a script, too; NULL: a page has both */
        const HeatMap *map;
        const HeatPart *parts; /* one below the other */
        size_t n_parts;
        size_t max_columns; /* 0: as many as are useful */
        size_t n_left_out;  /* is said */
        bool has_ticks;     /* the trace clock does not count nanoseconds */
        bool is_timeless;   /* when calls began is a guess */
} HeatPicture;

/* Takes the @n_room roots with the most time for parts; what is not is counted. */
void heat_choose(HeatPicture *p, HeatPart *parts, size_t n_room, HeatMap *map);
/* The <svg> element, or the file.  0 or -ENOMEM. */
int heat_write(Buf *out, const HeatPicture *p);
