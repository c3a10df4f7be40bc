/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How long calls took, as a histogram or a heat map for each root, or of one function's calls under
 * any. */

#include <inttypes.h>

#include "analyze/heat-map.h"
#include "analyze/quantiles.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"
#include "export/exporter.h"

#define LIMIT_DEFAULT 5
#define BAR_COLUMNS 48
#define BAR_COLUMNS_MIN 8
#define PICTURE_MODE 0640
/* Of a heat map. */
#define DRAWING_COLUMNS 80 /* where the terminal does not say */
#define JSON_COLUMNS 128   /* at most */
#define LABEL_COLUMNS 10
#define COUNT_COLUMNS 8 /* with the blank before */
#define MOMENT_DIGITS 9 /* behind the point: a nanosecond */

static const struct {
        const char *name, *title, *key;
        unsigned permille;
} quantiles[] = {
        { "p50", "1>P50", "p50_ns", 500 },
        { "p90", "1>P90", "p90_ns", 900 },
        { "p99", "1>P99", "p99_ns", 990 },
        { "p99.9", "1>P99.9", "p999_ns", 999 },
};

/* What is shown. */
typedef struct Hist {
        const Options *o;
        const Chosen *chosen;
        const Counting *counting;
        HeatMap *heat;
        size_t limit;
} Hist;

static uint64_t average(const Quantiles *s) {
        return s->n > 0 ? s->sum / s->n : 0;
}

/* --- over time -----------------------------------------------------------------------------------
 *
 *       131.1 us |          .          #     .  |      5
 *        65.5 us |#@@#@@@@#@##@@@@@@@@@ #@@@@@# |    231
 *                +----------+----------+---------
 *                 411.20     411.25     411.30
 *
 * A row has the calls that took at least the time in front of it, and less than what the row above
 * says; behind it is how many there are.  Below are moments as --from and --to take them, with as
 * many digits as tell one column from the next.
 */

/* Shades, the weakest first. */
static const char *const blocks[] = { "░", "▒", "▓", "█" };
static const char *const characters[] = { ".", ":", "-", "=", "+", "*", "#", "%", "@" };
typedef struct HeatDrawing {
        Buf *out;
        const SessionMeta *meta;
        const HeatView *view;
        HeatScale scale;
        bool is_utf8;
        unsigned n_digits; /* of moments */
} HeatDrawing;

static void add_shade(HeatDrawing *d, unsigned level) {
        if (level == 0)
                buf_adds(d->out, " ");
        else
                buf_adds(d->out, d->is_utf8 ? blocks[level - 1] : characters[level - 1]);
}

static void add_row(HeatDrawing *d, size_t row) {
        const HeatView *v = d->view;
        uint64_t n = 0, from_ns = heat_view_from_ns(v, row);

        buf_printf(d->out, "%*s %s", LABEL_COLUMNS, FIGURE_ROUND(from_ns), d->is_utf8 ? "│" : "|");
        for (size_t column = 0; column < v->n_columns; column++) {
                const HeatSpot *s = heat_view_at(v, row, column);

                n += s->n;
                add_shade(d, heat_scale_level(&d->scale, s->n));
        }
        buf_printf(d->out, "%s%*" PRIu64 "\n", d->is_utf8 ? "│" : "|", COUNT_COLUMNS - 1, n);
}

static const char *moment(const HeatDrawing *d, char text[static SUMMARY_MAX], size_t column) {
        return summary_moment(text, d->meta, heat_view_time_ns(d->view, column), d->n_digits);
}

/* Ticks stand as far from each other as their moments need. */
static void add_axis(HeatDrawing *d) {
        const HeatView *v = d->view;
        char text[SUMMARY_MAX];
        size_t step, at = 0;

        step = strlen(moment(d, text, v->n_columns - 1)) + 3;
        buf_printf(d->out, "%*s %s", LABEL_COLUMNS, "", d->is_utf8 ? "└" : "+");
        for (size_t i = 0; i < v->n_columns; i++)
                buf_adds(d->out,
                         i % step == 0 ? (d->is_utf8 ? "┬" : "+") : (d->is_utf8 ? "─" : "-"));
        buf_printf(d->out, "\n%*s  ", LABEL_COLUMNS, "");
        for (size_t i = 0; i < v->n_columns; i += step) {
                /* One that would stand out is left out, unless it is the only one. */
                moment(d, text, i);
                if (i > 0 && i + strlen(text) > v->n_columns + COUNT_COLUMNS)
                        break;
                buf_pad(d->out, i - at, ' ');
                buf_adds(d->out, text);
                at = i + strlen(text);
        }
        buf_adds(d->out, "\n");
}

