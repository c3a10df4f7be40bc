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

#include "analyze/breakdown.h"
#include "analyze/heat-map.h"
#include "analyze/overhead.h"
#include "analyze/quantiles.h"
#include "base/unit.h"
#include "causes/outliers.h"
#include "causes/why.h"
#include "encode/escape.h"
#include "export/exporter.h"

#define N_SLOWEST 10
#define N_HEAT_ROOTS 3
#define N_HEAT_COLUMNS 96
#define N_FRAMES_MAX 1800
#define N_TREE_MAX 1800
#define N_SLOW_TREE_MAX 80
#define N_SPANS_MAX 500
#define N_LAYERS_MAX 40
#define DIFFERENCES_SHOWN 5

typedef struct Html {
        ExportState s;
        Floor *floor;
        HeatMap *heat;
        Outliers *outliers;
        Breakdown *layers; /* NULL: there are no lines */
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

/* --- the slowest calls ------------------------------------------------------------------------- */

static void add_slow_summary(const Html *h, const Invocation *v, size_t i) {
        Buf *out = h->s.out;

        buf_printf(out,
                   "<details class=\"slow\" data-duration=\"%" PRIu64 "\" data-start=\"%" PRIu64
                   "\"><summary>%zu. <b>%s</b> ",
                   v->duration_ns, v->start_ns, i + 1, FIGURE_BOUNDS(v->duration_ns, v->most_ns));
        html_tree_name(out, v->root);
        buf_adds(out, " <span>");
        escape_xml(out, v->comm, strlen(v->comm));
        if (v->pid >= 0)
                buf_printf(out, " %d", v->pid);
        if (h->s.info->has_ticks) /* the heat map's clock, which --from and --to take */
                buf_printf(out, ", at %" PRIu64, v->start_ns);
        else if (!h->s.info->is_timeless)
                buf_printf(out, ", at %s", FIGURE_MOMENT(v->start_ns, 6));
        buf_printf(out, ", CPU %u, call %s", v->cpu, FORMAT_COUNT(v->number));
        if (v->blocked_ns > 0)
                buf_printf(out, ", waited %s", FIGURE_ROUND(v->blocked_ns));
        if (v->irq_ns > 0)
                buf_printf(out, ", interrupts took %s", FIGURE_ROUND(v->irq_ns));
        buf_adds(out, "</span></summary>\n");
}

/* All that have a timeline. */
typedef struct Shown {
        const Invocation **calls;
        size_t n;
} Shown;

/* Its number; it is put behind the others if it is new. */
static size_t number_of(Shown *shown, const Invocation *v) {
        size_t i = 0;

        while (i < shown->n && shown->calls[i] != v)
                i++;
        if (i == shown->n)
                shown->calls[shown->n++] = v;
        return i;
}

static void shown_done(Shown *shown) {
        free(shown->calls);
}

static int list_shown(const Html *h, Shown *ret) {
        size_t n = h->outliers->n;

        *ret = (Shown){ .calls = calloc(2 * n + 1, sizeof(const Invocation *)) };
        if (!ret->calls)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                (void) number_of(ret, h->outliers->slowest[i]);
        for (size_t i = 0; i < n; i++) {
                const Invocation *usual = outliers_usual(h->outliers, ret->calls[i]);

                if (usual)
                        (void) number_of(ret, usual);
        }
        return 0;
}

static int add_differences(const Html *h, const Invocation *v) {
        const Invocation *usual = outliers_usual(h->outliers, v);
        const Quantiles *q = outliers_quantiles(h->outliers, v);
        _cleanup_(why_freep) Why *w = NULL;
        int r;

        if (!usual || !q || q->n < 2)
                return 0;
        r = why_new_of_two(&w, v->tree, usual->tree);
        if (r < 0)
                return r;
        buf_printf(h->s.out, "<p>The median of %s calls is %s. This one differs from one of %s in",
                   FORMAT_COUNT(q->n), FIGURE_ROUND(quantiles_at(q, 500)),
                   FIGURE_ROUND(usual->duration_ns));
        for (size_t i = 0; i < MIN(w->n_causes, (size_t) DIFFERENCES_SHOWN); i++) {
                _cleanup_buf_ Buf text = BUF_INIT;

                why_describe_cause(&text, w, &w->causes[i]);
                buf_printf(h->s.out, "%s%s ", i > 0 ? "; " : " ",
                           FIGURE_CHANGE(w->causes[i].change_ns));
                escape_xml(h->s.out, (const char *) text.data, text.n_data);
        }
        buf_adds(h->s.out, ".</p>\n");
        return 0;
}

static int write_slowest(const Html *h) {
        _cleanup_(shown_done) Shown shown = {};
        int r = list_shown(h, &shown);

        for (size_t i = 0; i < h->outliers->n && r >= 0; i++) {
                const Invocation *usual = outliers_usual(h->outliers, shown.calls[i]);
                const Invocation *v = h->outliers->slowest[i];
                HtmlTree tree = { .out = h->s.out, .class = "step", .max_nodes = N_SLOW_TREE_MAX };

                add_slow_summary(h, v, i);
                buf_printf(h->s.out, "<button class=\"show\" data-call=\"%zu\">Timeline</button>\n",
                           i);
                if (usual)
                        buf_printf(h->s.out,
                                   "<button class=\"show\" data-call=\"%zu\">Timeline of a usual "
                                   "one</button>\n",
                                   number_of(&shown, usual));
                r = add_differences(h, v) ?: html_tree_write(&tree, v->tree);
                buf_adds(h->s.out, "</details>\n");
        }
        return r;
}

/* --- spans ------------------------------------------------------------------------------------ */

enum {
        SPAN_CALL,
        SPAN_IRQ,  /* an interrupt, or below one */
        SPAN_WAIT, /* off the CPU, or mostly */
        SPAN_CUT,  /* its end was not recorded */
};

/* What was off the CPU has the sentence of who woke it for a name. */
static void add_waker(Buf *out, const InvocationSpan *s) {
        _cleanup_buf_ Buf waker = BUF_INIT;

        buf_adds(out, "off the CPU");
        if (s->is_forced)
                buf_adds(out, ", preempted");
        else if (!s->is_woken)
                buf_adds(out, ", woken by nobody that was seen");
        else {
                buf_adds(out, ", woken ");
                waker_describe(&waker, &s->waker);
                escape_json(out, (const char *) waker.data, waker.n_data);
        }
}

static int kind_of(const InvocationSpan *s) {
        if (!s->function || s->blocked_ns > (s->end_ns - s->begin_ns) / 2)
                return SPAN_WAIT;
        return s->is_cut ? SPAN_CUT : s->in_irq ? SPAN_IRQ : SPAN_CALL;
}

/* Names are those of functions, each once, and one for each wait. */
static int add_spans(const Html *h, const Invocation *v) {
        _cleanup_(intern_done) Intern names = {};
        uint64_t begin_ns = v->n_spans > 0 ? v->spans[0].begin_ns : 0;
        Buf *out = h->s.out;

        buf_adds(out, "\"spans\":[");
        for (size_t i = 0; i < v->n_spans; i++) {
                const InvocationSpan *s = &v->spans[i];
                uint32_t name;

                if (intern_add(&names, s->function ? (const void *) s->function : s, &name) < 0)
                        return -ENOMEM;
                buf_printf(out, "%s%" PRIu64 ",%" PRIu64 ",%d,%u,%d", i > 0 ? "," : "",
                           s->begin_ns - begin_ns, s->end_ns - s->begin_ns, s->level, name,
                           kind_of(s));
        }
        buf_adds(out, "],\"names\":[");
        for (uint32_t i = 0; i < names.n; i++) {
                const void *item = names.items[i];
                const InvocationSpan *wait = item;

                buf_adds(out, i > 0 ? ",\"" : "\"");
                if (wait >= v->spans && wait < v->spans + v->n_spans)
                        add_waker(out, wait);
                else {
                        const Function *f = item;

                        escape_json(out, f->label, f->n_label);
                        if (!unhooked_is_none(f->n_unhooked))
                                buf_printf(out, " (%s)", UNHOOKED_NOTE(f->n_unhooked));
                }
                buf_adds(out, "\"");
        }
        buf_adds(out, "]");
        return 0;
}

/*
 * What a timeline is drawn from (page.js), fit to stand in an HTML script: the slowest calls, then the usual ones
 * that these are compared with
 *
 *      [{"title": "1. udp_sendmsg, 90.2 ms", "ns": 90183881, "left": 12,
 *        "names": ["udp_sendmsg", ...], "spans": [begin, length, level, name, kind, ...]}, ...]
 *
 * Times are nanoseconds since the call's beginning.
 */
static int write_spans(const Html *h) {
        _cleanup_(shown_done) Shown shown = {};
        int r = list_shown(h, &shown);

        buf_adds(h->s.out, "[");
        for (size_t i = 0; i < shown.n && r >= 0; i++) {
                const Invocation *v = shown.calls[i];
                uint64_t ns = v->n_spans > 0 ? v->spans[0].end_ns - v->spans[0].begin_ns : 0;

                buf_adds(h->s.out, i > 0 ? ",\n{\"title\":\"" : "{\"title\":\"");
                if (i < h->outliers->n)
                        buf_printf(h->s.out, "%zu. ", i + 1);
                else
                        buf_adds(h->s.out, "a usual ");
                escape_json(h->s.out, v->root->label, v->root->n_label);
                buf_printf(h->s.out, ", %s\",\"ns\":%" PRIu64 ",\"left\":%zu,",
                           FIGURE_ROUND(v->duration_ns), ns, v->n_spans_left_out);
                r = add_spans(h, v);
                buf_adds(h->s.out, "}");
        }
        buf_adds(h->s.out, "]");
        return r;
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

/* "16", "sched:sched_switch, sched:sched_waking"; NULL without memory.  The caller frees. */
static char *option_text(json_t *value) {
        _cleanup_strv_ Strv words = {};
        json_t *item;
        size_t i;

        if (json_is_string(value))
                return strdup(json_string_value(value));
        if (!json_is_array(value))
                return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        json_array_foreach (value, i, item)
                if (strv_add(&words, json_string_value(item) ?: "...") < 0)
                        return NULL;
        return strv_join(&words, ", ");
}

/* The roots, and what of the request is not as it is by default: "depth 12, ring". */
static void add_request(Buf *out, const SessionMeta *m) {
        /* The roots, and what ftraced.conf sets. */
        static const char not_asked[] =
                " functions segment_bytes segment_ns max_hooked max_event_rate "
                "max_write_rate max_cpu_ppm ";
        const Strv *roots = m->roots.n > 0 ? &m->roots : &m->spec.functions;
        char word[64];
        _cleanup_free_ char *names = strv_join(roots, ", ");
        json_auto_t *said = spec_to_json(&m->spec), *usual = spec_to_json(&SPEC_INIT);
        _cleanup_buf_ Buf text = BUF_INIT;
        _cleanup_free_ char *options = NULL;
        const char *key;
        json_t *value;

        if (names && roots->n > 0)
                add_row(out, "Roots", names);
        json_object_foreach (said, key, value) {
                _cleanup_free_ char *is = NULL;

                (void) snprintf(word, sizeof(word), " %s ", key);
                if (strstr(not_asked, word) || json_equal(value, json_object_get(usual, key)))
                        continue;
                is = option_text(value);
                buf_printf(&text, "%s%s%s%s", text.n_data > 0 ? ", " : "", key,
                           json_is_true(value) ? "" : " ", json_is_true(value) ? "" : is ?: "");
        }
        if (text.n_data > 0 && buf_take_string(&text, &options) >= 0)
                add_row(out, "Options", options);
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
        if (info->meta && info->meta->start.realtime_ns > 0)
                add_row(out, "Recorded", FIGURE_DATE(info->meta->start.realtime_ns));
        if (info->meta)
                add_request(out, info->meta);
        if (info->meta)
                unhooked_describe(&hooked, info->meta);
        if (hooked.n_data > 0 && buf_take_string(&hooked, &text) >= 0)
                add_row(out, "Hooked", text);
        if (info->filters)
                add_row(out, "Shown", info->filters);
        if (!info->is_timeless)
                add_row(out, "Length",
                        FORMAT_DURATION(info->length_ns ?: h->s.end_ns - h->s.begin_ns));
        add_row(out, "Page made by", PACKAGE_STRING);
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
        add_number(out, "Incomplete calls", "cut", h->n_cut);
        if (h->n_own_work > 0)
                add_number(out, "Not among the slowest, as ftraced changed hooks meanwhile",
                           "own-work", h->n_own_work);
        add_figure(out, "Time of the outermost calls", "total", total_ns, FIGURE_ROUND(total_ns));
        buf_adds(out, "<tr><th>Lost</th><td id=\"lost\" class=\"");
        if (h->s.info->loss)
                buf_printf(out, "%s\">%s</td></tr>\n", h->s.info->is_complete ? "good" : "bad",
                           h->s.info->loss);
        else if (h->s.n_losses == 0)
                buf_adds(out, "good\">nothing lost</td></tr>\n");
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
                      "more) and Enter for the options that select this window.");
        heat_choose(&picture, parts, N_HEAT_ROOTS, h->heat);
        r = heat_write(h->s.out, &picture);
        buf_adds(h->s.out, "<p class=\"hint\" id=\"picked\" aria-live=\"polite\"></p>\n");
        end_section(h->s.out);
        return r;
}

/* A BreakdownPlace. */
static const char *layer_of(void *userdata, const Function *f, size_t *ret_n) {
        const ExportInfo *info = userdata;
        const char *file;
        uint32_t line;

        return info->layer(info->define(info->ways, f, &file, &line) ? file : NULL, ret_n);
}

static void add_bar(Buf *out, unsigned width, double share) {
        buf_printf(out,
                   "<td><svg width=\"%u\" height=\"12\"><rect width=\"%.1f\" height=\"12\" "
                   "fill=\"var(--h5)\"/></svg></td></tr>\n",
                   width, width * share);
}

static void add_layer(const Html *h, const BreakdownRow *row) {
        const CallNode *all = call_tree_root(h->s.tree);
        double share = (double) row->self_ns / (double) MAX(all->total_ns, UINT64_C(1));
        Buf *out = h->s.out;

        buf_printf(out, "<tr data-self=\"%" PRIu64 "\"><td>", row->self_ns);
        escape_xml(out, row->name, row->n_name);
        if (!unhooked_is_none(row->n_unhooked))
                buf_printf(out, " <span class=\"hint\">(%s)</span>",
                           UNHOOKED_NOTE(row->n_unhooked));
        buf_printf(out,
                   "</td><td class=\"n\">%s</td><td class=\"n\">%.1f %%</td><td class=\"n\">%s</td>"
                   "<td class=\"n\">%s</td>",
                   FIGURE_ROUND(row->self_ns), 100 * share,
                   row->n_outer > 0 ? FIGURE_ROUND(row->total_ns) : "", FORMAT_COUNT(row->n));
        add_bar(out, 200, share);
}

/* Own times add up to that of all outermost calls. */
static void add_layers(const Html *h) {
        BreakdownRow rest = { .name = "others", .n_name = 6 };
        const BreakdownRow *const *rows;
        size_t n;

        if (!h->layers)
                return;
        rows = breakdown_rows(h->layers, &n);
        begin_section(
                h->s.out, "layers", "By layer of the kernel",
                "Functions are counted by where their source is. Self: what they took without "
                "what they called; all of it adds up to the time of the outermost calls. "
                "Total: with it.");
        buf_adds(h->s.out, "<table><tr><th>Layer</th><th class=\"n\">Self</th><th></th><th "
                           "class=\"n\">Total</th><th class=\"n\">Calls</th><th></th></tr>\n");
        for (size_t i = 0; i < n; i++) {
                if (i < N_LAYERS_MAX)
                        add_layer(h, rows[i]);
                rest.self_ns += i < N_LAYERS_MAX ? 0 : rows[i]->self_ns;
                rest.n += i < N_LAYERS_MAX ? 0 : rows[i]->n;
        }
        if (n > N_LAYERS_MAX)
                add_layer(h, &rest);
        buf_adds(h->s.out, "</table>\n");
        end_section(h->s.out);
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
        const ExportInfo *source = h->s.info->excerpts ? h->s.info : NULL;
        HtmlTree tree = {
                .out = h->s.out, .class = "node", .max_nodes = N_TREE_MAX, .source = source
        };
        int r;

        begin_section(h->s.out, "calls-tree", "The tree of all calls",
                      source ? "What each function called, the longest first, and beside it the "
                               "source of the one that is chosen, by arrow keys or a click."
                             : "What each function called, the longest first. Arrow keys go "
                               "through it.");
        buf_adds(h->s.out,
                 source ? "<div id=\"walk\">\n<div id=\"tree\">\n" : "<div id=\"tree\">\n");
        r = html_tree_write(&tree, h->s.tree);
        buf_adds(h->s.out, "</div>\n");
        if (r >= 0 && source)
                r = html_tree_write_source(&tree);
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
        const HeatGrid *all = heat_map_all(h->heat);
        const Quantiles *s = &all->quantiles;
        Buf *out = h->s.out;
        Range ranges[HEAT_MAP_ROWS];
        size_t n = heat_grid_ranges(ranges, all);
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
                buf_printf(out, "<tr><td>%s</td><td>to %s</td><td class=\"n\">%" PRIu64 "</td>",
                           FIGURE_ROUND(ranges[i].from_ns),
                           ranges[i].to_ns == UINT64_MAX ? "..." : FIGURE_ROUND(ranges[i].to_ns),
                           ranges[i].n);
                add_bar(out, 400, (double) ranges[i].n / (double) most);
        }
        buf_adds(out, "</table></details>\n");
}

