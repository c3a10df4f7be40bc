/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Columns of what was not met, interrupts and waiting, are left out of the table, and of a terminal
 * that is not wide those that can be done without. */

#include "base/name.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/top-view.h"

#define WIDE_COLUMNS 130

static uint64_t self_of(const TopView *v, const BreakdownRow *row) {
        return v->cost ? floor_likely_ns(v->cost, row->self_ns, row->n_calls, row->n_children)
                       : row->self_ns;
}

static uint64_t total_of(const TopView *v, const BreakdownRow *row) {
        return v->cost ? floor_likely_ns(v->cost, row->total_ns, row->n_outer, row->n_below)
                       : row->total_ns;
}

static uint64_t average_of(const TopView *v, const BreakdownRow *row) {
        uint64_t average_ns = row->quantiles.n > 0 ? row->quantiles.sum / row->quantiles.n : 0;

        if (!v->cost || row->n_outer == 0)
                return average_ns;
        return floor_likely_ns(v->cost, average_ns, 1, row->n_below / row->n_outer);
}

/* What can be sorted by; "name" besides. */
static const struct Key {
        const char *name;
        uint64_t (*value)(const TopView *v, const BreakdownRow *row);
        unsigned permille; /* a quantile; 0: it is at: */
        size_t offset;
} keys[] = {
        { "self", .value = self_of },
        { "total", .value = total_of },
        { "count", .offset = offsetof(BreakdownRow, n) },
        { "avg", .value = average_of },
        { "min", .offset = offsetof(BreakdownRow, quantiles.min) },
        { "max", .offset = offsetof(BreakdownRow, quantiles.max) },
        { "p50", .permille = 500 },
        { "p90", .permille = 900 },
        { "p99", .permille = 990 },
};

static uint64_t key_of(const TopView *v, const BreakdownRow *row, const struct Key *k) {
        if (k->value)
                return k->value(v, row);
        if (k->permille > 0)
                return quantiles_at(&row->quantiles, k->permille);
        return *(const uint64_t *) (const void *) ((const char *) row + k->offset);
}

/* --- order ------------------------------------------------------------------------------------ */

typedef struct Sorted {
        const BreakdownRow *row;
        uint64_t key;
        size_t place; /* among the breakdown's rows, which breaks ties */
} Sorted;

static int compare_keys(const void *a, const void *b) {
        const Sorted *x = a, *y = b;

        if (x->key != y->key)
                return x->key < y->key ? 1 : -1;
        return (x->place > y->place) - (x->place < y->place);
}

static int compare_names(const void *a, const void *b) {
        const Sorted *x = a, *y = b;
        int order = 0;

        if (x->row->name && y->row->name)
                order = memcmp(x->row->name, y->row->name, MIN(x->row->n_name, y->row->n_name))
                                ?: (int) x->row->n_name - (int) y->row->n_name;
        else
                order = (int) x->row->cpu - (int) y->row->cpu;
        return order ?: compare_keys(a, b);
}

static size_t key_by_name(const char *name) {
        size_t i = 0;

        while (i < ELEMENTSOF(keys) && !streq(keys[i].name, name))
                i++;
        return i;
}

int top_view_check(const Options *o, BreakdownBy *ret_by) {
        int by = o->by ? breakdown_by_from_name(o->by) : BREAKDOWN_BY_FUNCTION;
        const char *sort = o->analysis.sort;

        if (by < 0)
                return failed(STATUS_USAGE,
                              "--by: \"%s\" is not one of function, module, task, cpu, root.",
                              NAME_QUOTED(o->by));
        if (sort && key_by_name(sort) == ELEMENTSOF(keys) && !streq(sort, "name"))
                return failed(STATUS_USAGE,
                              "--sort: \"%s\" is not one of self, total, count, avg, min, max, "
                              "p50, p90, p99, name.",
                              NAME_QUOTED(sort));
        *ret_by = (BreakdownBy) by;
        return STATUS_OK;
}

