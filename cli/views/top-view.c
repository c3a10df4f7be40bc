/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One table has every column: what it is called, how a cell is made, and by what it sorts.  Six answer
 * where the time went; with --columns=all those of what was not met, interrupts and waiting, are left
 * out. */

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/views/views.h"

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

typedef enum CellKind {
        CELL_TIME,    /* of all calls */
        CELL_OF_CALL, /* the time of one call; where all were cut none is known */
        CELL_SHARE,   /* of all self times */
        CELL_COUNT,
        CELL_NAME,
} CellKind;

#define MEMBER(name) offsetof(BreakdownRow, name)

static const struct Column {
        const char *name;  /* for --columns and --sort; NULL: only JSON has it */
        const char *title; /* NULL: what --by says */
        CellKind kind;
        uint64_t (*value)(const TopView *v, const BreakdownRow *row);
        unsigned permille; /* a quantile; 0: it is at: */
        size_t offset;
        size_t less;     /* what this member has is no part of it; 0: all is */
        bool if_met;     /* all: only if that member of a row is not 0 */
        const char *key; /* NULL: JSON has none */
} columns[] = {
        { "self", ">SELF", CELL_TIME, .value = self_of, .key = "self_ns" },
        { "share", "?>SELF%", CELL_SHARE, .value = self_of },
        { "total", ">TOTAL", CELL_TIME, .value = total_of, .key = "total_ns" },
        { "stolen", "?>STOLEN", CELL_TIME, .offset = MEMBER(irq_ns), .if_met = true,
          .key = "irq_ns" },
        { "softirq", "?>SOFTIRQ", CELL_TIME, .offset = MEMBER(softirq_ns), .if_met = true,
          .key = "softirq_ns" },
        { "waking", "?>WAKING", CELL_TIME, .offset = MEMBER(wake_ns), .if_met = true,
          .key = "wake_ns" },
        { "net", "?>NET", CELL_TIME, .value = total_of, .less = MEMBER(aside_ns), .if_met = true,
          .key = "net_of_all_ns" },
        { "blocked", "?>BLOCKED", CELL_TIME, .offset = MEMBER(blocked_ns), .if_met = true,
          .key = "blocked_ns" },
        { "on-cpu", "?>ON-CPU", CELL_TIME, .value = total_of, .less = MEMBER(blocked_ns),
          .if_met = true, .key = "on_cpu_ns" },
        { "count", ">CALLS", CELL_COUNT, .offset = MEMBER(n), .key = "count" },
        { "avg", "?>AVG", CELL_OF_CALL, .value = average_of, .key = "avg_ns" },
        { "min", "?>MIN", CELL_OF_CALL, .offset = MEMBER(quantiles.min), .key = "min_ns" },
        { "p50", "?>P50", CELL_OF_CALL, .permille = 500, .key = "p50_ns" },
        { "p90", "?>P90", CELL_OF_CALL, .permille = 900, .key = "p90_ns" },
        { "p99", "?>P99", CELL_OF_CALL, .permille = 990, .key = "p99_ns" },
        { "max", "?>MAX", CELL_OF_CALL, .offset = MEMBER(quantiles.max), .key = "max_ns" },
        { "name", NULL, CELL_NAME },
        { .kind = CELL_COUNT, .offset = MEMBER(n_cut), .key = "cut" },
        { .kind = CELL_TIME, .value = total_of, .less = MEMBER(irq_ns), .key = "net_ns" },
};

_Static_assert(ELEMENTSOF(columns) <= TOP_VIEW_COLUMNS, "TopView.columns has room for each once");

static uint64_t member_of(const BreakdownRow *row, size_t offset) {
        return *(const uint64_t *) (const void *) ((const char *) row + offset);
}

static uint64_t value_of(const TopView *v, const BreakdownRow *row, const struct Column *c) {
        uint64_t value = c->value          ? c->value(v, row)
                         : c->permille > 0 ? quantiles_at(&row->quantiles, c->permille)
                                           : member_of(row, c->offset);

        return c->less > 0 ? value - MIN(value, member_of(row, c->less)) : value;
}

static bool is_word(const char *s, size_t n, const char *word) {
        return n == strlen(word) && memcmp(s, word, n) == 0;
}

/* ELEMENTSOF(columns): there is none. */
static size_t find_column(const char *name, size_t n_name) {
        size_t i = 0;

        while (i < ELEMENTSOF(columns) &&
               !(columns[i].name && is_word(name, n_name, columns[i].name)))
                i++;
        return i;
}