static void add_legend(HeatDrawing *d) {
        const HeatScale *s = &d->scale;

        buf_printf(d->out, "%s a column; calls:", FORMAT_DURATION(d->view->column_ns));
        for (unsigned level = s->n_levels - s->n_used + 1; level <= s->n_levels; level++) {
                uint64_t from = heat_scale_from(s, level);
                uint64_t to = level < s->n_levels ? heat_scale_from(s, level + 1) - 1 : s->most;

                buf_adds(d->out, " ");
                add_shade(d, level);
                buf_printf(d->out, " %" PRIu64, from);
                if (level == s->n_levels && to > from)
                        buf_printf(d->out, " to %" PRIu64, to);
        }
        buf_adds(d->out, "\n");
}

/* Words to go on with: where most of the slowest row are. */
static void add_window(HeatDrawing *d) {
        const HeatView *v = d->view;
        uint64_t from_ns, to_ns;
        size_t row = v->n_rows - 1, column = 0;

        for (size_t i = 0; i < v->n_columns; i++)
                if (heat_view_at(v, row, i)->n > heat_view_at(v, row, column)->n)
                        column = i;
        heat_view_window(v, (HeatArea){ column, column, row, row }, &from_ns, &to_ns);
        buf_printf(d->out, "Slowest: --from=%s --to=%s\n",
                   SUMMARY_MOMENT(d->meta, from_ns, MOMENT_DIGITS),
                   SUMMARY_MOMENT(d->meta, to_ns, MOMENT_DIGITS));
}

static void draw_map(HeatDrawing *d, bool legend) {
        const HeatView *v = d->view;

        d->scale = heat_scale(v->most, d->is_utf8 ? ELEMENTSOF(blocks) : ELEMENTSOF(characters));
        for (uint64_t unit = NSEC_PER_SEC; d->n_digits < MOMENT_DIGITS && v->column_ns < unit;
             unit /= 10)
                d->n_digits++;
        for (size_t row = v->n_rows; row-- > 0;)
                add_row(d, row);
        add_axis(d);
        if (!legend)
                return;
        add_legend(d);
        add_window(d);
}

static int64_t bounded(uint64_t ns) {
        return (int64_t) MIN(ns, (uint64_t) INT64_MAX);
}

static int draw_heat(Buf *out, const Hist *h, const HeatGrid *grid) {
        size_t width = terminal_columns() ?: DRAWING_COLUMNS;
        size_t around = LABEL_COLUMNS + COUNT_COLUMNS + 2;
        _cleanup_heat_view_ HeatView view = HEAT_VIEW_INIT;
        HeatDrawing d = {
                .out = out,
                .meta = reading_meta(&h->counting->reading),
                .view = &view,
                .is_utf8 = terminal_is_utf8(),
        };
        int r = heat_view_new(&view, h->heat, grid, width > around + 10 ? width - around : 10);

        if (r < 0 || view.n_rows == 0)
                return r;
        draw_map(&d, !h->o->no_legend);
        return out->error;
}

static void tell_cell(Row r, const HeatView *v, size_t column, size_t row) {
        const HeatSpot *s = heat_view_at(v, row, column);
        uint64_t to_ns = heat_view_to_ns(v, row);

        row_int(r, "begin_ns", bounded(heat_view_time_ns(v, column)));
        row_int(r, "end_ns", bounded(heat_view_time_ns(v, column + 1)));
        row_int(r, "recorded_ns", bounded(s->ended_ns));
        row_int(r, "from_ns", bounded(heat_view_from_ns(v, row)));
        row_known_int(r, "to_ns", to_ns <= INT64_MAX, (int64_t) to_ns);
        row_int(r, "count", (int64_t) s->n);
}

/* The cells that are not empty, the earliest first; NULL without memory. */
static json_t *cells_json(const HeatMap *map, const HeatGrid *grid) {
        _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
        _cleanup_table_ Table t = {};

        table_begin(&t, JSON_AUTO);
        if (heat_view_new(&v, map, grid, JSON_COLUMNS) < 0)
                return NULL;
        for (size_t column = 0; column < v.n_columns; column++)
                for (size_t row = 0; row < v.n_rows; row++)
                        if (heat_view_at(&v, row, column)->n > 0)
                                tell_cell(table_row(&t), &v, column, row);
        return TAKE_PTR(t.list);
}

/* --- drawn ------------------------------------------------------------------------------------ */

/* What a terminal has left beside "262.1 us  524.3 us  CALLS  70.1%". */
static size_t bar_columns(uint64_t most) {
        size_t used = (size_t) snprintf(NULL, 0, "262.1 us  524.3 us  %5llu  100.0%%  ",
                                        (unsigned long long) most),
               columns = terminal_columns();

        if (columns == 0)
                return BAR_COLUMNS;
        return columns < used + BAR_COLUMNS_MIN ? BAR_COLUMNS_MIN
                                                : MIN((size_t) BAR_COLUMNS, columns - used);
}

