/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Heat map: when chosen functions were called, and how long these calls took
 *
 *      latency   time, columns of one length  ->
 *      [4, 8) us      .     3     .
 *      [2, 4) us     12     9     7        a cell: how many calls began then and took so long
 *
 * Each function at the top of their callers has a grid, and how its calls are spread.  Rows are the ranges of a histogram
 * of log2.  A call is in the column in which it began; one that was cut is counted,
 * and in none.  The time axis is the same for all grids of a map.
 *
 * How long a recording is is not known before its end: columns begin with 1 ns, and when there are more
 * than HEAT_MAP_COLUMNS_MAX, pairs of them become one.  So a column is a power of two long, and begins
 * at a multiple of that.  Memory is in proportion to the cells that are not empty.
 */

#include "analyze/pairing.h"
#include "analyze/quantiles.h"
#include "calls/census.h"

#define HEAT_MAP_COLUMNS_MAX 1024
#define HEAT_MAP_ROWS 65 /* [0, 1), [1, 2), [2, 4), ... ns */

typedef struct HeatMap HeatMap;
/* The calls below one root, or all. */
typedef struct HeatGrid {
        const Function *root; /* NULL: all */
        uint64_t n_cut;
        Quantiles quantiles;    /* of those that were not */
        uint64_t n_in_row[HEAT_MAP_ROWS]; /* likewise */
        struct HeatCell *cells; /* the map's own, like what follows */
        size_t n_cells, n_room;
        Hash by_place; /* their numbers, plus 1 */
} HeatGrid;

/* A sink of @pairing, which must outlive its last step.  @names: whose calls, borrowed; NULL: the roots themselves.
 * @has_times: else there are no cells.  0 or -ENOMEM. */
int heat_map_new(HeatMap **ret, Pairing *pairing, NameSet *names, bool has_times);
const HeatGrid *heat_map_all(const HeatMap *m);
/* Those with the most time first; valid until it is freed. */
const HeatGrid *const *heat_map_grids(HeatMap *m, size_t *ret_n);
/* A row, without times. */
typedef struct Range {
        uint64_t from_ns, to_ns; /* the first is in it, the last is not; UINT64_MAX: no end */
        uint64_t n;
} Range;
/* How many, from the one with the shortest to that with the longest; 0 of an empty grid. */
size_t heat_grid_ranges(Range ret[static HEAT_MAP_ROWS], const HeatGrid *g);
HeatMap *heat_map_free(HeatMap *m);
DEFINE_CLEANUP(HeatMap *, heat_map_free);

typedef struct HeatSpot {
        uint64_t n;
        uint64_t ended_ns; /* the last of their ends was recorded no later (trace clock) */
} HeatSpot;

/* A grid as it is drawn, all cells of it. */
typedef struct HeatView {
        uint64_t begin_ns;  /* of the first column, trace clock */
        uint64_t column_ns; /* how long each is */
        size_t n_columns, n_rows;
        unsigned first_row; /* of HEAT_MAP_ROWS: the shortest that there is */
        uint64_t n, most;   /* of all cells, and of the one that has most */
        HeatSpot *spots;    /* n_rows times n_columns, the shortest first */
} HeatView;

#define HEAT_VIEW_INIT ((HeatView){})

/* @grid with at most @max_columns, not 0, of equal length; heat_view_done() it.  0 or -ENOMEM. */
int heat_view_new(HeatView *ret, const HeatMap *m, const HeatGrid *grid, size_t max_columns);
static inline const HeatSpot *heat_view_at(const HeatView *v, size_t row, size_t column) {
        return &v->spots[row * v->n_columns + column];
}
/* When @column begins; of n_columns the end of the last one; no later than UINT64_MAX. */
uint64_t heat_view_time_ns(const HeatView *v, size_t column);
/* The shortest duration of @row, and the first that is too long for it: UINT64_MAX: there is none. */
uint64_t heat_view_from_ns(const HeatView *v, size_t row);
uint64_t heat_view_to_ns(const HeatView *v, size_t row);

/* A rectangle of cells; the last ones are in it. */
typedef struct HeatArea {
        size_t first_column, last_column, first_row, last_row;
} HeatArea;

/* What --from and --to must be, both included, for calls of @area to be there as a whole. */
void heat_view_window(const HeatView *v, HeatArea area, uint64_t *ret_from_ns, uint64_t *ret_to_ns);
void heat_view_done(HeatView *v);
#define _cleanup_heat_view_ _cleanup_(heat_view_done)

/* Which of @n_levels shades, at least 4, a cell has, from 1; 0: it is empty.  A shade has `ratio` times as many calls as
 * the one before; the strongest is always used. */
typedef struct HeatScale {
        uint64_t ratio, most;
        unsigned n_levels, n_used;
} HeatScale;

HeatScale heat_scale(uint64_t most, unsigned n_levels);
unsigned heat_scale_level(const HeatScale *s, uint64_t n);
/* The fewest calls of a level that is used: from n_levels - n_used + 1 on. */
uint64_t heat_scale_from(const HeatScale *s, unsigned level);
