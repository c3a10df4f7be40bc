/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where time went: rows of functions, or of what --by says, with the most self time first. */

#include "analyze/breakdown.h"
#include "base/log.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/reading.h"
#include "cli/status.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verb.h"

#define LIMIT_DEFAULT 30

static int fill(Pairing *p, Reading *reading) {
        int r;

        for (;;) {
                Step step;

                r = reading_next(reading, &step);
                if (r < 0)
                        return -r;
                if (r == 0)
                        break;
                r = pairing_step(p, &step);
                if (r < 0)
                        break;
        }
        if (r >= 0)
                r = pairing_finish(p);
        if (r < 0) {
                log_error_errno(r, "Failed to add up calls: %m");
                return STATUS_FAILED;
        }
        return STATUS_OK;
}

static uint64_t average(const BreakdownRow *row) {
        return row->spread.n > 0 ? row->spread.sum / row->spread.n : 0;
}

static json_t *text_json(const char *s, uint32_t n) {
        return s ? json_stringn(s, n) : json_null();
}

static json_t *row_json(const BreakdownRow *row, BreakdownBy by) {
        const Spread *s = &row->spread;
        json_t *o = json_object();

        switch (by) {
        case BREAKDOWN_BY_FUNCTION:
        case BREAKDOWN_BY_ROOT:
                (void) json_object_set_new(o, "function", text_json(row->name, row->n_name));
                (void) json_object_set_new(o, "module", text_json(row->module, row->n_module));
                break;
        case BREAKDOWN_BY_MODULE:
                (void) json_object_set_new(o, "module", text_json(row->name, row->n_name));
                break;
        case BREAKDOWN_BY_TASK:
                (void) json_object_set_new(o, "task", text_json(row->name, row->n_name));
                (void) json_object_set_new(o, "pid",
                                           row->pid >= 0 ? json_integer(row->pid) : json_null());
                break;
        case BREAKDOWN_BY_CPU:
                (void) json_object_set_new(o, "cpu", json_integer(row->cpu));
                break;
        }
        (void) json_object_update_new(
                o, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
                             "count", (json_int_t) row->n, "cut", (json_int_t) row->n_cut,
                             "self_ns", (json_int_t) row->self_ns, "total_ns",
                             (json_int_t) row->total_ns, "blocked_ns", (json_int_t) row->blocked_ns,
                             "irq_ns", (json_int_t) row->irq_ns, "min_ns", (json_int_t) s->min,
                             "max_ns", (json_int_t) s->max, "avg_ns", (json_int_t) average(row),
                             "p50_ns", (json_int_t) spread_quantile(s, 500), "p90_ns",
                             (json_int_t) spread_quantile(s, 900), "p99_ns",
                             (json_int_t) spread_quantile(s, 990)));
        return o;
}

static int print_json(const Options *o, const BreakdownRow *const *rows, size_t n, BreakdownBy by) {
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
                (void) json_array_append_new(list, row_json(rows[i], by));
        return stdout_json(o, list);
}

/* "6.65 us", as exact as the tracer is. */
static void add_duration(Table *t, uint64_t ns) {
        if (ns < NSEC_PER_MSEC)
                table_add(t, "%.3f us", (double) ns / NSEC_PER_USEC);
        else if (ns < NSEC_PER_SEC)
                table_add(t, "%.3f ms", (double) ns / NSEC_PER_MSEC);
        else
                table_add(t, "%.3f s", (double) ns / NSEC_PER_SEC);
}

static void add_name(Table *t, const BreakdownRow *row, BreakdownBy by) {
        _cleanup_free_ char *text = row->name ? strndup(row->name, row->n_name) : NULL;
        char quoted[NAME_QUOTE_MAX];

        if (by == BREAKDOWN_BY_CPU)
                table_add(t, "CPU %u", row->cpu);
        else if (by == BREAKDOWN_BY_TASK && row->pid < 0)
                table_add(t, "%s", name_quote(quoted, text ?: ""));
        else if (by == BREAKDOWN_BY_TASK)
                table_add(t, "%s-%d", name_quote(quoted, text ?: ""), row->pid);
        else if (by != BREAKDOWN_BY_MODULE && row->module)
                table_add(t, "%s [%.*s]", name_quote(quoted, text ?: ""), (int) row->n_module,
                          row->module);
        else
                table_add(t, "%s", name_quote(quoted, text ?: ""));
}

