/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where calls waited, who woke them, and how long it took them to come back. */

#include "causes/waits.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

int verb_waits(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(waits_freep) Waits *waits = NULL;
        _cleanup_table_ Table t = {};
        const WaitsRow *const *rows;
        size_t n;
        int r = counting_init(&counting, true) ?: waits_new(&waits, counting.pairing, false);
        int status = counting_status(r) ?: counting_read(&counting, o, o->words.items[0]);

        if (status != STATUS_OK)
                return status;
        rows = waits_rows(waits, &n);
        if (o->limit > 0)
                n = MIN(n, (size_t) o->limit);
        table_begin(&t, o->json);
        for (size_t i = 0; i < n; i++)
                row_waits(table_row(&t), rows[i]);
        status = counting_show(&counting, &t, "");
        if (status != STATUS_OK)
                return status;
        if (!counting.pairing->has_sched)
                talk(o, "It has no events that tell who waited: record with --sched.");
        for (size_t i = 0; i < n; i++)
                if (rows[i]->waker.receiver) {
                        waits_view_hint(&counting, rows[i]->waker.receiver, rows[i]->waker.comm,
                                        rows[i]->waker.pid);
                        break;
                }
        return counting_end(&counting);
}
