/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frames are written callers first, siblings with the most time first, at the bottom the outermost:
 *
 *      level 2    | ip_make_skb      | ip_send_skb |
 *      level 1    | udp_sendmsg                         | tcp_recvmsg |
 *      level 0    | all                                               |
 *
 * Of more than N_FRAMES_MAX nodes those too narrow to see are left out, which is said.  Compared with
 * another recording a frame is as wide as now, and its colour says how its own time for each
 * outermost call has changed: red more, blue less.
 */

#include <inttypes.h>

#include "analyze/call-tree.h"
#include "base/unit.h"
#include "encode/escape.h"
#include "export/exporter.h"

#define WIDTH 1180 /* of all */
#define LEFT 10
#define TOP 60
#define BOTTOM 30
#define ROW 17
#define CHARACTER 7.25 /* width of one */
#define N_FRAMES_MAX 20000

typedef struct Drawing {
        Buf *out;
        const Flame *flame;
        const CallNode *root;
        const Hash *nodes_before; /* of what it is compared with */
        uint64_t min_ns;          /* of what is drawn */
        int32_t n_levels;
        uint64_t n_left_out, left_out_ns;
        double most; /* the largest change */
} Drawing;

static const CallNode *find_twin(const Drawing *d, const CallNode *before,
                                 const Function *function) {
        return d->nodes_before ? alike_find_node(d->nodes_before, before, function) : NULL;
}

/* Of an outermost call of its own root. */
static double per_call(const CallNode *node) {
        uint64_t n = 0;

        for (const CallNode *up = node; up && up->level > 0; up = up->parent)
                n = up->n > 0 ? up->n : n;
        return n > 0 ? (double) node->self_ns / (double) n : 0;
}

/* How much more of its own time an outermost call spends there. */
static double change_of(const CallNode *node, const CallNode *before) {
        return per_call(node) - per_call(before);
}

static void find_most(Drawing *d, const CallNode *parent, const CallNode *before) {
        for (const CallNode *c = parent->children; c; c = c->next) {
                const CallNode *b = find_twin(d, before, c->function);
                double change = change_of(c, b);

                d->most = MAX(d->most, change < 0 ? -change : change);
                find_most(d, c, b);
        }
}

/* One colour for a name; modules are green, interrupts grey. */
static void add_colour(Drawing *d, const CallNode *node, double change) {
        uint32_t h = 2166136261, shade;
        bool is_module;

        if (d->flame->before) {
                unsigned strength =
                        d->most > 0 ? (unsigned) (200 * (change < 0 ? -change : change) / d->most)
                                    : 0;
                unsigned faint = 245 - MIN(strength, 200U);

                if (change > 0)
                        buf_printf(d->out, "#ff%02x%02x", faint, faint);
                else
                        buf_printf(d->out, "#%02x%02xff", faint, faint);
                return;
        }
        if (!node->function) {
                buf_adds(d->out, "#e0e0e0");
                return;
        }
        for (uint32_t i = 0; i < node->function->n_name; i++)
                h = (h ^ (unsigned char) node->function->label[i]) * 16777619;
        shade = h % 60;
        is_module = node->function->n_label - node->function->n_place > node->function->n_name;
        if (node->in_irq)
                buf_printf(d->out, "#%02x%02x%02x", 170 + shade / 2, 170 + shade / 2,
                           190 + shade / 2);
        else if (is_module)
                buf_printf(d->out, "#%02x%02x%02x", 110 + shade, 190 + shade / 2, 90 + shade);
        else
                buf_printf(d->out, "#%02x%02x%02x", 225 + shade / 4, 120 + (h >> 8) % 90,
                           40 + shade / 2);
}

