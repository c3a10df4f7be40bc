/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Grids lie below each other with the same time axis.  The longest durations are at the top.  Colours
 * are classes, so that a dark screen has others; a page may choose them by its data-theme.
 */

#include <inttypes.h>

#include "base/unit.h"
#include "encode/escape.h"
#include "export/exporter.h"

#define WIDTH 1200
#define LEFT 90
#define RIGHT 80 /* the number of a row's calls */
#define TOP 44
#define ROW 17
#define HEADING 26
#define FOOTING 52 /* axis, and what was picked */
#define N_COLUMNS 128
#define N_LEVELS 9
#define N_GRIDS 5

typedef struct Drawing {
        Buf *out;
        const HeatPicture *picture;
        const HeatPart *part;
        HeatView view;
        HeatScale scale;
        double y;     /* where the cells begin */
        double width; /* of a column */
} Drawing;

static double row_y(const Drawing *d, size_t row) {
        return d->y + (double) ((d->view.n_rows - 1 - row) * ROW);
}

static void add_cells(Drawing *d, size_t row) {
        const HeatView *v = &d->view;

        for (size_t column = 0; column < v->n_columns; column++) {
                const HeatSpot *s = heat_view_at(v, row, column);

                if (s->n == 0)
                        continue;
                buf_printf(d->out,
                           "<rect class=\"h%u\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" "
                           "height=\"%d\" data-c=\"%zu\" data-r=\"%zu\" data-n=\"%" PRIu64
                           "\" data-e=\"%" PRIu64 "\"/>\n",
                           heat_scale_level(&d->scale, s->n), LEFT + (double) column * d->width,
                           row_y(d, row), d->width, ROW, column, row, s->n,
                           s->ended_ns - MIN(s->ended_ns, v->begin_ns));
        }
}

static void add_row(Drawing *d, size_t row) {
        const HeatView *v = &d->view;
        uint64_t n = 0, to_ns = heat_view_to_ns(v, row);
        double y = row_y(d, row) + ROW - 4;

        for (size_t column = 0; column < v->n_columns; column++)
                n += heat_view_at(v, row, column)->n;
        buf_printf(d->out,
                   "<text class=\"from\" x=\"%d\" y=\"%.0f\" data-r=\"%zu\" data-to=\"%s\">%s"
                   "</text><text class=\"sum\" x=\"%d\" y=\"%.0f\" data-r=\"%zu\">%" PRIu64
                   "</text>\n",
                   LEFT - 8, y, row, to_ns == UINT64_MAX ? "..." : FIGURE_ROUND(to_ns),
                   FIGURE_ROUND(heat_view_from_ns(v, row)), WIDTH - 10, y, row, n);
        add_cells(d, row);
}

static void add_axis(Drawing *d) {
        const HeatView *v = &d->view;
        unsigned n_digits = 0;
        double y = row_y(d, 0) + ROW;
        size_t step = MAX((size_t) (140 / d->width), (size_t) 1);

        for (uint64_t unit = NSEC_PER_SEC; n_digits < 9 && v->column_ns < unit; unit /= 10)
                n_digits++;
        for (size_t i = 0; i < v->n_columns; i += step) {
                double x = LEFT + (double) i * d->width;

                buf_printf(d->out,
                           "<path d=\"M%.2f %.0fv5\"/><text class=\"when\" x=\"%.2f\" y=\"%.0f\">",
                           x, y, x, y + 17);
                if (d->picture->has_ticks)
                        escape_u64(d->out, heat_view_time_ns(v, i));
                else
                        buf_adds(d->out, FIGURE_MOMENT(heat_view_time_ns(v, i), n_digits));
                buf_adds(d->out, "</text>\n");
        }
}

static void add_legend(Drawing *d) {
        const HeatScale *s = &d->scale;
        double x = WIDTH - RIGHT - 70 * (double) s->n_used;

        for (unsigned level = s->n_levels - s->n_used + 1; level <= s->n_levels; level++) {
                buf_printf(d->out,
                           "<rect class=\"h%u\" x=\"%.0f\" y=\"%.0f\" width=\"10\" height=\"10\"/>"
                           "<text x=\"%.0f\" y=\"%.0f\">%s%s</text>\n",
                           level, x, d->y - 16, x + 14, d->y - 7,
                           FORMAT_COUNT(heat_scale_from(s, level)), s->most > 1 ? "+" : "");
                x += 70;
        }
}

static void add_grid(Drawing *d) {
        const HeatView *v = &d->view;
        double height = (double) (v->n_rows * ROW);

        buf_printf(d->out,
                   "<g class=\"heat-grid\" tabindex=\"0\" role=\"application\" aria-label=\"When "
                   "calls began and how long they took: arrow keys move, Enter copies\" "
                   "data-begin=\"%" PRIu64 "\" data-column=\"%" PRIu64
                   "\" data-columns=\"%zu\" data-rows=\"%zu\" data-x=\"%d\" data-y=\"%.0f\" "
                   "data-w=\"%.4f\" data-h=\"%d\" data-ticks=\"%d\" data-first=\"%u\" data-name=\"",
                   v->begin_ns, v->column_ns, v->n_columns, v->n_rows, LEFT, d->y, d->width, ROW,
                   d->picture->has_ticks, v->first_row);
        escape_xml(d->out, d->part->name, d->part->n_name);
        buf_printf(d->out, "\">\n<text class=\"name\" x=\"%d\" y=\"%.0f\">", LEFT, d->y - 7);
        escape_xml(d->out, d->part->name, d->part->n_name);
        buf_printf(d->out, ": %s call%s</text>\n", FORMAT_COUNT(v->n), v->n == 1 ? "" : "s");
        add_legend(d);
        buf_printf(d->out,
                   "<rect class=\"back\" x=\"%d\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"/>\n",
                   LEFT, d->y, d->width * (double) v->n_columns, height);
        for (size_t row = 0; row < v->n_rows; row++)
                add_row(d, row);
        add_axis(d);
        buf_printf(d->out,
                   "<rect class=\"pick gone\"/><text class=\"said\" x=\"%d\" y=\"%.0f\"></text>"
                   "<text class=\"words\" x=\"%d\" y=\"%.0f\"></text>\n</g>\n",
                   LEFT, d->y + height + 36, LEFT, d->y + height + 36);
        d->y += height + FOOTING;
}

