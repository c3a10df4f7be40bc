/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One page with everything in it, for whoever was not there: what was recorded and lost, what tracing
 * itself cost, when it was slow, where the time went, and the slowest calls with a timeline of each.  Its
 * policy allows no network, and no script but the one whose checksum it names (make has counted it); a
 * name that looks like one does nothing.
 *
 * It stays below two megabytes: of what takes little time what does not fit is left out, and it says so.
 */

#include <inttypes.h>

#include "analyze/heat-map.h"
#include "analyze/outliers.h"
#include "analyze/overhead.h"
#include "analyze/ranges.h"
#include "base/figure.h"
#include "base/unit.h"
#include "export/escape.h"
#include "export/exporter.h"
#include "export/flame.h"
#include "export/heat.h"
#include "export/page-slow.h"
#include "export/page-tree.h"
#include "export/scripts.h"

#define N_SLOWEST 10
#define N_HEAT_ROOTS 3
#define N_HEAT_COLUMNS 96
#define N_FRAMES_MAX 1800
#define N_TREE_MAX 1800
#define N_SLOW_TREE_MAX 80
#define N_SPANS_MAX 500
#define OPEN_PERMILLE 200 /* what is unfolded from the beginning */

typedef struct Html {
        ExportState s;
        Floor *floor;
        HeatMap *heat;
        Outliers *outliers;
        uint64_t n_calls, n_cut, n_outermost, n_own_work;
} Html;

static int html_call(void *p, const Call *call) {
        Html *h = p;

        h->n_calls++;
        h->n_cut += call->is_cut;
        h->n_outermost += call->is_root;
        h->n_own_work += call->is_root && call->in_own_work;
        return 0;
}

/* --- parts of the page ------------------------------------------------------------------------ */

static void add_text(Buf *out, const char *s) {
        escape_xml(out, s, strlen(s));
}

static void add_row(Buf *out, const char *title, const char *text) {
        buf_printf(out, "<tr><th>%s</th><td>", title);
        add_text(out, text);
        buf_adds(out, "</td></tr>\n");
}

static void add_figure(Buf *out, const char *title, const char *id, uint64_t n, const char *text) {
        buf_printf(out, "<tr><th>%s</th><td id=\"%s\" data-value=\"%" PRIu64 "\">%s</td></tr>\n",
                   title, id, n, text);
}

static void add_number(Buf *out, const char *title, const char *id, uint64_t n) {
        add_figure(out, title, id, n, FORMAT_COUNT(n));
}

/* What "why" found: a sentence; NULL: nobody asked. */
static void add_sentence(Buf *out, const char *sentence) {
        if (!sentence)
                return;
        buf_adds(out, "<p id=\"cause\">");
        add_text(out, sentence);
        buf_adds(out, "</p>\n");
}

static void add_origin(Html *h) {
        const ExportInfo *info = h->s.info;
        _cleanup_free_ char *text = NULL;
        _cleanup_buf_ Buf hooked = BUF_INIT;
        Buf *out = h->s.out;

        buf_adds(out, "<table>\n");
        if (info->recording)
                add_row(out, "Recording", info->recording);
        if (info->host)
                add_row(out, "Host", info->host);
        if (info->kernel)
                add_row(out, "Kernel", info->kernel);
        if (info->meta)
                unhooked_describe(&hooked, info->meta);
        if (hooked.n_data > 0 && buf_take_string(&hooked, &text) >= 0)
                add_row(out, "Hooked", text);
        if (!info->is_timeless)
                add_row(out, "Length", FORMAT_DURATION(h->s.end_ns - h->s.begin_ns));
        buf_adds(out, "</table>\n");
}

static void add_summary(Html *h) {
        Buf *out = h->s.out;
        uint64_t total_ns = call_tree_root(h->s.tree)->total_ns;

        buf_adds(out, "<div id=\"facts\">\n");
        add_origin(h);
        buf_adds(out, "<table>\n");
        add_number(out, "Calls", "calls", h->n_calls);
        add_number(out, "Outermost calls", "outermost", h->n_outermost);
        add_number(out, "Cut off by the beginning, the end or a loss", "cut", h->n_cut);
        if (h->n_own_work > 0)
                add_number(out, "Not among the slowest, as ftraced changed hooks meanwhile",
                           "own-work", h->n_own_work);
        add_figure(out, "Time of the outermost calls", "total", total_ns, FIGURE_ROUND(total_ns));
        buf_adds(out, "<tr><th>Lost</th><td id=\"lost\" class=\"");
        if (h->s.n_losses == 0)
                buf_adds(out, "good\">nothing</td></tr>\n");
        else
                buf_printf(out, "bad\">%s events, or more, in %s places</td></tr>\n",
                           FORMAT_COUNT(h->s.n_lost), FORMAT_COUNT(h->s.n_losses));
        buf_adds(out, "</table>\n</div>\n");
}