static void add_figures(Drawing *d, const CallNode *node, const CallNode *before) {
        double all = (double) MAX(d->root->total_ns, UINT64_C(1));
        const char *more = UNHOOKED_TEXT(before ? MAX(node->n_unhooked, before->n_unhooked)
                                                : node->n_unhooked);

        buf_printf(d->out, "total %s (%.2f %%)", FIGURE_ROUND(node->total_ns),
                   100 * (double) node->total_ns / all);
        if (call_node_is_uncounted(node))
                return;
        buf_printf(d->out, "\nself%s %s (%.2f %%)", more, FIGURE_ROUND(node->self_ns),
                   100 * (double) node->self_ns / all);
        if (node->in_irq)
                buf_adds(d->out, node->is_irq ? "\nan interrupt" : "\nin an interrupt");
        if (node->n > 0)
                buf_printf(d->out, "\n%s calls", FORMAT_COUNT(node->n));
        if (node->n_cut > 0)
                buf_printf(d->out, ", %s of them cut off", FORMAT_COUNT(node->n_cut));
        if (node->blocked_ns > 0)
                buf_printf(d->out, "\nwaited %s%s %s", *more ? "in it" : "itself", more,
                           FIGURE_ROUND(node->blocked_ns));
        if (!d->flame->before || !node->function)
                return;
        if (!before)
                buf_adds(d->out, "\nnew");
        buf_printf(d->out, "\nself%s for each outermost call %s, before %s (%s)", more,
                   FIGURE_MEAN(per_call(node)), FIGURE_MEAN(per_call(before)),
                   FIGURE_CHANGE(change_of(node, before)));
}

static void draw_frame(Drawing *d, const CallNode *node, const CallNode *before, uint64_t x_ns) {
        const char *name = node->function ? node->function->label : "all";
        size_t n_name = node->function ? node->function->n_label : 3;
        double scale = (double) WIDTH / (double) MAX(d->root->total_ns, UINT64_C(1));
        double x = LEFT + (double) x_ns * scale, width = (double) node->share_ns * scale;
        int y = TOP + (d->n_levels - node->level) * ROW;

        buf_printf(d->out,
                   "<g class=\"f\" data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\" data-s=\"%" PRIu64
                   "\" data-n=\"%" PRIu64 "\" data-l=\"%" PRId32 "\"",
                   x_ns, node->share_ns, node->self_ns, node->n, node->level);
        if (node->waited_ns > 0)
                buf_printf(d->out, " data-b=\"%" PRIu64 "\" data-t=\"%" PRIu64 "\"",
                           node->blocked_ns, MIN(node->waited_ns, node->share_ns));
        buf_adds(d->out, " data-name=\"");
        escape_xml(d->out, name, n_name);
        buf_adds(d->out, "\"><title>");
        escape_xml(d->out, name, n_name);
        buf_adds(d->out, "\n");
        add_figures(d, node, before);
        buf_printf(
                d->out,
                "</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" rx=\"1\" fill=\"",
                x, y, width, ROW - 1);
        add_colour(d, node, d->flame->before && node->function ? change_of(node, before) : 0);
        buf_adds(d->out, "\"/>");
        if (node->blocked_ns > 0 && !d->flame->before) {
                double waited = (double) MIN(node->blocked_ns, node->share_ns) * scale;

                buf_printf(d->out,
                           "<rect class=\"w\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>",
                           x + width - waited, y, waited, ROW - 1);
        }
        buf_printf(d->out, "<text x=\"%.2f\" y=\"%d\">", x + 3, y + ROW - 5);
        /* The script shortens it; without one only what fits is there.  A page has its script. */
        if (d->flame->max_frames == 0 && (double) n_name * CHARACTER < width - 4)
                escape_xml(d->out, name, n_name);
        buf_adds(d->out, "</text></g>\n");
}

static void draw_below(Drawing *d, const CallNode *parent, const CallNode *before, uint64_t x_ns) {
        for (const CallNode *c = parent->children; c; c = c->next) {
                const CallNode *b = find_twin(d, before, c->function);

                if (c->share_ns >= d->min_ns) {
                        draw_frame(d, c, b, x_ns);
                        draw_below(d, c, b, x_ns);
                } else {
                        d->n_left_out++;
                        d->left_out_ns += c->share_ns;
                }
                x_ns += c->share_ns;
        }
}

static int measure(Drawing *d) {
        size_t n_max = d->flame->max_frames ?: N_FRAMES_MAX;
        int r = call_tree_threshold(&d->min_ns, d->flame->tree, n_max);

        if (r < 0)
                return r;
        if (d->min_ns > 0 && d->flame->max_frames == 0)
                d->min_ns = MAX(d->min_ns, d->root->total_ns / (WIDTH * 4));
        for (const CallNode *n = d->root; n; n = call_node_next(d->root, n))
                if (n->share_ns >= d->min_ns)
                        d->n_levels = MAX(d->n_levels, n->level);
        if (d->flame->before)
                find_most(d, d->root, call_tree_root(d->flame->before));
        return 0;
}