static int print_table(const Options *o, const Pairing *pairing, const BreakdownRow *const *rows,
                       size_t n, BreakdownBy by) {
        static const char *const titles[] = {
                [BREAKDOWN_BY_FUNCTION] = ">SELF|>SELF%|>TOTAL|>CALLS|>AVG|>P99|>MAX|FUNCTION",
                [BREAKDOWN_BY_MODULE] = ">SELF|>SELF%|>TOTAL|>CALLS|>AVG|>P99|>MAX|MODULE",
                [BREAKDOWN_BY_TASK] = ">SELF|>SELF%|>TOTAL|>CALLS|>AVG|>P99|>MAX|TASK",
                [BREAKDOWN_BY_CPU] = ">SELF|>SELF%|>TOTAL|>CALLS|>AVG|>P99|>MAX|CPU",
                [BREAKDOWN_BY_ROOT] = ">SELF|>SELF%|>TOTAL|>TREES|>AVG|>P99|>MAX|ROOT",
        };
        double all = (double) MAX(pairing_total_ns(pairing), UINT64_C(1));
        _cleanup_buf_ Buf out = BUF_TO_FD(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_table_ Table t = {};
        int r;

        table_init(&t, titles[by]);
        for (size_t i = 0; i < n; i++) {
                add_duration(&t, rows[i]->self_ns);
                table_add(&t, "%.1f%%", 100.0 * (double) rows[i]->self_ns / all);
                add_duration(&t, rows[i]->total_ns);
                table_add(&t, "%llu", (unsigned long long) rows[i]->n);
                add_duration(&t, average(rows[i]));
                add_duration(&t, spread_quantile(&rows[i]->spread, 990));
                add_duration(&t, rows[i]->spread.max);
                add_name(&t, rows[i], by);
        }
        pager_open(&pager, o, n + 2);
        r = table_print(&t, &out, !o->no_legend);
        if (r >= 0)
                r = buf_flush(&out);
        return stdout_status(pager_end(&pager, r));
}

int verb_top(const Options *o) {
        int by = o->by ? breakdown_by_from_name(o->by) : BREAKDOWN_BY_FUNCTION, r, status;
        _cleanup_reading_ Reading reading = {};
        _cleanup_(pairing_freep) Pairing *pairing = NULL;
        _cleanup_(breakdown_freep) Breakdown *p = NULL;
        char quoted[NAME_QUOTE_MAX];
        const BreakdownRow *const *rows;
        size_t n, n_shown;

        if (by < 0) {
                log_error("--by: \"%s\" is none of function, module, task, cpu, root.",
                          name_quote(quoted, o->by));
                return STATUS_USAGE;
        }
        r = pairing_new(&pairing);
        if (r >= 0)
                r = breakdown_new(&p, (BreakdownBy) by, pairing);
        if (r < 0) {
                log_error_errno(r, "Failed to add up calls: %m");
                return STATUS_FAILED;
        }
        status = reading_open(&reading, o, o->words.items[0]);
        if (status == STATUS_OK)
                status = fill(pairing, &reading);
        if (status != STATUS_OK)
                return status;
        rows = breakdown_rows(p, &n);
        n_shown = o->limit > 0          ? MIN(n, (size_t) o->limit)
                  : o->json != JSON_OFF ? n
                                        : MIN(n, (size_t) LIMIT_DEFAULT);
        status = o->json != JSON_OFF ? print_json(o, rows, n_shown, (BreakdownBy) by)
                                     : print_table(o, pairing, rows, n_shown, (BreakdownBy) by);
        if (status != STATUS_OK)
                return status;
        if (n_shown < n && o->limit == 0)
                talk(o, "%zu of %zu rows are shown; --limit=%zu shows all.", n_shown, n, n);
        return reading_finish(&reading, o);
}