static int add_slowest(Html *h) {
        _cleanup_buf_ Buf left_out = BUF_INIT;
        int r;

        begin_section(h->s.out, "slow", "The slowest calls",
                      "Each with what it spent that a median call of the same root did not, and "
                      "with its own tree.");
        idle_describe(&left_out, &h->outliers->idle);
        if (left_out.n_data > 0) {
                buf_adds(h->s.out, "<p class=\"hint\" id=\"idle\">");
                escape_xml(h->s.out, (const char *) left_out.data, left_out.n_data);
                buf_adds(h->s.out, "</p>\n");
        }
        buf_adds(h->s.out, "<div id=\"slowest\">\n");
        r = write_slowest(h);
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
        r = write_spans(h);
        buf_adds(h->s.out, "</script>\n");
        end_section(h->s.out);
        return r;
}

static void add_head(Html *h) {
        Buf *out = h->s.out;

        buf_printf(out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "script-src 'sha256-%s'; style-src 'unsafe-inline'; "
                   "base-uri 'none'; form-action 'none'\">\n<title>",
                   page_sha256);
        add_text(out, h->s.info->title);
        buf_printf(out, "</title>\n<style>%s%s</style>\n</head>\n<body>\n<header><strong>",
                   theme_css, page_css);
        add_text(out, h->s.info->title);
        buf_adds(out, "</strong>\n<a href=\"#when\">When</a> <a href=\"#flame\">Flame graph</a> ");
        buf_adds(out, h->layers ? "<a href=\"#layers\">Layers</a> " : "");
        buf_adds(out, "<a href=\"#calls-tree\">Tree</a> <a href=\"#slow\">Slowest</a> "
                      "<a href=\"#time\">Timeline</a>\n<span class=\"space\"></span>\n"
                      "<span id=\"found\" class=\"hint\" aria-live=\"polite\"></span>\n"
                      "<label><kbd>/</kbd> <input id=\"search\" type=\"search\" "
                      "placeholder=\"Search functions\" aria-label=\"Search functions\"></label>\n"
                      "<button id=\"theme\">Theme: auto</button></header>\n");
        buf_adds(out, h->s.info->excerpts ? "<main class=\"wide\">\n" : "<main>\n");
}