static int refuse_column(const char *option, const char *name, size_t n_name, const char *last) {
        _cleanup_free_ char *word = strndup(name, n_name), *names = NULL;
        _cleanup_buf_ Buf list = BUF_INIT;

        for (size_t i = 0; i < ELEMENTSOF(columns) && columns[i].name; i++)
                buf_printf(&list, "%s%s", i > 0 ? ", " : "", columns[i].name);
        buf_adds(&list, last);
        if (!word || buf_take_string(&list, &names) < 0)
                return out_of_memory();
        return failed(STATUS_USAGE, "%s: \"%s\" is not one of %s.", option, NAME_QUOTED(word),
                      names);
}

/* --- which columns ---------------------------------------------------------------------------- */

/* Whether any row has it. */
static bool is_met(const TopView *v, const struct Column *c) {
        bool is = !c->if_met;

        for (size_t i = 0; i < v->n && !is; i++)
                is = member_of(v->rows[i], c->less ?: c->offset) > 0;
        return is;
}

static void add_column(TopView *v, size_t column) {
        if (memchr(v->columns, (int) column, v->n_columns) == NULL)
                v->columns[v->n_columns++] = (unsigned char) column;
}

/* The rows of @v are there, and top_view_check() had nothing to say of what the options name. */
static void choose_columns(TopView *v, const char *chosen, size_t sorted_by) {
        const char *list = chosen ?: DEFAULT_COLUMNS;

        for (size_t n; *list; list += n + (list[n] == ',')) {
                n = strcspn(list, ",");
                if (is_word(list, n, "all")) {
                        for (size_t i = 0; i < ELEMENTSOF(columns); i++)
                                if (columns[i].name && is_met(v, &columns[i]))
                                        add_column(v, i);
                } else if (!chosen && is_word(list, n, DEFAULT_TAIL) &&
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
                if (columns[i].if_met && is_met(v, &columns[i]) &&
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

        return CMP(y->key, x->key) ?: CMP(x->place, y->place);
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

/* @fields: of the recording; empty: it has none, or they are not asked for. */
static int refuse_by(const Options *o, const char *fields) {
        return failed(STATUS_USAGE,
                      "--by: \"%s\" is not one of function, module, task, cpu, root, "
                      "caller, what, unit, container, process, user, file, dir, layer%s%s.",
                      NAME_QUOTED(o->by), *fields ? ", nor of the recorded fields: " : "", fields);
}

/* "dport", or, as there is a "file" of sources, "what.file"; NULL: --by is none. */
static const char *field_of(const Options *o) {
        const char *name = o->by ? startswith(o->by, "what.") : NULL;

        return name || !o->by || breakdown_by_from_name(o->by) >= 0 ? name : o->by;
}

int top_view_set_field(Breakdown *b, const Reading *reading) {
        const Options *o = reading->o;
        _cleanup_strv_ Strv names = {};
        _cleanup_free_ char *text = NULL;
        const char *name = field_of(o);
        int r = 0;

        if (!name)
                return STATUS_OK;
        if (reading->playback && reading->playback->values)
                r = values_fields(reading->playback->values, &names);
        text = r < 0 ? NULL : strv_join(&names, ", ");
        if (!text)
                return out_of_memory();
        if (!strv_contains(&names, name))
                return refuse_by(o, text);
        breakdown_set_field(b, name);
        return STATUS_OK;
}

int top_view_check(const Options *o, BreakdownBy *ret_by) {
        int by = field_of(o) ? BREAKDOWN_BY_WHAT
                 : o->by     ? breakdown_by_from_name(o->by)
                             : BREAKDOWN_BY_FUNCTION;
        const char *sort = o->analysis.sort, *list = o->analysis.columns;

        if (sort && find_column(sort, strlen(sort)) == ELEMENTSOF(columns))
                return refuse_column("--sort", sort, strlen(sort), "");
        for (size_t n; list && *list; list += n + (list[n] == ',')) {
                n = strcspn(list, ",");
                if (find_column(list, n) == ELEMENTSOF(columns) && !is_word(list, n, "all"))
                        return refuse_column("--columns", list, n, ", all");
        }
        if (o->analysis.vmlinux && by < BREAKDOWN_BY_FILE)
                return failed(STATUS_USAGE, "--vmlinux is for --by=file, dir or layer.");
        *ret_by = (BreakdownBy) by;
        return STATUS_OK;
}

int top_view_check_owners(const Reading *reading, BreakdownBy by) {
        if (!breakdown_is_of_owners(by) || (reading->playback && reading->playback->owners))
                return STATUS_OK;
        return failed(STATUS_FAILED, "top --by=%s: \"%s\" was recorded without --whose.",
                      reading->o->by, NAME_QUOTED(reading->word));
}

int top_view_init(TopView *ret, const AnalysisOptions *a, Breakdown *b, BreakdownBy by,
                  const FloorCost *cost, uint64_t total_ns) {
        TopView v = { .by = by, .cost = cost, .all_ns = cost ? 0 : total_ns };
        const char *sort = a->sort ?: "self";
        size_t key = find_column(sort, strlen(sort));
        bool by_name = columns[key].kind == CELL_NAME;
        _cleanup_free_ Sorted *sorted = NULL;
        const BreakdownRow *const *rows = breakdown_rows(b, &v.n);

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
        choose_columns(&v, a->columns, key);
        *ret = v;
        return 0;
}

int top_places_add(TopPlaces *p, Reading *reading) {
        int status = reading_lines(reading);

        p->lines[p->n_lines++] = reading->lines.lines;
        return status;
}

const char *top_places_find(void *places, const Function *f, size_t *ret_n) {
        const TopPlaces *p = places;
        const char *file = NULL;

        for (size_t i = 0; i < p->n_lines && !file; i++) {
                LineFrame frame = {};

                file = lines_definition(p->lines[i], f, &frame) ? frame.file : NULL;
        }
        if (p->by == BREAKDOWN_BY_LAYER)
                return lines_layer(file, ret_n);
        if (file && p->by == BREAKDOWN_BY_DIR)
                return lines_directory(file, ret_n);
        file = file ?: "(unknown)";
        *ret_n = strlen(file);
        return file;
}

void top_view_done(TopView *v) {
        free(v->rows);
        *v = (TopView){};
}

/* --- rows ------------------------------------------------------------------------------------- */

static const char *const names[] = {
        [BREAKDOWN_BY_FUNCTION] = "FUNCTION", [BREAKDOWN_BY_MODULE] = "MODULE",
        [BREAKDOWN_BY_TASK] = "TASK",         [BREAKDOWN_BY_CPU] = "CPU",
        [BREAKDOWN_BY_ROOT] = "ROOT",         [BREAKDOWN_BY_CALLER] = "CALLERS",
        [BREAKDOWN_BY_STACK] = "STACK",       [BREAKDOWN_BY_WHAT] = "WHAT",
        [BREAKDOWN_BY_UNIT] = "UNIT",         [BREAKDOWN_BY_CONTAINER] = "CONTAINER",
        [BREAKDOWN_BY_PROCESS] = "PROCESS",   [BREAKDOWN_BY_USER] = "USER",
        [BREAKDOWN_BY_FILE] = "FILE",         [BREAKDOWN_BY_DIR] = "DIRECTORY",
        [BREAKDOWN_BY_LAYER] = "LAYER",
};

const char *top_view_title(BreakdownBy by) {
        return names[by];
}

static void tell_text(Row r, const char *key, const char *s, size_t n) {
        if (!r.is_text)
                row_json(r, key, terminal_json_text(s, n));
}

static void tell_name(const TopView *v, Row r, const BreakdownRow *row) {
        _cleanup_free_ char *text = row->name ? strndup(row->name, row->n_name) : NULL;
        bool of_place = v->by >= BREAKDOWN_BY_FILE;
        bool of_functions =
                v->by == BREAKDOWN_BY_FUNCTION || v->by == BREAKDOWN_BY_MODULE || of_place;
        const char *title = names[v->by], *name = NAME_QUOTED(text ?: "");
        const char *cut = row->n_cut > 0 ? "  (cut)" : "";
        const char *mark =
                r.is_text && of_functions ? TABLE_MARK(&r.table->marks, row->n_unhooked) : "";

        switch (v->by) {
        case BREAKDOWN_BY_FUNCTION:
        case BREAKDOWN_BY_ROOT:
                tell_text(r, "function", row->name, row->n_name);
                tell_text(r, "module", row->module, row->n_module);
                if (row->module)
                        row_cell(r, title, "%s [%.*s]%s%s", name, (int) row->n_module, row->module,
                                 mark, cut);
                else
                        row_cell(r, title, "%s%s%s", name, mark, cut);
                break;
        case BREAKDOWN_BY_FILE:
        case BREAKDOWN_BY_DIR:
        case BREAKDOWN_BY_LAYER:
        case BREAKDOWN_BY_MODULE:
                tell_text(r, of_place ? "place" : "module", row->name, row->n_name);
                row_cell(r, title, "%s%s%s", name, mark, cut);
                break;
        case BREAKDOWN_BY_TASK:
                tell_text(r, "task", row->name, row->n_name);
                row_known_int(r, "pid", row->pid >= 0, row->pid);
                if (row->pid < 0)
                        row_cell(r, title, "%s%s", name, cut);
                else
                        row_cell(r, title, "%s-%d%s", name, row->pid, cut);
                break;
        case BREAKDOWN_BY_UNIT:
        case BREAKDOWN_BY_CONTAINER:
        case BREAKDOWN_BY_PROCESS:
        case BREAKDOWN_BY_USER:
        case BREAKDOWN_BY_CALLER:
        case BREAKDOWN_BY_STACK:
                tell_text(r,
                          v->by == BREAKDOWN_BY_CALLER  ? "callers"
                          : v->by == BREAKDOWN_BY_STACK ? "stack"
                                                        : "owner",
                          row->name, row->n_name);
                row_cell(r, title, "%s%s", name, cut);
                break;
        case BREAKDOWN_BY_WHAT:
                tell_text(r, "what", row->name, row->n_name);
                row_cell(r, title, "%s%s", name, cut);
                break;
        case BREAKDOWN_BY_CPU:
                row_int(r, "cpu", row->cpu);
                row_cell(r, title, "CPU %u%s", row->cpu, cut);
                break;
        }
        if (of_functions)
                row_known_int(r, "not_hooked_below", unhooked_is_number(row->n_unhooked),
                              row->n_unhooked);
}

static void tell_cell(const TopView *v, Row r, const BreakdownRow *row, const struct Column *c) {
        uint64_t value = c->kind == CELL_NAME ? 0 : value_of(v, row, c);

        switch (c->kind) {
        case CELL_OF_CALL:
                if (r.is_text && row->quantiles.n == 0) {
                        row_cell(r, c->title, "-");
                        break;
                }
                /* fall through */
        case CELL_TIME:
                row_time(r, c->title, c->key, value);
                break;
        case CELL_SHARE:
                row_share(r, c->title, NULL, (double) value, (double) MAX(v->all_ns, UINT64_C(1)));
                break;
        case CELL_COUNT:
                row_count(r, breakdown_counts_trees(v->by) ? ">TREES" : c->title, c->key, value);
                break;
        case CELL_NAME:
                tell_name(v, r, row);
                break;
        }
}

void top_view_tell(const TopView *v, Table *t, size_t n) {
        for (size_t i = 0; i < n; i++) {
                const BreakdownRow *row = v->rows[i];
                Row r = table_row(t);

                for (size_t k = 0; k < v->n_columns && r.is_text; k++)
                        tell_cell(v, r, row, &columns[v->columns[k]]);
                if (r.is_text)
                        continue;
                tell_name(v, r, row);
                for (size_t k = 0; k < ELEMENTSOF(columns); k++)
                        if (columns[k].key)
                                tell_cell(v, r, row, &columns[k]);
        }
}

/* --- live ----------------------------------------------------------------------------------------
 *
 * What began before it was watched is counted from there on; calls that are open now are not yet in.
 */

#define INTERVAL_NS NSEC_PER_SEC
#define ROWS_BESIDES 6 /* lines above the rows, and one below them */

struct LiveTop {
        const Options *o;
        BreakdownBy by;
        Counting counting; /* without a reading */
        Breakdown *breakdown;
        bool in_place; /* stdout is a terminal */
        bool has_keys; /* stdin is one, and sends each key */
        struct termios before;
        uint64_t drawn_ns, n_drawn; /* when, and how many calls there were */
};

int live_top_step(void *userdata, const Step *step) {
        LiveTop *t = userdata;

        return pairing_step(t->counting.pairing, step);
}

static void add_state(const LiveTop *t, const Census *census, uint64_t now, Buf *out) {
        uint64_t n = t->counting.pairing->n_calls, passed_ns = now - t->drawn_ns;

        buf_printf(out, "%s calls", FORMAT_COUNT(n));
        if (t->drawn_ns > 0 && passed_ns > 0)
                buf_printf(out, ", %s a second",
                           FORMAT_COUNT((uint64_t) ((double) (n - t->n_drawn) * 1e9 /
                                                    (double) passed_ns)));
        if (census->n_lost > 0)
                buf_printf(out, ", %s events lost", FORMAT_COUNT(census->n_lost));
        else
                buf_adds(out, census->n_gaps > 0 ? ", events lost" : ", nothing lost");
        buf_adds(out, t->has_keys ? "; q ends\n" : "\n");
}

/* As many as the terminal has lines for. */
static size_t n_rows(const LiveTop *t, size_t n) {
        struct winsize w = {};

        if (t->o->limit > 0)
                n = MIN(n, (size_t) t->o->limit);
        else if (!t->in_place)
                n = MIN(n, (size_t) TOP_VIEW_LIMIT);
        if (!t->in_place)
                return n;
        (void) ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
        return MIN(n, (size_t) (w.ws_row > ROWS_BESIDES ? w.ws_row : 24) - ROWS_BESIDES);
}

int live_top_draw(LiveTop *t, const Census *census, bool is_last) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_top_view_ TopView v = {};
        _cleanup_table_ Table table = {};
        const Overhead *overhead;
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        int r;

        if (!is_last && now - t->drawn_ns < INTERVAL_NS)
                return 0;
        r = pairing_tell(t->counting.pairing);
        if (r < 0)
                return r;
        t->counting.overhead = overhead_of(t->counting.floor);
        overhead = &t->counting.overhead;
        r = top_view_init(&v, &t->o->analysis, t->breakdown, t->by,
                          t->o->analysis.corrected && overhead->has_cost ? &overhead->cost : NULL,
                          t->counting.pairing->total_ns);
        if (r < 0)
                return r;
        buf_add_code(&out, t->in_place ? "\033[H\033[J" : t->drawn_ns > 0 ? "\n" : "");
        add_state(t, census, now, &out);
        counting_headline(&t->counting, &out);
        table_begin(&table, JSON_OFF);
        top_view_tell(&v, &table, n_rows(t, v.n));
        r = table_print(&table, &out, !t->o->no_legend);
        if (!t->o->no_legend)
                table_explain(&table.marks, &out);
        t->drawn_ns = now;
        t->n_drawn = t->counting.pairing->n_calls;
        return r < 0 ? r : buf_flush(&out);
}

bool live_top_wants_end(LiveTop *t) {
        struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
        char key;

        while (t->has_keys && poll(&p, 1, 0) > 0) {
                if (read(STDIN_FILENO, &key, 1) != 1) {
                        t->has_keys = false;
                        return false;
                }
                if (key == 'q' || key == 'Q')
                        return true;
        }
        return false;
}

static void take_keys(LiveTop *t) {
        struct termios each;

        if (!t->in_place || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &t->before) < 0)
                return;
        each = t->before;
        each.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
        each.c_cc[VMIN] = 1;
        each.c_cc[VTIME] = 0;
        t->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &each) == 0;
}

int live_top_new(LiveTop **ret, const Options *o) {
        _cleanup_(live_top_freep) LiveTop *t = NEW(LiveTop, .o = o);
        int r, status;

        if (!t)
                return out_of_memory();
        status = field_of(o) ? refuse_by(o, "") : top_view_check(o, &t->by);
        if (status == STATUS_OK && t->by >= BREAKDOWN_BY_FILE)
                status = failed(STATUS_USAGE,
                                "--by=%s is of a recording: \"ftracectl top SOURCE --by=%s\".",
                                o->by, o->by);
        if (status != STATUS_OK)
                return status;
        r = counting_init(&t->counting, true)
                    ?: floor_new(&t->counting.floor, t->counting.pairing)
                    ?: breakdown_new(&t->breakdown, t->by, t->counting.pairing);
        if (r < 0)
                return counting_status(r);
        if (o->filter.functions.n > 0)
                t->counting.pairing->is_sparse = true;
        t->in_place = isatty(STDOUT_FILENO);
        take_keys(t);
        *ret = TAKE_PTR(t);
        return STATUS_OK;
}

LiveTop *live_top_free(LiveTop *t) {
        if (!t)
                return NULL;
        if (t->has_keys)
                (void) tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
        breakdown_free(t->breakdown);
        counting_done(&t->counting);
        return mfree(t);
}