/* As long as @n is of @most, in eighths of a column where the terminal can. */
static void add_bar(Buf *out, uint64_t n, uint64_t most, size_t columns) {
        static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
        uint64_t length =
                most > 0 ? (uint64_t) ((double) n / (double) most * (double) columns * 8) : 0;

        if (n > 0 && length == 0)
                length = 1;
        if (!terminal_is_utf8()) {
                buf_pad(out, (length + 7) / 8, '#');
                return;
        }
        for (uint64_t i = 0; i < length / 8; i++)
                buf_adds(out, "█");
        buf_adds(out, eighths[length % 8]);
}

static void add_summary(Buf *out, const HeatGrid *row) {
        const Quantiles *s = &row->quantiles;

        buf_printf(out, "%s call%s", FORMAT_COUNT(s->n), s->n == 1 ? "" : "s");
        if (row->n_cut > 0)
                buf_printf(out, " (and %s that %s cut)", FORMAT_COUNT(row->n_cut),
                           row->n_cut == 1 ? "was" : "were");
        if (s->n == 0)
                return;
        buf_printf(out, ", min %s", FIGURE_ROUND(s->min));
        for (size_t i = 0; i < ELEMENTSOF(quantiles); i++)
                buf_printf(out, ", %s %s", quantiles[i].name,
                           FIGURE_ROUND(quantiles_at(s, quantiles[i].permille)));
        buf_printf(out, ", max %s, avg ", FIGURE_ROUND(s->max));
        buf_adds(out, FIGURE_ROUND(average(s)));
}

static void tell_range(Row r, const Range *range, const HeatGrid *grid, uint64_t most) {
        row_time(r, ">FROM", "from_ns", range->from_ns);
        row_known_int(r, "to_ns", range->to_ns <= INT64_MAX, (int64_t) range->to_ns);
        row_cell(r, ">TO", "%s", range->to_ns == UINT64_MAX ? "..." : FIGURE_ROUND(range->to_ns));
        row_count(r, ">CALLS", "count", range->n);
        row_share(r, ">SHARE", NULL, (double) range->n, (double) grid->quantiles.n);
        if (r.is_text) {
                _cleanup_buf_ Buf bar = BUF_INIT;

                add_bar(&bar, range->n, most, bar_columns(most));
                row_cell(r, " ", "%.*s", (int) bar.n_data, bar.n_data > 0 ? bar.data : "");
        }
}

static void tell_ranges(Table *t, const Hist *h, const HeatGrid *grid) {
        Range ranges[HEAT_MAP_ROWS];
        uint64_t most = 0;
        size_t n = heat_grid_ranges(ranges, grid);

        for (size_t i = 0; i < n; i++)
                most = MAX(most, ranges[i].n);
        for (size_t i = 0; i < n; i++)
                tell_range(table_row(t), &ranges[i], grid, most);
}

static int draw(Buf *out, const Hist *h, const char *name, const HeatGrid *grid) {
        _cleanup_table_ Table t = {};
        size_t from = out->n_data;

        buf_printf(out, "%s: ", name);
        add_summary(out, grid);
        buf_adds(out, "\n");
        terminal_fold(out, from, SIZE_MAX);
        if (h->o->analysis.over_time)
                return draw_heat(out, h, grid);
        table_begin(&t, JSON_OFF);
        tell_ranges(&t, h, grid);
        return table_print(&t, out, !h->o->no_legend);
}

static void tell_grid(Row r, const Hist *h, const HeatGrid *grid) {
        const Quantiles *s = &grid->quantiles;
        _cleanup_table_ Table ranges = {};

        if (grid->root) {
                row_function(r, NULL, grid->root);
                row_cell(r, "3UNDER", "%s", NAME_QUOTED(grid->root->label));
        }
        row_count(r, ">CALLS", "count", s->n);
        row_int(r, "cut", (int64_t) grid->n_cut);
        row_int(r, "min_ns", (int64_t) s->min);
        row_time(r, "2>MAX", "max_ns", s->max);
        row_int(r, "avg_ns", (int64_t) average(s));
        for (size_t i = 0; i < ELEMENTSOF(quantiles); i++)
                row_time(r, quantiles[i].title, quantiles[i].key,
                         quantiles_at(s, quantiles[i].permille));
        if (r.is_text)
                return;
        table_begin(&ranges, h->o->json);
        tell_ranges(&ranges, h, grid);
        row_json(r, "ranges", TAKE_PTR(ranges.list));
        if (h->o->analysis.over_time)
                row_json(r, "cells", cells_json(h->heat, grid));
}

/* The roots that are shown. */
static void tell_roots(Table *t, const Hist *h) {
        size_t n;
        const HeatGrid *const *rows = heat_map_grids(h->heat, &n);

        for (size_t i = 0; i < MIN(n, h->limit); i++)
                tell_grid(table_row(t), h, rows[i]);
}