int top_view_init(TopView *ret, const Options *o, Breakdown *b, BreakdownBy by,
                  const FloorCost *cost, uint64_t total_ns) {
        TopView v = { .by = by, .cost = cost, .all_ns = cost ? 0 : total_ns };
        size_t key = key_by_name(o->analysis.sort ?: "self");
        _cleanup_free_ Sorted *sorted = NULL;
        const BreakdownRow *const *rows;

        rows = breakdown_rows(b, &v.n);
        if (!rows)
                return -ENOMEM;
        sorted = calloc(v.n + 1, sizeof(*sorted));
        v.rows = calloc(v.n + 1, sizeof(const BreakdownRow *));
        if (!sorted || !v.rows) {
                free(v.rows);
                return -ENOMEM;
        }
        for (size_t i = 0; i < v.n; i++) {
                sorted[i] = (Sorted){ rows[i], 0, i };
                sorted[i].key = key < ELEMENTSOF(keys) ? key_of(&v, rows[i], &keys[key]) : 0;
                v.all_ns += cost ? self_of(&v, rows[i]) : 0;
        }
        qsort(sorted, v.n, sizeof(*sorted), key < ELEMENTSOF(keys) ? compare_keys : compare_names);
        for (size_t i = 0; i < v.n; i++)
                v.rows[i] = sorted[i].row;
        *ret = v;
        return 0;
}

void top_view_done(TopView *v) {
        free(v->rows);
        *v = (TopView){};
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *text_json(const char *s, uint32_t n) {
        return s ? terminal_json_text(s, n) : json_null();
}

static json_t *row_json(const TopView *v, const BreakdownRow *row) {
        json_t *o = json_object();

        switch (v->by) {
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
                o,
                json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
                          "s:I, s:I, s:I}",
                          "count", (json_int_t) row->n, "cut", (json_int_t) row->n_cut, "self_ns",
                          (json_int_t) self_of(v, row), "total_ns", (json_int_t) total_of(v, row),
                          "net_ns", (json_int_t) (row->total_ns - MIN(row->total_ns, row->irq_ns)),
                          "blocked_ns", (json_int_t) row->blocked_ns, "on_cpu_ns",
                          (json_int_t) (row->total_ns - MIN(row->total_ns, row->blocked_ns)),
                          "irq_ns", (json_int_t) row->irq_ns, "softirq_ns",
                          (json_int_t) row->softirq_ns, "wake_ns", (json_int_t) row->wake_ns,
                          "net_of_all_ns",
                          (json_int_t) (row->total_ns - MIN(row->total_ns, row->aside_ns)),
                          "min_ns", (json_int_t) row->quantiles.min, "max_ns",
                          (json_int_t) row->quantiles.max, "avg_ns",
                          (json_int_t) average_of(v, row), "p50_ns",
                          (json_int_t) quantiles_at(&row->quantiles, 500), "p90_ns",
                          (json_int_t) quantiles_at(&row->quantiles, 900), "p99_ns",
                          (json_int_t) quantiles_at(&row->quantiles, 990)));
        return o;
}

json_t *top_view_json(const TopView *v, size_t n) {
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
                (void) json_array_append_new(list, row_json(v, v->rows[i]));
        return list;
}

/* --- a table ---------------------------------------------------------------------------------- */

static void add_name(const TopView *v, Table *t, const BreakdownRow *row) {
        _cleanup_free_ char *text = row->name ? strndup(row->name, row->n_name) : NULL;
        const char *cut = row->n_cut > 0 ? "  (cut)" : "";

        if (v->by == BREAKDOWN_BY_CPU)
                table_add(t, "CPU %u%s", row->cpu, cut);
        else if (v->by == BREAKDOWN_BY_TASK && row->pid < 0)
                table_add(t, "%s%s", NAME_QUOTED(text ?: ""), cut);
        else if (v->by == BREAKDOWN_BY_TASK)
                table_add(t, "%s-%d%s", NAME_QUOTED(text ?: ""), row->pid, cut);
        else if (v->by != BREAKDOWN_BY_MODULE && row->module)
                table_add(t, "%s [%.*s]%s", NAME_QUOTED(text ?: ""), (int) row->n_module,
                          row->module, cut);
        else
                table_add(t, "%s%s", NAME_QUOTED(text ?: ""), cut);
}

