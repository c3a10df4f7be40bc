/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What a test is not about is asserted here. */

#include "player.h"

void player_init(Player *p, const Recording *r, const Layout *layout, const char *tasks,
                 StepsKeep keep) {
        const char *problem;

        *p = (Player){};
        ck_assert_int_eq(formats_parse(&p->formats, layout->header_page, layout->entry,
                                       layout->exit, false, &problem),
                         0);
        ck_assert_int_eq(symbol_timeline_open(&p->symbol_timeline, r->dir, r->meta), 0);
        ck_assert_int_eq(tasks_new(&p->tasks, tasks), 0);
        p->functions =
                (Functions){ .symbol_timeline = p->symbol_timeline, .roots = &r->meta->roots };
        ck_assert_int_eq(stream_open(&p->stream, r->dir, &p->formats), 0);
        p->steps = (Steps){ .stream = p->stream,
                            .functions = &p->functions,
                            .tasks = p->tasks,
                            .keep = keep,
                            .watches_trees = keep == STEPS_IN_TREES,
                            .has_retval = p->formats.exit.retval.size > 0 };
}

void player_done(Player *p) {
        steps_done(&p->steps);
        stream_free(p->stream);
        functions_done(&p->functions);
        tasks_free(p->tasks);
        symbol_timeline_free(p->symbol_timeline);
}
