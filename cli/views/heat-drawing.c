/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The longest durations are drawn first, so that latency goes up.  A moment is written with as many
 * digits as tell one column from the next. */

#include <inttypes.h>

#include "base/unit.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "cli/views/heat-drawing.h"

#define LABEL_COLUMNS 10
#define COUNT_COLUMNS 8 /* with the blank before */
#define MOMENT_DIGITS 9 /* behind the point: a nanosecond */

/* Shades, the weakest first. */
static const char *const blocks[] = { "░", "▒", "▓", "█" };
static const char *const characters[] = { ".", ":", "-", "=", "+", "*", "#", "%", "@" };
/* Of the 256 that xterm has: blue, red, yellow. */
static const char *const colours[] = {
        "\033[48;5;18m",  "\033[48;5;19m",  "\033[48;5;55m",  "\033[48;5;91m",
        "\033[48;5;127m", "\033[48;5;162m", "\033[48;5;197m", "\033[48;5;203m",
        "\033[48;5;209m", "\033[48;5;215m", "\033[48;5;221m", "\033[48;5;228m",
};

typedef struct HeatDrawing {
        Buf *out;
        const SessionMeta *meta;
        const HeatView *view;
        HeatScale scale;
        bool is_utf8, is_coloured;
        unsigned n_digits; /* of moments */
} HeatDrawing;

static void add_shade(HeatDrawing *d, unsigned level) {
        if (level == 0)
                buf_adds(d->out, " ");
        else if (d->is_coloured) {
                buf_add_code(d->out, colours[level - 1]);
                buf_adds(d->out, " ");
                buf_add_code(d->out, "\033[0m");
        } else
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

static void draw(HeatDrawing *d, bool legend) {
        const HeatView *v = d->view;
        unsigned n_levels = d->is_coloured ? ELEMENTSOF(colours)
                            : d->is_utf8   ? ELEMENTSOF(blocks)
                                           : ELEMENTSOF(characters);

        d->scale = heat_scale(v->most, n_levels);
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

int heat_drawing_add(Buf *out, const Options *o, const SessionMeta *m, const HeatMap *map,
                     const HeatGrid *grid) {
        size_t width = terminal_columns() ?: HEAT_DRAWING_COLUMNS;
        size_t around = LABEL_COLUMNS + COUNT_COLUMNS + 2;
        _cleanup_heat_view_ HeatView view = HEAT_VIEW_INIT;
        HeatDrawing d = {
                .out = out,
                .meta = m,
                .view = &view,
                .is_utf8 = terminal_is_utf8(),
                .is_coloured = terminal_has_256_colours(o),
        };
        int r = heat_view_new(&view, map, grid, width > around + 10 ? width - around : 10);

        if (r < 0 || view.n_rows == 0)
                return r;
        draw(&d, !o->no_legend);
        return out->error;
}

static json_t *bounded(uint64_t ns) {
        return json_integer((json_int_t) MIN(ns, (uint64_t) INT64_MAX));
}

json_t *heat_drawing_json(const HeatMap *map, const HeatGrid *grid) {
        _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
        json_t *list = json_array();

        if (!list || heat_view_new(&v, map, grid, HEAT_JSON_COLUMNS) < 0) {
                json_decref(list);
                return NULL;
        }
        for (size_t column = 0; column < v.n_columns; column++)
                for (size_t row = 0; row < v.n_rows; row++) {
                        const HeatSpot *s = heat_view_at(&v, row, column);
                        uint64_t to_ns = heat_view_to_ns(&v, row);

                        if (s->n == 0)
                                continue;
                        (void) json_array_append_new(
                                list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "begin_ns",
                                                bounded(heat_view_time_ns(&v, column)), "end_ns",
                                                bounded(heat_view_time_ns(&v, column + 1)),
                                                "recorded_ns", bounded(s->ended_ns), "from_ns",
                                                bounded(heat_view_from_ns(&v, row)), "to_ns",
                                                to_ns > INT64_MAX ? json_null() : bounded(to_ns),
                                                "count", (json_int_t) s->n));
                }
        return list;
}