static int print(const Hist *h) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_table_ Table roots = {};
        _cleanup_pager_ Pager pager = PAGER_INIT;
        const HeatGrid *const *rows;
        size_t n;
        int r = 0;

        rows = heat_map_grids(h->heat, &n);
        pager_open(&pager, h->o, SIZE_MAX);
        if (!h->o->no_legend)
                counting_headline(h->counting, &out);
        if (h->chosen->names) {
                r = draw(&out, h, h->chosen->patterns.items[0], heat_map_all(h->heat));
                if (r >= 0 && n > 1) {
                        table_begin(&roots, JSON_OFF);
                        tell_roots(&roots, h);
                        buf_adds(&out, "\n");
                        r = table_print(&roots, &out, !h->o->no_legend);
                }
        } else
                for (size_t i = 0; i < MIN(n, h->limit) && r >= 0; i++) {
                        buf_adds(&out, i > 0 ? "\n" : "");
                        r = draw(&out, h, rows[i]->root->label, rows[i]);
                }
        return stdout_paged(&pager, &out, r);
}

static int print_json(const Hist *h) {
        _cleanup_table_ Table roots = {};
        Row r = row_of_json(), all = row_of_json();

        table_begin(&roots, h->o->json);
        tell_roots(&roots, h);
        tell_grid(all, h, heat_map_all(h->heat));
        row_json(r, "all", all.json);
        row_json(r, "roots", TAKE_PTR(roots.list));
        row_json(r, "tracing", counting_cost_json(h->counting));
        return stdout_json(h->o, r.json);
}

/* --- a picture -------------------------------------------------------------------------------- */

static int write_picture(const Hist *h, Buf *out) {
        const Reading *reading = &h->counting->reading;
        const SessionMeta *m = reading_meta(reading);
        const char *source = h->chosen->source, *slash = strrchr(source, '/');
        _cleanup_free_ HeatPart *parts = calloc(h->limit + 1, sizeof(*parts));
        HeatPicture picture = {
                .title = m                   ? m->name
                         : slash && slash[1] ? slash + 1
                                             : source,
                .map = h->heat,
                .parts = parts,
                .has_ticks = summary_has_ticks(m),
                .is_timeless =
                        reading->text.trace && !text_trace_layout(reading->text.trace)->has_times,
        };
        int r;

        if (!parts)
                return -ENOMEM;
        if (h->chosen->names) {
                const char *name = h->chosen->patterns.items[0];

                parts[0] = (HeatPart){ heat_map_all(h->heat), name, strlen(name) };
                picture.n_parts = parts[0].grid->n_cells > 0;
        } else
                heat_choose(&picture, parts, h->limit, h->heat);
        r = heat_write(out, &picture);
        return r < 0 ? r : buf_flush(out);
}

static int print_picture(const Hist *h) {
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_buf_ Buf out = BUF_TO_FD(STDOUT_FILENO);
        int r;

        if (streq(h->o->output, "-"))
                return stdout_status(write_picture(h, &out));
        r = outfile_open(&f, h->o->output, PICTURE_MODE);
        out.fd = f.fd;
        if (r >= 0)
                r = write_picture(h, &out) ?: outfile_commit(&f);
        return r < 0 ? failed_errno(r, "Failed to write %s: %m", h->o->output) : STATUS_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int hist(const Options *o, const Chosen *chosen) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(heat_map_freep) HeatMap *heat = NULL;
        size_t n, limit;
        Hist h;
        int r = counting_init(&counting, true)
                        ?: heat_map_new(&heat, counting.pairing, chosen->names,
                                        o->analysis.over_time);
        int status = counting_status(r) ?: counting_read(&counting, o, chosen->source);

        if (status != STATUS_OK)
                return status;
        (void) heat_map_grids(heat, &n);
        if (n == 0 && chosen->names)
                return chosen_not_found(chosen, o);
        limit = o->limit > 0 ? (size_t) o->limit : o->json != JSON_OFF ? n : LIMIT_DEFAULT;
        h = (Hist){ o, chosen, &counting, heat, limit };
        status = o->output ? print_picture(&h) : o->json != JSON_OFF ? print_json(&h) : print(&h);
        if (status != STATUS_OK)
                return status;
        if (n > limit && o->limit == 0)
                talk(o, "%zu of %zu roots are shown; --limit=%zu shows all.", limit, n, n);
        counting_say_own_work(&counting);
        return counting_end(&counting);
}

int verb_hist(const Options *o) {
        _cleanup_chosen_ Chosen chosen = {};

        if (o->output && (!o->analysis.over_time || o->json != JSON_OFF))
                return failed(STATUS_USAGE, "-o writes the picture of --over-time; \"export\" "
                                            "writes the other formats.");
        return chosen_init(&chosen, o) ?: hist(o, &chosen);
}
