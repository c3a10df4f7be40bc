/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where time went: rows of functions, or of what --by says, with the most self time first. */

#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

int verb_top(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(breakdown_freep) Breakdown *breakdown = NULL;
        _cleanup_top_view_ TopView v = {};
        _cleanup_table_ Table t = {};
        TopPlaces places = {};
        BreakdownBy by;
        size_t n;
        int status = top_view_check(o, &by), r;

        if (status != STATUS_OK)
                return status;
        places.by = by;
        r = counting_init(&counting, true) ?: breakdown_new(&breakdown, by, counting.pairing);
        if (r >= 0 && by >= BREAKDOWN_BY_FILE)
                breakdown_set_place(breakdown, top_places_find, &places);
        status = counting_status(r)
                         ?: counting_open(&counting, o, o->words.items[0])
                         ?: top_view_check_owners(&counting.reading, by)
                         ?: (by >= BREAKDOWN_BY_FILE ? top_places_add(&places, &counting.reading)
                                                     : STATUS_OK)
                         ?: counting_run(&counting);
        if (status != STATUS_OK)
                return status;
        r = top_view_init(&v, &o->analysis, breakdown, by,
                          o->analysis.corrected ? &counting.overhead.cost : NULL,
                          counting.pairing->total_ns);
        if (r < 0)
                return counting_status(r);
        n = o->limit > 0          ? MIN(v.n, (size_t) o->limit)
            : o->json != JSON_OFF ? v.n
                                  : MIN(v.n, (size_t) TOP_VIEW_LIMIT);
        table_begin(&t, o->json);
        top_view_tell(&v, &t, n);
        status = counting_show(&counting, &t,
                               o->analysis.corrected
                                       ? "SELF, TOTAL and AVG are corrected; MIN, MAX and the "
                                         "quantiles are as they were recorded.\n"
                                       : "");
        if (status != STATUS_OK)
                return status;
        if (o->json == JSON_OFF && !o->analysis.columns && top_view_has_more(&v))
                talk(o, "Interrupts and waits have columns as well; --columns=all shows them.");
        if (n < v.n && o->limit == 0)
                talk(o, "%zu of %zu rows are shown; --limit=%zu shows all.", n, v.n, v.n);
        return counting_end(&counting);
}