/* How high it will be. */
static int measure(const HeatPicture *p, double *ret) {
        double y = p->title ? TOP : ROW;

        for (size_t i = 0; i < p->n_parts; i++) {
                _cleanup_heat_view_ HeatView v = HEAT_VIEW_INIT;
                int r = heat_view_new(&v, p->map, p->parts[i].grid, 1);

                if (r < 0)
                        return r;
                y += HEADING + (double) (v.n_rows * ROW) + FOOTING;
        }
        *ret = y + 20;
        return 0;
}

static void add_hint(Drawing *d) {
        const HeatPicture *p = d->picture;
        const char *hint = p->n_parts == 0  ? "there are no calls whose end was recorded"
                           : p->is_timeless ? "the text has no times: when calls began is a guess"
                           : p->title       ? "click a cell, or drag over some, for --from and --to"
                                            : NULL;

        if (hint)
                buf_printf(d->out, "<text x=\"10\" y=\"%d\">%s</text>\n", p->title ? 40 : 14, hint);
}

int heat_write(Buf *out, const HeatPicture *p) {
        Drawing d = { .out = out, .picture = p, .y = p->title ? TOP : ROW };
        double height;
        int r = measure(p, &height);

        if (r < 0)
                return r;
        if (p->title)
                buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n");
        buf_printf(out,
                   "<svg class=\"heat\" xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" "
                   "viewBox=\"0 0 %d %.0f\">\n<style>%s%s</style>\n"
                   "<rect class=\"paper\" width=\"%d\" height=\"%.0f\"/>\n",
                   WIDTH, height, p->title ? theme_css : "", heat_css, WIDTH, height);
        if (p->title) {
                buf_adds(out, "<text class=\"title\" x=\"10\" y=\"22\">");
                escape_xml(out, p->title, strlen(p->title));
                buf_adds(out, "</text>\n");
        }
        add_hint(&d);
        for (size_t i = 0; i < p->n_parts; i++) {
                d.part = &p->parts[i];
                d.y += HEADING;
                r = heat_view_new(&d.view, p->map, d.part->grid, p->max_columns ?: N_COLUMNS);
                if (r < 0)
                        return r;
                d.scale = heat_scale(d.view.most, N_LEVELS);
                d.width = (double) (WIDTH - LEFT - RIGHT) /
                          (double) MAX(d.view.n_columns, (size_t) 1);
                add_grid(&d);
                heat_view_done(&d.view);
        }
        if (p->n_left_out > 0)
                buf_printf(
                        out,
                        "<text x=\"10\" y=\"%.0f\">%zu more root%s with less time: --root=FUNCTION "
                        "chooses</text>\n",
                        d.y + 12, p->n_left_out, p->n_left_out == 1 ? "" : "s");
        if (p->title)
                buf_printf(out, "<script><![CDATA[%s]]></script>\n", heat_js);
        buf_adds(out, "</svg>\n");
        return 0;
}

void heat_choose(HeatPicture *p, HeatPart *parts, size_t n_room, HeatMap *map) {
        size_t n;
        const HeatGrid *const *grids = heat_map_grids(map, &n);

        p->map = map;
        p->parts = parts;
        p->n_parts = p->n_left_out = 0;
        for (size_t i = 0; i < n; i++)
                if (grids[i]->n_cells > 0 && p->n_parts < n_room)
                        parts[p->n_parts++] = (HeatPart){ grids[i], grids[i]->root->label,
                                                          grids[i]->root->n_label };
                else
                        p->n_left_out += grids[i]->n_cells > 0;
}

/* --- a file of its own ------------------------------------------------------------------------ */

typedef struct HeatExport {
        ExportState s;
        HeatMap *map;
} HeatExport;

static int heat_init(void *p, Pairing *pairing) {
        HeatExport *h = p;

        return heat_map_new(&h->map, pairing, NULL, true);
}

static int heat_end(void *p) {
        HeatExport *h = p;
        HeatPart parts[N_GRIDS];
        HeatPicture picture = {
                .title = h->s.info->title,
                .has_ticks = h->s.info->has_ticks,
                .is_timeless = h->s.info->is_timeless,
        };

        heat_choose(&picture, parts, N_GRIDS, h->map);
        return heat_write(h->s.out, &picture);
}

static void heat_done(void *p) {
        HeatExport *h = p;

        heat_map_free(h->map);
}

const Exporter exporter_heatmap = {
        .name = "heatmap",
        .summary = "when calls began and how long they took, one SVG that any browser opens",
        .n_bytes = sizeof(HeatExport),
        .init = heat_init,
        .end = heat_end,
        .done = heat_done,
};
