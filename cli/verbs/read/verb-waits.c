/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where calls waited, who woke them, and how long it took them to come back. */

#include "causes/waits.h"
#include "base/name.h"
#include "cli/options/verb.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"

/* How long it took to run again is not known of whom nobody was seen to wake. */
static void add_latency(Table *t, const WaitsRow *row, uint64_t ns) {
        if (row->is_woken)
                table_add_time(t, ns);
        else
                table_add(t, "-");
}

static void add_waker(Table *t, const WaitsRow *row) {
        if (!row->is_woken)
                table_add(t, "%s", row->is_forced ? "(preempted)" : "?");
        else if (row->waker.is_irq)
                table_add(t, "(interrupt)");
        else if (row->waker.pid < 0)
                table_add(t, "%s", NAME_QUOTED(row->waker.comm));
        else
                table_add(t, "%s-%d", NAME_QUOTED(row->waker.comm), row->waker.pid);
        if (row->is_woken && row->waker.function)
                table_add_function(t, row->waker.function);
        else
                table_add(t, " ");
}

static int print(const Options *o, const Counting *counting, const WaitsRow *const *rows,
                 size_t n) {
        _cleanup_table_ Table t = {};

        table_init(&t, ">WAITED|>TIMES|?>MEDIAN|?>MAX|>WAKE-UP|?>SLOWEST|IN|WOKEN BY|IN");
        for (size_t i = 0; i < n; i++) {
                const WaitsRow *row = rows[i];

                table_add_time(&t, row->away.sum);
                table_add(&t, "%llu", (unsigned long long) row->away.n);
                table_add_time(&t, quantiles_at(&row->away, 500));
                table_add_time(&t, row->away.max);
                add_latency(&t, row, quantiles_at(&row->latency, 500));
                add_latency(&t, row, row->latency.max);
                table_add_function(&t, row->function);
                add_waker(&t, row);
        }
        return counting_print(counting, o, &t);
}

static json_t *latency_json(const WaitsRow *row, uint64_t ns) {
        return row->is_woken ? json_integer((json_int_t) ns) : json_null();
}

static json_t *waker_json(const WaitsRow *row) {
        json_t *o;

        if (!row->is_woken)
                return json_null();
        o = json_pack("{s:o, s:o, s:b}", "task", table_comm_json(row->waker.comm), "pid",
                      table_pid_json(row->waker.pid), "interrupt", row->waker.is_irq);
        if (row->waker.function)
                table_function_json(o, row->waker.function);
        return o;
}

static int print_json(const Options *o, const WaitsRow *const *rows, size_t n) {
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++) {
                const WaitsRow *row = rows[i];

                (void) json_array_append_new(
                        list,
                        table_function_pack(
                                row->function, "{s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:o}", "count",
                                (json_int_t) row->away.n, "waited_ns", (json_int_t) row->away.sum,
                                "waited_p50_ns", (json_int_t) quantiles_at(&row->away, 500),
                                "waited_max_ns", (json_int_t) row->away.max, "wakeup_p50_ns",
                                latency_json(row, quantiles_at(&row->latency, 500)),
                                "wakeup_max_ns", latency_json(row, row->latency.max), "preempted",
                                row->is_forced, "waker", waker_json(row)));
        }
        return stdout_json(o, list);
}

int verb_waits(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(waits_freep) Waits *waits = NULL;
        const WaitsRow *const *rows;
        size_t n;
        int r = counting_init(&counting, true) ?: waits_new(&waits, counting.pairing);
        int status = r < 0 ? counting_failure(r) : counting_read(&counting, o, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        rows = waits_rows(waits, &n);
        if (o->limit > 0)
                n = MIN(n, (size_t) o->limit);
        status = o->json != JSON_OFF ? print_json(o, rows, n) : print(o, &counting, rows, n);
        if (status != STATUS_OK)
                return status;
        if (!counting.pairing->has_sched)
                talk(o, "It has no events that tell who waited: record with --sched.");
        return counting_end(&counting, o);
}
