/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Waiting is told alike by all that tell of it. */

#include "base/name.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

void row_waker(Row r, const Waker *w) {
        row_task(r, NULL, w->comm, w->pid);
        row_bool(r, "interrupt", w->is_irq);
        row_bool(r, "softirq", w->in_softirq);
        row_string(r, NULL, "what", w->what);
        if (w->function)
                row_function(r, NULL, w->function);
}

static json_t *waker_json(const Waker *w) {
        Row r = row_of_json();

        row_waker(r, w);
        return r.json;
}

static void tell_waker(Row r, const WaitsRow *row) {
        const Waker *w = row->is_woken ? &row->waker : NULL;
        _cleanup_buf_ Buf text = BUF_INIT;

        if (!r.is_text) {
                row_json(r, "waker", w ? waker_json(w) : json_null());
                return;
        }
        if (!w && row->is_forced) {
                waits_describe_holder(&text, row, ": ");
                row_cell(r, "2WOKEN BY", "(preempted%.*s)", (int) text.n_data, text.data);
        } else if (!w)
                row_cell(r, "2WOKEN BY", "?");
        else if (w->is_irq || w->in_softirq) {
                Waker alone = *w;

                alone.function = NULL;
                waker_describe(&text, &alone);
                row_cell(r, "2WOKEN BY", "(%.*s)", (int) text.n_data, text.data);
        } else
                row_task(r, "2WOKEN BY", w->comm, w->pid);
        if (w && w->function)
                row_function(r, "2IN", w->function);
        else
                row_cell(r, "2IN", " ");
}

void row_waits(Row r, const WaitsRow *row) {
        const Quantiles *away = &row->away, *latency = &row->latency;
        const Waker *had = &row->waker;

        if (!r.is_text || !row->is_between)
                row_function(r, "2IN", row->function);
        else
                row_cell(r, "2IN", "(between calls of %s-%d)", NAME_QUOTED(row->comm), row->pid);
        row_count(r, "1>TIMES", "count", away->n);
        row_time(r, ">WAITED", "waited_ns", away->sum);
        row_time(r, "1?>MEDIAN", "waited_p50_ns", quantiles_at(away, 500));
        row_time(r, "1?>MAX", "waited_max_ns", away->max);
        /* How long it took to run again is not known of whom nobody was seen to wake. */
        row_known_time(r, "1>WAKE-UP", "wakeup_p50_ns", row->is_woken, quantiles_at(latency, 500));
        row_known_time(r, "1?>SLOWEST", "wakeup_max_ns", row->is_woken, latency->max);
        row_bool(r, "preempted", row->is_forced);
        row_string(r, NULL, "cpu_had", row->is_forced && *had->comm ? had->comm : NULL);
        row_known_int(r, "cpu_had_pid", row->is_forced && had->pid >= 0, had->pid);
        row_known_int(r, "idle_ns", row->is_forced, (int64_t) row->idle_ns);
        row_bool(r, "between_calls", row->is_between);
        row_string(r, NULL, "task", row->is_between ? row->comm : NULL);
        row_known_int(r, "pid", row->is_between && row->pid >= 0, row->pid);
        tell_waker(r, row);
}

json_t *waits_json(const WaitsRow *row) {
        Row r;

        if (!row)
                return json_null();
        r = row_of_json();
        row_waits(r, row);
        return r.json;
}

void idle_say(const Options *o, const Idle *idle) {
        _cleanup_buf_ Buf text = BUF_INIT;

        idle_describe(&text, idle);
        if (text.n_data > 0)
                talk(o, "%.*s", (int) text.n_data, text.data);
}

json_t *idle_json(const Idle *idle) {
        _cleanup_table_ Table t;

        table_begin(&t, JSON_AUTO);
        for (size_t i = 0; i < idle->n_roots && idle_is_left_out(idle); i++) {
                const struct IdleRoot *root = &idle->roots[i];
                Row r;

                if (root->n == 0)
                        continue;
                r = table_row(&t);
                row_function(r, NULL, root->function);
                row_int(r, "calls", (int64_t) root->n);
                row_int(r, "longest_ns", (int64_t) root->longest_ns);
        }
        return TAKE_PTR(t.list);
}

void waits_view_hint(const Counting *c, const Function *receiver, const char *comm, int32_t pid) {
        static const char receives[] = "_recvmsg";
        const SessionMeta *meta = reading_meta(&c->reading);
        const char *at = receiver ? strstr(receiver->label, receives) : NULL;
        _cleanup_free_ char *sender = NULL;
        char number[16] = "";

        if (!at ||
            asprintf(&sender, "%.*s_sendmsg%s", (int) (at - receiver->label), receiver->label,
                     at + strlen(receives)) < 0 ||
            (meta && strv_contains(&meta->roots, sender)))
                return;
        if (pid >= 0)
                (void) snprintf(number, sizeof(number), "-%d", pid);
        talk(c->reading.o,
             "A softirq woke what waited in %s while %s%s ran, perhaps on its behalf: to see that, "
             "record %s as well.",
             receiver->label, *comm ? NAME_QUOTED(comm) : "a task", number, sender);
}