static void add_text(Drawing *d, const char *class, int x, int y, const char *text) {
        buf_printf(d->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, x, y, text);
}

static void add_buttons(Drawing *d) {
        static const char *const modes[][2] = { { "all", "[all time]" },
                                                { "running", "[running]" },
                                                { "waiting", "[waiting]" } };
        int x = WIDTH - 420;

        add_text(d, "button reset gone", LEFT, 46, "[all]");
        if (d->root->waited_ns > 0 && !d->flame->before)
                for (size_t i = 0; i < ELEMENTSOF(modes); i++) {
                        buf_printf(
                                d->out,
                                "<text class=\"button mode%s\" data-mode=\"%s\" x=\"%d\" y=\"24\">"
                                "%s</text>\n",
                                i == 0 ? " chosen" : "", modes[i][0], x, modes[i][1]);
                        x += 90;
                }
        if (d->flame->title)
                add_text(d, "button search", WIDTH - 60, 24, "[search]");
        add_text(d, "matched", WIDTH - 190, 46, "");
}

static void add_head(Drawing *d, int height) {
        buf_printf(d->out,
                   "<svg class=\"flame\" xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" "
                   "viewBox=\"0 0 %d %d\" tabindex=\"0\" role=\"application\" "
                   "aria-label=\"Flame graph: arrow keys move, Enter zooms, Escape shows all\" "
                   "data-left=\"%d\" data-width=\"%d\" data-total=\"%" PRIu64
                   "\">\n<style>%s%s</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n",
                   WIDTH + 2 * LEFT, height, LEFT, WIDTH, d->root->total_ns,
                   d->flame->title ? theme_css : "", flame_css, WIDTH + 2 * LEFT, height);
        if (!d->flame->title)
                return;
        buf_printf(d->out, "<text class=\"title\" x=\"%d\" y=\"24\">", LEFT);
        escape_xml(d->out, d->flame->title, strlen(d->flame->title));
        if (d->flame->before) {
                buf_adds(d->out, ", compared with ");
                escape_xml(d->out, d->flame->before_title, strlen(d->flame->before_title));
        }
        buf_adds(d->out, "</text>\n");
}

int flame_write(Buf *out, const Flame *flame) {
        Drawing d = { .out = out, .flame = flame, .root = call_tree_root(flame->tree) };
        _cleanup_(hash_done) Hash nodes_before = {};
        int r = 0, height;

        if (flame->before) {
                r = alike_index_nodes(&nodes_before, flame->before);
                d.nodes_before = &nodes_before;
        }
        if (r >= 0)
                r = measure(&d);
        if (r < 0)
                return r;
        height = TOP + (d.n_levels + 1) * ROW + BOTTOM;
        add_head(&d, height);
        add_buttons(&d);
        add_text(&d, "details", LEFT, height - 10, "");
        if (!d.root->children)
                add_text(&d, "nothing", LEFT, TOP + 12, "there are no calls");
        else
                draw_frame(&d, d.root, NULL, 0);
        draw_below(&d, d.root, flame->before ? call_tree_root(flame->before) : NULL, 0);
        if (d.n_left_out > 0)
                buf_printf(out,
                           "<text x=\"%d\" y=\"46\">%s"
                           " frames with %.3f %% of the time are too narrow to be drawn</text>\n",
                           LEFT + 60, FORMAT_COUNT(d.n_left_out),
                           100 * (double) d.left_out_ns /
                                   (double) MAX(d.root->total_ns, UINT64_C(1)));
        if (flame->title)
                buf_printf(out, "<script><![CDATA[%s]]></script>\n", flame_js);
        buf_adds(out, "</svg>\n");
        return 0;
}

static int flame_end(void *p) {
        const ExportState *s = p;

        buf_adds(s->out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n");
        return flame_write(s->out, &(Flame){ .title = s->info->title,
                                             .tree = s->tree,
                                             .before = s->info->before,
                                             .before_title = s->info->before_title });
}

const Exporter exporter_flame = {
        .name = "flame",
        .summary = "a flame graph, one SVG that any browser opens",
        .compares = true,
        .has_tree = true,
        .end = flame_end,
};
