/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One page with everything in it: what was recorded and lost, what tracing itself cost, a flame graph,
 * the tree to unfold, how long the outermost calls took, and the slowest of them.  Its policy allows
 * no network, and no script but the one whose checksum it names; a name that looks like one does
 * nothing.
 */

#include <inttypes.h>

#include "analyze/overhead.h"
#include "analyze/ranges.h"
#include "base/figure.h"
#include "base/unit.h"
#include "export/escape.h"
#include "export/exporter.h"
#include "export/flame.h"

/* SHA-256 of flame_script, in base64; tests/system/test-export.sh compares them. */
#define SCRIPT_SHA256 "C39gorj+e0O+273RWpwGqRunuiJJNvqguWoTP01ltLc="

#define N_SLOWEST 10
#define N_TREE_MAX 5000     /* nodes that are shown */
#define TREE_MIN_PERMILLE 1 /* of all, what a node must have taken to be shown */
#define OPEN_PERMILLE 200   /* what is unfolded from the beginning */

typedef struct Slow {
        const Function *function;
        uint64_t number, start_ns, duration_ns, n_below;
        int32_t pid;
        char comm[16];
} Slow;

typedef struct Html {
        ExportState s;
        Floor *floor;
        Quantiles durations; /* of outermost calls that were not cut */
        Slow slowest[N_SLOWEST];
        size_t n_slowest;
        uint64_t n_calls, n_cut, n_outermost;
        uint64_t n_shown; /* nodes of the tree */
} Html;

/* The slowest first. */
static void note_slow(Html *h, const Call *call) {
        size_t i = h->n_slowest;

        if (i == N_SLOWEST && h->slowest[i - 1].duration_ns >= call->duration_ns)
                return;
        if (i < N_SLOWEST)
                h->n_slowest++;
        else
                i--;
        for (; i > 0 && h->slowest[i - 1].duration_ns < call->duration_ns; i--)
                h->slowest[i] = h->slowest[i - 1];
        h->slowest[i] = (Slow){
                .function = call->frame->function,
                .number = call->frame->number,
                .start_ns = call->frame->start_ns,
                .duration_ns = call->duration_ns,
                .n_below = call->frame->n_below,
                .pid = call->stack->pid,
        };
        memcpy(h->slowest[i].comm, call->stack->comm, sizeof(call->stack->comm));
}

static int html_call(void *p, const Call *call) {
        Html *h = p;

        h->n_calls++;
        h->n_cut += call->is_cut;
        h->n_outermost += call->is_root;
        if (!call->is_root || call->is_cut)
                return 0;
        note_slow(h, call);
        return quantiles_add(&h->durations, call->duration_ns);
}

/* --- parts of the page ------------------------------------------------------------------------ */

static void add_text(Buf *out, const char *s) {
        escape_xml(out, s, strlen(s));
}

static void add_time(Buf *out, uint64_t ns) {
        char text[FIGURE_MAX];

        buf_adds(out, figure_round(text, ns));
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
        char text[UNIT_TEXT_MAX];

        add_figure(out, title, id, n, format_count(text, n));
}

static void add_summary(Html *h) {
        Buf *out = h->s.out;
        char text[UNIT_TEXT_MAX], figure[FIGURE_MAX];
        uint64_t total_ns = call_tree_root(h->s.tree)->total_ns;

        buf_adds(out, "<table>\n");
        if (h->s.info->recording)
                add_row(out, "Recording", h->s.info->recording);
        if (h->s.info->host)
                add_row(out, "Host", h->s.info->host);
        if (h->s.info->kernel)
                add_row(out, "Kernel", h->s.info->kernel);
        if (!h->s.info->is_timeless)
                add_row(out, "Length", format_duration(text, h->s.end_ns - h->s.begin_ns));
        add_number(out, "Calls", "calls", h->n_calls);
        add_number(out, "Outermost calls", "outermost", h->n_outermost);
        add_number(out, "Cut off by the beginning, the end or a loss", "cut", h->n_cut);
        add_figure(out, "Time of the outermost calls", "total", total_ns,
                   figure_round(figure, total_ns));
        buf_adds(out, "<tr><th>Lost</th><td id=\"lost\" class=\"");
        if (h->s.n_losses == 0)
                buf_adds(out, "good\">nothing</td></tr>\n");
        else
                buf_printf(out,
                           "bad\">%" PRIu64 " events, or more, in %" PRIu64 " places</td></tr>\n",
                           h->s.n_lost, h->s.n_losses);
        buf_adds(out, "</table>\n");
}

