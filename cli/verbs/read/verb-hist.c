/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How long calls took, as a histogram or a heat map for each root, or of one function's calls under
 * any. */

#include "analyze/heat-map.h"
#include "analyze/ranges.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/options/verb.h"
#include "cli/source/chosen.h"
#include "cli/terminal/outfile.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"
#include "cli/views/heat-drawing.h"
#include "export/heat.h"

#define LIMIT_DEFAULT 5
#define BAR_COLUMNS 48
#define BAR_COLUMNS_MIN 8
#define PICTURE_MODE 0640

static const struct {
        const char *name, *key;
        unsigned permille;
} quantiles[] = {
        { "p50", "p50_ns", 500 },
        { "p90", "p90_ns", 900 },
        { "p99", "p99_ns", 990 },
        { "p99.9", "p999_ns", 999 },
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

static int draw_ranges(Buf *out, const Options *o, const HeatGrid *row) {
        _cleanup_table_ Table t = {};
        Range ranges[RANGES_MAX];
        uint64_t most = 0;
        size_t n = ranges_of(ranges, &row->quantiles), columns;

        for (size_t i = 0; i < n; i++)
                most = MAX(most, ranges[i].n);
        columns = bar_columns(most);
        table_init(&t, ">FROM|>TO|>CALLS|>SHARE| ");
        for (size_t i = 0; i < n; i++) {
                _cleanup_buf_ Buf bar = BUF_INIT;

                table_add(&t, "%s", FIGURE_ROUND(ranges[i].from_ns));
                table_add(&t, "%s",
                          ranges[i].to_ns == UINT64_MAX ? "..." : FIGURE_ROUND(ranges[i].to_ns));
                table_add(&t, "%llu", (unsigned long long) ranges[i].n);
                table_add(&t, "%.1f%%", 100.0 * (double) ranges[i].n / (double) row->quantiles.n);
                add_bar(&bar, ranges[i].n, most, columns);
                table_add(&t, "%.*s", (int) bar.n_data, bar.n_data > 0 ? bar.data : "");
        }
        return n > 0 ? table_print(&t, out, !o->no_legend) : 0;
}

static int draw(Buf *out, const Hist *h, const HeatGrid *row) {
        if (!h->o->analysis.over_time)
                return draw_ranges(out, h->o, row);
        return heat_drawing_add(out, h->o, reading_meta(&h->counting->reading), h->heat, row);
}

static int print_roots(Buf *out, const Options *o, const HeatGrid *const *rows, size_t n) {
        _cleanup_table_ Table t = {};

        table_init(&t, ">CALLS|>P50|>P90|>P99|>P99.9|>MAX|UNDER");
        for (size_t i = 0; i < n; i++) {
                const Quantiles *s = &rows[i]->quantiles;

                table_add(&t, "%llu", (unsigned long long) s->n);
                for (size_t k = 0; k < ELEMENTSOF(quantiles); k++)
                        table_add_time(&t, quantiles_at(s, quantiles[k].permille));
                table_add_time(&t, s->max);
                table_add(&t, "%s", NAME_QUOTED(rows[i]->root->label));
        }
        buf_adds(out, "\n");
        return table_print(&t, out, !o->no_legend);
}

static int print(const Hist *h) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        const HeatGrid *const *rows;
        size_t n;
        int r = 0;

        rows = heat_map_grids(h->heat, &n);
        pager_open(&pager, h->o, SIZE_MAX);
        if (!h->o->no_legend)
                counting_headline(h->counting, &out);
        if (h->chosen->names) {
                buf_printf(&out, "%s: ", h->chosen->patterns.items[0]);
                add_summary(&out, heat_map_all(h->heat));
                buf_adds(&out, "\n");
                r = draw(&out, h, heat_map_all(h->heat));
                if (r >= 0 && n > 1)
                        r = print_roots(&out, h->o, rows, MIN(n, h->limit));
        } else
                for (size_t i = 0; i < MIN(n, h->limit) && r >= 0; i++) {
                        buf_printf(&out, "%s%s: ", i > 0 ? "\n" : "", rows[i]->root->label);
                        add_summary(&out, rows[i]);
                        buf_adds(&out, "\n");
                        r = draw(&out, h, rows[i]);
                }
        return stdout_paged(&pager, &out, r);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *row_json(const Hist *h, const HeatGrid *row) {
        const Quantiles *s = &row->quantiles;
        Range ranges[RANGES_MAX];
        size_t n = ranges_of(ranges, s);
        json_t *object = json_object(), *list = json_array();

        if (row->root)
                table_function_json(object, row->root);
        (void) json_object_update_new(
                object, json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t) s->n, "cut",
                                  (json_int_t) row->n_cut, "min_ns", (json_int_t) s->min, "max_ns",
                                  (json_int_t) s->max, "avg_ns", (json_int_t) average(s)));
        for (size_t i = 0; i < ELEMENTSOF(quantiles); i++)
                (void) json_object_set_new(
                        object, quantiles[i].key,
                        json_integer((json_int_t) quantiles_at(s, quantiles[i].permille)));
        for (size_t i = 0; i < n; i++)
                (void) json_array_append_new(
                        list, json_pack("{s:I, s:o, s:I}", "from_ns",
                                        (json_int_t) ranges[i].from_ns, "to_ns",
                                        ranges[i].to_ns > INT64_MAX
                                                ? json_null()
                                                : json_integer((json_int_t) ranges[i].to_ns),
                                        "count", (json_int_t) ranges[i].n));
        (void) json_object_set_new(object, "ranges", list);
        if (h->o->analysis.over_time)
                (void) json_object_set_new(object, "cells", heat_drawing_json(h->heat, row));
        return object;
}

