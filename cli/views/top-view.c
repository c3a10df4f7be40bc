/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One table has every column: what it is called, how a cell is made, and by what it sorts.  Six answer
 * where the time went; with --columns=all those of what was not met, interrupts and waiting, are left
 * out. */

#include "base/name.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/top-view.h"

#define DEFAULT_COLUMNS "self,share,total,count,p99,name"
#define DEFAULT_TAIL "p99" /* gives its place to what is sorted by */

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

static uint64_t net_of(const TopView *v, const BreakdownRow *row) {
        uint64_t total_ns = total_of(v, row);

        return total_ns - MIN(total_ns, row->aside_ns);
}

static uint64_t on_cpu_of(const TopView *v, const BreakdownRow *row) {
        uint64_t total_ns = total_of(v, row);

        return total_ns - MIN(total_ns, row->blocked_ns);
}

typedef enum CellKind {
        CELL_TIME,    /* of all calls */
        CELL_OF_CALL, /* the time of one call; where all were cut none is known */
        CELL_SHARE,   /* of all self times */
        CELL_COUNT,
        CELL_NAME,
} CellKind;

#define MEMBER(name) offsetof(BreakdownRow, name)

static const struct Column {
        const char *name;  /* for --columns and --sort */
        const char *title; /* NULL: what --by says */
        CellKind kind;
        uint64_t (*value)(const TopView *v, const BreakdownRow *row);
        unsigned permille; /* a quantile; 0: it is at: */
        size_t offset;
        size_t met; /* all: only if this member of a row is not 0; 0: always */
} columns[] = {
        { "self", "SELF", CELL_TIME, .value = self_of },
        { "share", "SELF%", CELL_SHARE, .value = self_of },
        { "total", "TOTAL", CELL_TIME, .value = total_of },
        { "stolen", "STOLEN", CELL_TIME, .offset = MEMBER(irq_ns), .met = MEMBER(irq_ns) },
        { "softirq", "SOFTIRQ", CELL_TIME, .offset = MEMBER(softirq_ns),
          .met = MEMBER(softirq_ns) },
        { "waking", "WAKING", CELL_TIME, .offset = MEMBER(wake_ns), .met = MEMBER(wake_ns) },
        { "net", "NET", CELL_TIME, .value = net_of, .met = MEMBER(aside_ns) },
        { "blocked", "BLOCKED", CELL_TIME, .offset = MEMBER(blocked_ns),
          .met = MEMBER(blocked_ns) },
        { "on-cpu", "ON-CPU", CELL_TIME, .value = on_cpu_of, .met = MEMBER(blocked_ns) },
        { "count", "CALLS", CELL_COUNT, .offset = MEMBER(n) },
        { "avg", "AVG", CELL_OF_CALL, .value = average_of },
        { "min", "MIN", CELL_OF_CALL, .offset = MEMBER(quantiles.min) },
        { "p50", "P50", CELL_OF_CALL, .permille = 500 },
        { "p90", "P90", CELL_OF_CALL, .permille = 900 },
        { "p99", "P99", CELL_OF_CALL, .permille = 990 },
        { "max", "MAX", CELL_OF_CALL, .offset = MEMBER(quantiles.max) },
        { "name", NULL, CELL_NAME },
};

_Static_assert(ELEMENTSOF(columns) <= TOP_VIEW_COLUMNS, "TopView.columns has room for each once");

static uint64_t member_of(const BreakdownRow *row, size_t offset) {
        return *(const uint64_t *) (const void *) ((const char *) row + offset);
}

static uint64_t value_of(const TopView *v, const BreakdownRow *row, const struct Column *c) {
        if (c->value)
                return c->value(v, row);
        if (c->permille > 0)
                return quantiles_at(&row->quantiles, c->permille);
        return member_of(row, c->offset);
}

static bool is_word(const char *s, size_t n, const char *word) {
        return n == strlen(word) && memcmp(s, word, n) == 0;
}

/* ELEMENTSOF(columns): there is none. */
static size_t find_column(const char *name, size_t n_name) {
        size_t i = 0;

        while (i < ELEMENTSOF(columns) && !is_word(name, n_name, columns[i].name))
                i++;
        return i;
}