static void add_cost(Html *h) {
        Overhead o = overhead_of(h->floor);
        _cleanup_buf_ Buf text = BUF_INIT;
        Buf *out = h->s.out;

        buf_adds(out, "<h2>What tracing itself cost</h2>\n<p id=\"cost\">");
        overhead_describe(&o, &text);
        escape_xml(out, text.data, text.n_data);
        buf_adds(out, (o.has_cost || o.is_too_little) && o.shown.n > 0
                              ? "</p>\n"
                              : " Too little was recorded to tell.</p>\n");
}

static void add_function(Buf *out, const Function *f) {
        buf_adds(out, "<code>");
        escape_xml(out, f->label, f->n_label);
        buf_adds(out, "</code>");
}

static void add_node(Html *h, const CallNode *node) {
        Buf *out = h->s.out;
        uint64_t all = MAX(call_tree_root(h->s.tree)->total_ns, UINT64_C(1));
        double share = (double) node->total_ns / (double) all;
        bool is_leaf = !node->children;

        h->n_shown++;
        buf_printf(out,
                   "<%s class=\"node\"%s data-n=\"%" PRIu64 "\" data-total=\"%" PRIu64
                   "\" data-self=\"%" PRIu64 "\">",
                   is_leaf ? "div" : "details",
                   !is_leaf && share * 1000 >= OPEN_PERMILLE ? " open" : "", node->n,
                   node->total_ns, node->self_ns);
        buf_adds(out, is_leaf ? "" : "<summary>");
        add_function(out, node->function);
        buf_printf(out, " <b>%.1f %%</b> total ", 100 * share);
        add_time(out, node->total_ns);
        buf_adds(out, ", self ");
        add_time(out, node->self_ns);
        buf_printf(out, ", %" PRIu64 " call%s%s%s%s\n", node->n, node->n == 1 ? "" : "s",
                   node->is_irq ? " (interrupt)" : "", node->n_cut > 0 ? " (cut)" : "",
                   is_leaf ? "" : "</summary>");
        for (const CallNode *c = node->children; c; c = c->next) {
                uint64_t n = 0, ns = 0;

                if (h->n_shown < N_TREE_MAX && c->total_ns >= all / 1000 * TREE_MIN_PERMILLE) {
                        add_node(h, c);
                        continue;
                }
                for (; c; c = c->next) {
                        n += c->n;
                        ns += c->total_ns;
                }
                buf_printf(out, "<div class=\"node rest\">%" PRIu64 " smaller calls, ", n);
                add_time(out, ns);
                buf_adds(out, "</div>\n");
                break;
        }
        buf_adds(out, is_leaf ? "</div>\n" : "</details>\n");
}

static void add_tree(Html *h) {
        buf_adds(h->s.out, "<h2>Tree</h2>\n<div id=\"tree\">\n");
        for (const CallNode *c = call_tree_root(h->s.tree)->children; c; c = c->next) {
                if (h->n_shown >= N_TREE_MAX) {
                        buf_adds(h->s.out, "<p>The rest is left out.</p>\n");
                        break;
                }
                add_node(h, c);
        }
        buf_adds(h->s.out, "</div>\n");
}