static void add_cost(Html *h) {
        Overhead o = overhead_of(h->floor);
        _cleanup_buf_ Buf text = BUF_INIT;
        Buf *out = h->s.out;

        buf_adds(out, "<p id=\"cost\">");
        overhead_describe(&o, &text);
        escape_xml(out, text.data, text.n_data);
        buf_adds(out, (o.has_cost || o.is_too_little) && o.shown.n > 0
                              ? "</p>\n"
                              : " Too little was recorded to tell.</p>\n");
}

static void begin_section(Buf *out, const char *id, const char *title, const char *hint) {
        buf_printf(out, "<section id=\"%s\"><h2>%s</h2>\n<p class=\"hint\">%s</p>\n", id, title,
                   hint);
}

static void end_section(Buf *out) {
        buf_adds(out, "</section>\n");
}

static int add_heat(Html *h) {
        HeatPart parts[N_HEAT_ROOTS];
        HeatPicture picture = {
                .max_columns = N_HEAT_COLUMNS,
                .has_ticks = h->s.info->has_ticks,
                .is_timeless = h->s.info->is_timeless,
        };
        int r;

        begin_section(h->s.out, "when", "When was it slow",
                      "Time goes to the right, latency up, and the colour says how many calls "
                      "began then and took so long. Click, drag, or use arrow keys (with Shift: "
                      "more) and Enter for the words that choose this window.");
        heat_choose(&picture, parts, N_HEAT_ROOTS, h->heat);
        r = heat_write(h->s.out, &picture);
        buf_adds(h->s.out, "<p class=\"hint\" id=\"picked\" aria-live=\"polite\"></p>\n");
        end_section(h->s.out);
        return r;
}

static int add_flame(Html *h) {
        int r;

        begin_section(h->s.out, "flame", "Where the time went",
                      "A frame is a function, as wide as its time, on top of who called it. Blue: "
                      "it waited. Click to zoom; arrow keys, Enter and Escape do, too.");
        r = flame_write(h->s.out, &(Flame){ .tree = h->s.tree, .max_frames = N_FRAMES_MAX });
        end_section(h->s.out);
        return r;
}

static int add_tree(Html *h) {
        PageTree tree = { .out = h->s.out,
                          .class = "node",
                          .max_nodes = N_TREE_MAX,
                          .open_permille = OPEN_PERMILLE };
        int r;

        begin_section(h->s.out, "calls-tree", "The tree of all calls",
                      "What each function called, the longest first. Arrow keys go through it.");
        buf_adds(h->s.out, "<div id=\"tree\">\n");
        r = page_tree_write(&tree, h->s.tree);
        buf_adds(h->s.out, "</div>\n");
        if (call_tree_n_nodes(h->s.tree) > N_TREE_MAX)
                buf_printf(h->s.out,
                           "<p class=\"hint\" id=\"left-out\">Of %s places in the tree those are "
                           "shown that took %s or more, %.4f %% of all.</p>\n",
                           FORMAT_COUNT(call_tree_n_nodes(h->s.tree)), FIGURE_ROUND(tree.min_ns),
                           100 * (double) tree.min_ns / (double) tree.all_ns);
        end_section(h->s.out);
        return r;
}

static void add_histogram(Html *h) {
        const Quantiles *s = &heat_map_all(h->heat)->quantiles;
        Buf *out = h->s.out;
        Range ranges[RANGES_MAX];
        size_t n = ranges_of(ranges, s);
        uint64_t most = 1;

        if (n == 0)
                return;
        for (size_t i = 0; i < n; i++)
                most = MAX(most, ranges[i].n);
        buf_printf(out,
                   "<details><summary>How long the outermost calls took: median %s, 99 %% of them "
                   "at most %s, the slowest %s.</summary>\n<table id=\"histogram\">\n",
                   FIGURE_ROUND(quantiles_at(s, 500)), FIGURE_ROUND(quantiles_at(s, 990)),
                   FIGURE_ROUND(s->max));
        for (size_t i = 0; i < n; i++) {
                buf_printf(out,
                           "<tr><td>%s</td><td>to %s</td><td class=\"n\">%" PRIu64
                           "</td><td><svg width=\"400\" height=\"12\"><rect width=\"%.1f\" "
                           "height=\"12\" fill=\"var(--h5)\"/></svg></td></tr>\n",
                           FIGURE_ROUND(ranges[i].from_ns),
                           ranges[i].to_ns == UINT64_MAX ? "..." : FIGURE_ROUND(ranges[i].to_ns),
                           ranges[i].n, 400 * (double) ranges[i].n / (double) most);
        }
        buf_adds(out, "</table></details>\n");
}