static int refuse_column(const char *option, const char *name, size_t n_name, const char *last) {
        _cleanup_free_ char *word = strndup(name, n_name), *names = NULL;
        _cleanup_buf_ Buf list = BUF_INIT;

        for (size_t i = 0; i < ELEMENTSOF(columns); i++)
                buf_printf(&list, "%s%s", i > 0 ? ", " : "", columns[i].name);
        buf_adds(&list, last);
        if (!word || buf_take_string(&list, &names) < 0)
                return failed_errno(-ENOMEM, "Failed to read the options: %m");
        return failed(STATUS_USAGE, "%s: \"%s\" is not one of %s.", option, NAME_QUOTED(word),
                      names);
}

/* --- which columns ---------------------------------------------------------------------------- */

/* Whether any row has it. */
static bool is_met(const TopView *v, const struct Column *c) {
        bool is = c->met == 0;

        for (size_t i = 0; i < v->n && !is; i++)
                is = member_of(v->rows[i], c->met) > 0;
        return is;
}

static void add_column(TopView *v, size_t column) {
        if (memchr(v->columns, (int) column, v->n_columns) == NULL)
                v->columns[v->n_columns++] = (unsigned char) column;
}

/* The rows of @v are there, and top_view_check() had nothing to say of what the options name. */
static void choose_columns(TopView *v, const Options *o, size_t sorted_by) {
        const char *list = o->analysis.columns ?: DEFAULT_COLUMNS;

        for (size_t n; *list; list += n + (list[n] == ',')) {
                n = strcspn(list, ",");
                if (is_word(list, n, "all")) {
                        for (size_t i = 0; i < ELEMENTSOF(columns); i++)
                                if (is_met(v, &columns[i]))
                                        add_column(v, i);
                } else if (!o->analysis.columns && is_word(list, n, DEFAULT_TAIL) &&
                           !strstr(DEFAULT_COLUMNS, columns[sorted_by].name)) {
                        add_column(v, sorted_by);
                } else {
                        add_column(v, find_column(list, n));
                }
        }
        add_column(v, find_column("name", strlen("name")));
}

bool top_view_has_more(const TopView *v) {
        for (size_t i = 0; i < ELEMENTSOF(columns); i++)
                if (columns[i].met > 0 && is_met(v, &columns[i]) &&
                    !memchr(v->columns, (int) i, v->n_columns))
                        return true;
        return false;
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

int top_view_check(const Options *o, BreakdownBy *ret_by) {
        int by = o->by ? breakdown_by_from_name(o->by) : BREAKDOWN_BY_FUNCTION;
        const char *sort = o->analysis.sort, *list = o->analysis.columns;

        if (by < 0)
                return failed(STATUS_USAGE,
                              "--by: \"%s\" is not one of function, module, task, cpu, root.",
                              NAME_QUOTED(o->by));
        if (sort && find_column(sort, strlen(sort)) == ELEMENTSOF(columns))
                return refuse_column("--sort", sort, strlen(sort), "");
        for (size_t n; list && *list; list += n + (list[n] == ',')) {
                n = strcspn(list, ",");
                if (find_column(list, n) == ELEMENTSOF(columns) && !is_word(list, n, "all"))
                        return refuse_column("--columns", list, n, ", all");
        }
        *ret_by = (BreakdownBy) by;
        return STATUS_OK;
}

int top_view_init(TopView *ret, const Options *o, Breakdown *b, BreakdownBy by,
                  const FloorCost *cost, uint64_t total_ns) {
        TopView v = { .by = by, .cost = cost, .all_ns = cost ? 0 : total_ns };
        const char *sort = o->analysis.sort ?: "self";
        size_t key = find_column(sort, strlen(sort));
        bool by_name = columns[key].kind == CELL_NAME;
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
                sorted[i].key = by_name ? 0 : value_of(&v, rows[i], &columns[key]);
                v.all_ns += cost ? self_of(&v, rows[i]) : 0;
        }
        qsort(sorted, v.n, sizeof(*sorted), by_name ? compare_names : compare_keys);
        for (size_t i = 0; i < v.n; i++)
                v.rows[i] = sorted[i].row;
        choose_columns(&v, o, key);
        *ret = v;
        return 0;
}