static int print_json(const Hist *h) {
        json_t *list = json_array();
        const HeatGrid *const *rows;
        size_t n;

        rows = heat_map_grids(h->heat, &n);
        for (size_t i = 0; i < MIN(n, h->limit); i++)
                (void) json_array_append_new(list, row_json(h, rows[i]));
        return stdout_json(h->o,
                           json_pack("{s:o, s:o, s:o}", "all", row_json(h, heat_map_all(h->heat)),
                                     "roots", list, "tracing", counting_cost_json(h->counting)));
}

/* --- a picture -------------------------------------------------------------------------------- */

static const char *title_of(const Hist *h) {
        const SessionMeta *m = reading_meta(&h->counting->reading);
        const char *slash = strrchr(h->chosen->source, '/');

        return m ? m->name : slash && slash[1] ? slash + 1 : h->chosen->source;
}

static int write_picture(const Hist *h, Buf *out) {
        const Reading *reading = &h->counting->reading;
        _cleanup_free_ HeatPart *parts = calloc(h->limit + 1, sizeof(*parts));
        HeatPicture picture = {
                .title = title_of(h),
                .map = h->heat,
                .parts = parts,
                .has_ticks = summary_has_ticks(reading_meta(reading)),
                .is_timeless =
                        reading->text.trace && !text_trace_layout(reading->text.trace)->has_times,
                .has_script = true,
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
        bool to_stdout = streq(h->o->output, "-");
        _cleanup_outfile_ Outfile f = OUTFILE_INIT;
        _cleanup_buf_ Buf out = BUF_TO_FD(STDOUT_FILENO);
        int r = to_stdout ? 0 : outfile_open(&f, h->o->output, PICTURE_MODE);

        if (r >= 0 && !to_stdout)
                out.fd = f.fd;
        if (r >= 0)
                r = write_picture(h, &out);
        if (r >= 0 && !to_stdout)
                r = outfile_commit(&f);
        if (to_stdout)
                return stdout_status(r);
        return r < 0 ? failed_errno(r, "Failed to write %s: %m", h->o->output) : STATUS_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int hist(const Options *o, const Chosen *chosen) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(heat_map_freep) HeatMap *heat = NULL;
        size_t n, limit;
        int r, status;
        Hist h;

        r = counting_init(&counting, true)
                    ?: heat_map_new(&heat, counting.pairing, chosen->names, o->analysis.over_time);
        status = r < 0 ? counting_failure(r) : counting_read(&counting, o, chosen->source);
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
        counting_say_own_work(&counting, o);
        return counting_end(&counting, o);
}

int verb_hist(const Options *o) {
        _cleanup_chosen_ Chosen chosen = {};

        if (o->output && (!o->analysis.over_time || o->json != JSON_OFF))
                return failed(STATUS_USAGE, "-o writes the picture of --over-time; \"export\" "
                                            "writes the other formats.");
        return chosen_init(&chosen, o) ?: hist(o, &chosen);
}