static int add_slowest(Html *h) {
        PageSlow slow = { .out = h->s.out,
                          .outliers = h->outliers,
                          .begin_ns = h->s.begin_ns,
                          .is_timeless = h->s.info->is_timeless,
                          .max_nodes = N_SLOW_TREE_MAX };
        int r;

        begin_section(h->s.out, "slow", "The slowest calls",
                      "Each with what it spent that a median call of the same root did not, and "
                      "with its own tree.");
        buf_adds(h->s.out, "<div id=\"slowest\">\n");
        r = page_slow_write(&slow);
        buf_adds(h->s.out, "</div>\n");
        end_section(h->s.out);
        if (r < 0)
                return r;
        begin_section(h->s.out, "time", "Timeline of one call",
                      "Time goes to the right, what is called down. Blue: it waited; grey: an "
                      "interrupt. Click zooms; arrow keys, Enter, Escape, + and - do, too.");
        buf_adds(h->s.out, "<p><label>Call <select id=\"which\"></select></label> "
                           "<span class=\"hint\" id=\"left\"></span></p>\n<div id=\"timeline\">"
                           "</div>\n<div id=\"told\" aria-live=\"polite\"></div>\n"
                           "<script type=\"application/json\" id=\"data\">");
        r = page_slow_write_spans(&slow);
        buf_adds(h->s.out, "</script>\n");
        end_section(h->s.out);
        return r;
}

static void add_head(Html *h) {
        Buf *out = h->s.out;

        buf_printf(out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "script-src 'sha256-%s'; style-src 'unsafe-inline'; "
                   "base-uri 'none'; form-action 'none'\">\n<title>",
                   page_sha256);
        add_text(out, h->s.info->title);
        buf_printf(out, "</title>\n<style>%s%s</style>\n</head>\n<body>\n<header><strong>",
                   theme_css, page_css);
        add_text(out, h->s.info->title);
        buf_adds(out, "</strong>\n<a href=\"#when\">When</a> <a href=\"#flame\">Flame graph</a> "
                      "<a href=\"#calls-tree\">Tree</a> <a href=\"#slow\">Slowest</a> "
                      "<a href=\"#time\">Timeline</a>\n<span class=\"space\"></span>\n"
                      "<span id=\"found\" class=\"hint\" aria-live=\"polite\"></span>\n"
                      "<label><kbd>/</kbd> <input id=\"search\" type=\"search\" "
                      "placeholder=\"Search functions\" aria-label=\"Search functions\"></label>\n"
                      "<button id=\"theme\">Theme: auto</button></header>\n<main>\n");
}

static int html_end(void *p) {
        Html *h = p;
        int r = outliers_finish(h->outliers);

        if (r < 0)
                return r;
        add_head(h);
        add_sentence(h->s.out, h->s.info->sentence);
        add_summary(h);
        add_cost(h);
        r = add_heat(h);
        add_histogram(h);
        if (r >= 0)
                r = add_flame(h);
        if (r >= 0)
                r = add_tree(h);
        if (r >= 0)
                r = add_slowest(h);
        buf_printf(h->s.out, "</main>\n<script>%s%s%s</script>\n</body>\n</html>\n", flame_js,
                   heat_js, page_js);
        return r;
}

static void html_done(void *p) {
        Html *h = p;

        floor_free(h->floor);
        heat_map_free(h->heat);
        outliers_free(h->outliers);
}

static int html_init(void *p, Pairing *pairing) {
        Html *h = p;
        int r = floor_new(&h->floor, pairing)
                    ?: heat_map_new(&h->heat, pairing, NULL, true)
                    ?: outliers_new(&h->outliers, pairing, N_SLOWEST);

        if (r >= 0)
                outliers_keep_spans(h->outliers, pairing, N_SPANS_MAX);
        return r;
}

const Exporter exporter_html = {
        .name = "html",
        .tells_why = true,
        .summary = "one page: when it was slow, flame graph, tree, the slowest calls, a timeline",
        .n_bytes = sizeof(Html),
        .has_tree = true,
        .call = html_call,
        .init = html_init,
        .end = html_end,
        .done = html_done,
};
