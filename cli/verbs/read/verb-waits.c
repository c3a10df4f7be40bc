/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where calls waited, who woke them, and how long it took them to come back. */

#include "causes/waits.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

static json_t *waker_json(const Waker *w) {
        Row r = row_of_json();

        row_task(r, NULL, w->comm, w->pid);
        row_bool(r, "interrupt", w->is_irq);
        if (w->function)
                row_function(r, NULL, w->function);
        return r.json;
}

static void tell_waker(Row r, const WaitsRow *row) {
        const Waker *w = row->is_woken ? &row->waker : NULL;

        if (!r.is_text) {
                row_json(r, "waker", w ? waker_json(w) : json_null());
                return;
        }
        if (!w)
                row_cell(r, "2WOKEN BY", "%s", row->is_forced ? "(preempted)" : "?");
        else if (w->is_irq)
                row_cell(r, "2WOKEN BY", "(interrupt)");
        else
                row_task(r, "2WOKEN BY", w->comm, w->pid);
        if (w && w->function)
                row_function(r, "2IN", w->function);
        else
                row_cell(r, "2IN", " ");
}

static void tell(Row r, const WaitsRow *row) {
        const Quantiles *away = &row->away, *latency = &row->latency;

        row_function(r, "2IN", row->function);
        row_count(r, "1>TIMES", "count", away->n);
        row_time(r, ">WAITED", "waited_ns", away->sum);
        row_time(r, "1?>MEDIAN", "waited_p50_ns", quantiles_at(away, 500));
        row_time(r, "1?>MAX", "waited_max_ns", away->max);
        /* How long it took to run again is not known of whom nobody was seen to wake. */
        row_known_time(r, "1>WAKE-UP", "wakeup_p50_ns", row->is_woken, quantiles_at(latency, 500));
        row_known_time(r, "1?>SLOWEST", "wakeup_max_ns", row->is_woken, latency->max);
        row_bool(r, "preempted", row->is_forced);
        tell_waker(r, row);
}

int verb_waits(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(waits_freep) Waits *waits = NULL;
        _cleanup_table_ Table t = {};
        const WaitsRow *const *rows;
        size_t n;
        int r = counting_init(&counting, true) ?: waits_new(&waits, counting.pairing);
        int status = counting_status(r) ?: counting_read(&counting, o, o->words.items[0]);

        if (status != STATUS_OK)
                return status;
        rows = waits_rows(waits, &n);
        if (o->limit > 0)
                n = MIN(n, (size_t) o->limit);
        table_begin(&t, o->json);
        for (size_t i = 0; i < n; i++)
                tell(table_row(&t), rows[i]);
        status = counting_show(&counting, &t);
        if (status != STATUS_OK)
                return status;
        if (!counting.pairing->has_sched)
                talk(o, "It has no events that tell who waited: record with --sched.");
        return counting_end(&counting);
}