static void add_histogram(Html *h) {
        const Quantiles *s = &h->durations;
        Buf *out = h->s.out;
        Range ranges[RANGES_MAX];
        size_t n = ranges_of(ranges, s, false);
        uint64_t most = 1;

        buf_adds(out, "<h2>How long the outermost calls took</h2>\n");
        for (size_t i = 0; i < n; i++)
                most = MAX(most, ranges[i].n);
        buf_adds(out, "<p>Median ");
        add_time(out, quantiles_at(s, 500));
        buf_adds(out, ", 99 % of them at most ");
        add_time(out, quantiles_at(s, 990));
        buf_adds(out, ", the slowest ");
        add_time(out, s->max);
        buf_adds(out, ".</p>\n<table id=\"histogram\">\n");
        for (size_t i = 0; i < n; i++) {
                char from[FIGURE_MAX], to[FIGURE_MAX];

                buf_printf(out,
                           "<tr><td>%s</td><td>to %s</td><td class=\"n\">%" PRIu64
                           "</td><td><svg width=\"400\" height=\"12\"><rect width=\"%.1f\" "
                           "height=\"12\" fill=\"#e8883a\"/></svg></td></tr>\n",
                           figure_round(from, ranges[i].from_ns),
                           ranges[i].to_ns == UINT64_MAX ? "..."
                                                         : figure_round(to, ranges[i].to_ns),
                           ranges[i].n, 400 * (double) ranges[i].n / (double) most);
        }
        buf_adds(out, "</table>\n");
}

static void add_slowest(Html *h) {
        Buf *out = h->s.out;

        buf_adds(out, "<h2>The slowest</h2>\n<table id=\"slowest\">\n<tr><th>Took</th><th>Function"
                      "</th><th>Task</th><th>Began</th><th>Calls below</th><th>Call</th></tr>\n");
        for (size_t i = 0; i < h->n_slowest; i++) {
                const Slow *s = &h->slowest[i];

                buf_printf(out, "<tr data-duration=\"%" PRIu64 "\"><td class=\"n\">",
                           s->duration_ns);
                add_time(out, s->duration_ns);
                buf_adds(out, "</td><td>");
                add_function(out, s->function);
                buf_adds(out, "</td><td>");
                add_text(out, s->comm);
                if (s->pid >= 0)
                        buf_printf(out, " %d", s->pid);
                if (h->s.info->is_timeless)
                        buf_adds(out, "</td><td>");
                else
                        buf_printf(out, "</td><td class=\"n\">+%.6f s",
                                   (double) (int64_t) (s->start_ns - h->s.begin_ns) / NSEC_PER_SEC);
                buf_printf(out,
                           "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
                           "</td></tr>\n",
                           s->n_below, s->number);
        }
        buf_adds(out, "</table>\n");
}

static int html_end(void *p) {
        Html *h = p;
        Buf *out = h->s.out;
        int r;

        buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "script-src 'sha256-" SCRIPT_SHA256 "'; style-src 'unsafe-inline'; "
                      "base-uri 'none'; form-action 'none'\">\n<title>");
        add_text(out, h->s.info->title);
        buf_adds(out,
                 "</title>\n<style>body{font-family:sans-serif;margin:1em 2em;max-width:1200px}"
                 "th{text-align:left;padding-right:1em}td.n{text-align:right}"
                 "td{padding-right:1em}.node{margin-left:1.2em}.good{color:#080}"
                 ".bad{color:#c00}.rest{color:#666}summary{cursor:pointer}</style>\n"
                 "</head>\n<body>\n<h1>");
        add_text(out, h->s.info->title);
        buf_adds(out, "</h1>\n");
        add_summary(h);
        add_cost(h);
        buf_adds(out, "<h2>Flame graph</h2>\n");
        r = flame_write(out, &(Flame){ .title = h->s.info->title, .tree = h->s.tree });
        if (r < 0)
                return r;
        add_tree(h);
        add_histogram(h);
        add_slowest(h);
        buf_printf(out, "<script>%s</script>\n</body>\n</html>\n", flame_script);
        return 0;
}

static void html_done(void *p) {
        Html *h = p;

        floor_free(h->floor);
        quantiles_done(&h->durations);
}

static int html_init(void *p, Pairing *pairing) {
        return floor_new(&((Html *) p)->floor, pairing);
}

const Exporter exporter_html = {
        .name = "html",
        .summary = "one page: summary, flame graph, tree, histogram, the slowest calls",
        .n_bytes = sizeof(Html),
        .has_tree = true,
        .call = html_call,
        .init = html_init,
        .end = html_end,
        .done = html_done,
};