void top_view_done(TopView *v) {
        free(v->rows);
        *v = (TopView){};
}

/* --- JSON ------------------------------------------------------------------------------------- */

static bool is_of_functions(const TopView *v) {
        return v->by == BREAKDOWN_BY_FUNCTION || v->by == BREAKDOWN_BY_MODULE;
}

static json_t *row_json(const TopView *v, const BreakdownRow *row) {
        json_t *o = json_object();

        switch (v->by) {
        case BREAKDOWN_BY_FUNCTION:
        case BREAKDOWN_BY_ROOT:
                (void) json_object_set_new(o, "function",
                                           terminal_json_text(row->name, row->n_name));
                (void) json_object_set_new(o, "module",
                                           terminal_json_text(row->module, row->n_module));
                break;
        case BREAKDOWN_BY_MODULE:
                (void) json_object_set_new(o, "module", terminal_json_text(row->name, row->n_name));
                break;
        case BREAKDOWN_BY_TASK:
                (void) json_object_set_new(o, "task", terminal_json_text(row->name, row->n_name));
                (void) json_object_set_new(o, "pid",
                                           row->pid >= 0 ? json_integer(row->pid) : json_null());
                break;
        case BREAKDOWN_BY_CPU:
                (void) json_object_set_new(o, "cpu", json_integer(row->cpu));
                break;
        }
        if (is_of_functions(v))
                (void) json_object_set_new(o, "not_hooked_below",
                                           table_unhooked_json(row->n_unhooked));
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
        const char *mark = is_of_functions(v) ? TABLE_MARK(&t->marks, row->n_unhooked) : "";
        char cut[TABLE_MARK_MAX + 8];

        (void) snprintf(cut, sizeof(cut), "%s%s", mark, row->n_cut > 0 ? "  (cut)" : "");

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

static void add_cell(const TopView *v, Table *t, const BreakdownRow *row, const struct Column *c) {
        uint64_t value = c->kind == CELL_NAME ? 0 : value_of(v, row, c);

        switch (c->kind) {
        case CELL_TIME:
                table_add_time(t, value);
                break;
        case CELL_OF_CALL:
                table_add(t, "%s", row->quantiles.n > 0 ? FIGURE_ROUND(value) : "-");
                break;
        case CELL_SHARE:
                table_add(t, "%.1f%%",
                          100.0 * (double) value / (double) MAX(v->all_ns, UINT64_C(1)));
                break;
        case CELL_COUNT:
                table_add(t, "%llu", (unsigned long long) value);
                break;
        case CELL_NAME:
                add_name(v, t, row);
                break;
        }
}

int top_view_print(const TopView *v, Buf *out, size_t n, bool legend) {
        static const char *const names[] = {
                [BREAKDOWN_BY_FUNCTION] = "FUNCTION", [BREAKDOWN_BY_MODULE] = "MODULE",
                [BREAKDOWN_BY_TASK] = "TASK",         [BREAKDOWN_BY_CPU] = "CPU",
                [BREAKDOWN_BY_ROOT] = "ROOT",
        };
        _cleanup_table_ Table t = {};
        char titles[192] = "";
        int r;

        for (size_t i = 0, length = 0; i < v->n_columns; i++) {
                const struct Column *c = &columns[v->columns[i]];
                const char *title = c->title ?: names[v->by];

                if (c->kind == CELL_COUNT && v->by == BREAKDOWN_BY_ROOT)
                        title = "TREES";
                length +=
                        (size_t) snprintf(titles + length, sizeof(titles) - length, "%s%s%s",
                                          i > 0 ? "|" : "", c->kind == CELL_NAME ? "" : ">", title);
        }
        table_init(&t, titles);
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < v->n_columns; k++)
                        add_cell(v, &t, v->rows[i], &columns[v->columns[k]]);
        r = table_print(&t, out, legend);
        if (legend)
                table_explain(&t.marks, out);
        return r;
}