static int html_end(void *p) {
        Html *h = p;
        int r = outliers_finish(h->outliers);

        if (r < 0)
                return r;
        add_head(h);
        if (h->s.info->sentence) { /* what "why" found */
                buf_adds(h->s.out, "<p id=\"cause\">");
                add_text(h->s.out, h->s.info->sentence);
                buf_adds(h->s.out, "</p>\n");
        }
        add_summary(h);
        add_cost(h);
        r = add_heat(h);
        add_histogram(h);
        if (r >= 0)
                r = add_flame(h);
        add_layers(h);
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
        breakdown_free(h->layers);
        outliers_free(h->outliers);
}

static int html_init(void *p, Pairing *pairing) {
        Html *h = p;
        int r = floor_new(&h->floor, pairing)
                    ?: heat_map_new(&h->heat, pairing, NULL, true)
                    ?: outliers_new(&h->outliers, pairing, N_SLOWEST);

        if (r < 0)
                return r;
        if (h->s.info->layer) {
                r = breakdown_new(&h->layers, BREAKDOWN_BY_LAYER, pairing);
                if (r < 0)
                        return r;
                breakdown_set_place(h->layers, layer_of, (void *) h->s.info);
        }
        h->outliers->idle.is_wanted = !h->s.info->roots_are_named;
        outliers_keep_spans(h->outliers, pairing, N_SPANS_MAX);
        return 0;
}

const Exporter exporter_html = {
        .name = "html",
        .tells_why = true,
        .shows_source = true,
        .summary = "one page: when it was slow, flame graph, tree, the slowest calls, a timeline",
        .n_bytes = sizeof(Html),
        .has_tree = true,
        .call = html_call,
        .init = html_init,
        .end = html_end,
        .done = html_done,
};
