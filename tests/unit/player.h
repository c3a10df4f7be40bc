/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Player: everything between a recording of page-builder.h and its steps */

#include "calls/steps.h"
#include "page-builder.h"

typedef struct Player {
        Formats formats;
        SymbolTimeline *symbol_timeline;
        Tasks *tasks;
        Functions functions;
        Stream *stream;
        Steps steps;
} Player;

/* @tasks: as in saved_cmdlines */
void player_init(Player *p, const Recording *r, const Layout *layout, const char *tasks,
                 StepsKeep keep);
void player_done(Player *p);
#define _cleanup_player_ _cleanup_(player_done)
