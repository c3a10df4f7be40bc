/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Heat drawing: a heat map (analyze/heat-map.h) on a terminal, and as JSON
 *
 *       131.1 us |          .          #     .  |      5
 *        65.5 us |#@@#@@@@#@##@@@@@@@@@ #@@@@@# |    231
 *                +----------+----------+---------
 *                 411.20     411.25     411.30
 *
 * A row has the calls that took at least the time in front of it, and less than what the row above
 * says; behind it is how many there are.  Below are moments as --from and --to take them.  It is as
 * wide as the terminal, or HEAT_DRAWING_COLUMNS.  Shades are colours where there are 256 of them.
 */

#include <jansson.h>

#include "analyze/heat-map.h"
#include "base/buf.h"
#include "cli/options/options.h"
#include "meta/meta.h"

#define HEAT_DRAWING_COLUMNS 80
#define HEAT_JSON_COLUMNS 128

/* @grid: NULL: nothing is drawn; @m: NULL: of a text.  0 or -ENOMEM. */
int heat_drawing_add(Buf *out, const Options *o, const SessionMeta *m, const HeatMap *map,
                     const HeatGrid *grid);
/* The cells that are not empty, the earliest first, of HEAT_JSON_COLUMNS or less; NULL without
 * memory. */
json_t *heat_drawing_json(const HeatMap *map, const HeatGrid *grid);