/* Of a call; where all were cut none is known. */
static void add_round(Table *t, const BreakdownRow *row, uint64_t ns) {
        table_add(t, "%s", row->quantiles.n > 0 ? FIGURE_ROUND(ns) : "-");
}

int top_view_print(const TopView *v, Buf *out, size_t n, bool legend) {
        static const char *const names[] = {
                [BREAKDOWN_BY_FUNCTION] = "FUNCTION", [BREAKDOWN_BY_MODULE] = "MODULE",
                [BREAKDOWN_BY_TASK] = "TASK",         [BREAKDOWN_BY_CPU] = "CPU",
                [BREAKDOWN_BY_ROOT] = "ROOT",
        };
        size_t columns = terminal_columns();
        bool wide = columns == 0 || columns >= WIDE_COLUMNS;
        bool has_irqs = false, has_waits = false, has_softirqs = false, has_wakes = false;
        _cleanup_table_ Table t = {};
        char titles[192];

        for (size_t i = 0; i < v->n; i++) {
                has_irqs |= v->rows[i]->irq_ns > 0;
                has_softirqs |= wide && v->rows[i]->softirq_ns > 0;
                has_wakes |= wide && v->rows[i]->wake_ns > 0;
                has_waits |= v->rows[i]->blocked_ns > 0;
        }
        (void) snprintf(titles, sizeof(titles),
                        ">SELF|>SELF%%|>TOTAL%s%s%s%s%s|>%s|>AVG%s|>P99%s|%s",
                        has_irqs ? "|>STOLEN" : "", has_softirqs ? "|>SOFTIRQ" : "",
                        has_wakes ? "|>WAKING" : "",
                        wide && (has_irqs || has_softirqs || has_wakes) ? "|>NET" : "",
                        !has_waits ? ""
                        : wide     ? "|>BLOCKED|>ON-CPU"
                                   : "|>BLOCKED",
                        v->by == BREAKDOWN_BY_ROOT ? "TREES" : "CALLS",
                        wide ? "|>MIN|>P50|>P90" : "", wide ? "|>MAX" : "", names[v->by]);
        table_init(&t, titles);
        for (size_t i = 0; i < n; i++) {
                const BreakdownRow *row = v->rows[i];

                table_add_time(&t, self_of(v, row));
                table_add(&t, "%.1f%%",
                          100.0 * (double) self_of(v, row) / (double) MAX(v->all_ns, UINT64_C(1)));
                table_add_time(&t, total_of(v, row));
                if (has_irqs)
                        table_add_time(&t, row->irq_ns);
                if (has_softirqs)
                        table_add_time(&t, row->softirq_ns);
                if (has_wakes)
                        table_add_time(&t, row->wake_ns);
                if (wide && (has_irqs || has_softirqs || has_wakes))
                        table_add_time(&t, total_of(v, row) - MIN(total_of(v, row), row->aside_ns));
                if (has_waits)
                        table_add_time(&t, row->blocked_ns);
                if (has_waits && wide)
                        table_add_time(&t,
                                       total_of(v, row) - MIN(total_of(v, row), row->blocked_ns));
                table_add(&t, "%llu", (unsigned long long) row->n);
                add_round(&t, row, average_of(v, row));
                if (wide) {
                        add_round(&t, row, row->quantiles.min);
                        add_round(&t, row, quantiles_at(&row->quantiles, 500));
                        add_round(&t, row, quantiles_at(&row->quantiles, 900));
                }
                add_round(&t, row, quantiles_at(&row->quantiles, 990));
                if (wide)
                        add_round(&t, row, row->quantiles.max);
                add_name(v, &t, row);
        }
        return table_print(&t, out, legend);
}
