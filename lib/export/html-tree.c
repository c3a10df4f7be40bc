/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How deep trees nest the kernel's own stacks bound. */

#include <inttypes.h>

#include "analyze/role.h"
#include "base/unit.h"
#include "encode/escape.h"
#include "export/exporter.h"

#define OPEN_PERMILLE 200 /* what is unfolded from the beginning */

void html_tree_name(Buf *out, const Function *f) {
        buf_adds(out, "<code>");
        escape_xml(out, f->label, f->n_label);
        buf_adds(out, "</code>");
}

static void add_node_figures(const HtmlTree *p, const CallNode *node, double share) {
        const char *more = UNHOOKED_TEXT(node->n_unhooked);

        if (call_node_is_uncounted(node)) {
                buf_printf(p->out, " <b>%.1f %%</b> total %s", 100 * share,
                           FIGURE_ROUND(node->total_ns));
                return;
        }
        buf_printf(p->out, " <b>%.1f %%</b> total %s, self%s %s", 100 * share,
                   FIGURE_ROUND(node->total_ns), more, FIGURE_ROUND(node->self_ns));
        if (node->blocked_ns > 0)
                buf_printf(p->out, ", waited %s%s %s", *more ? "in it" : "itself", more,
                           FIGURE_ROUND(node->blocked_ns));
        buf_printf(p->out, ", %s call%s%s%s", FORMAT_COUNT(node->n), node->n == 1 ? "" : "s",
                   node->is_irq ? " (interrupt)" : "", node->n_cut > 0 ? " (cut)" : "");
}

static void add_place(const HtmlTree *p, const char *name, const char *file, uint32_t line,
                      const Function *defined) {
        const Alike alike = defined ? alike_of(defined) : (Alike){};
        size_t i;
        int r;

        if (!file || line == 0)
                return;
        r = excerpts_add(p->source->excerpts, file, line, alike.name, alike.n_name, &i);
        if (r < 0)
                p->out->error = p->out->error ?: r;
        else
                buf_printf(p->out, " data-%s=\"%zu:%" PRIu32 "\"", name, i, line);
}

static void add_places(const HtmlTree *p, const Function *f) {
        const Function *plain = function_plain(f);
        const char *file;
        uint32_t line;

        add_place(p, "at", f->file, f->line, NULL);
        if (f->kind == FUNCTION_OF_PROGRAM)
                return;
        if (f->kind != FUNCTION_RECORDED)
                buf_printf(p->out, " data-in=\"%s\"",
                           f->kind == FUNCTION_INLINED ? "inlined" : "not traced");
        else if (p->source->define(p->source->ways, plain, &file, &line))
                add_place(p, "def", file, line, plain);
}

static void add_node(const HtmlTree *p, const CallNode *node);

static void add_children(const HtmlTree *p, const CallNode *node) {
        uint64_t n = 0, ns = 0; /* of the smaller ones */

        for (const CallNode *c = node->children; c; c = c->next)
                if (c->share_ns >= p->min_ns)
                        add_node(p, c);
                else {
                        n += c->n;
                        ns += c->total_ns;
                }
        if (n > 0)
                buf_printf(p->out, "<div class=\"%s-rest\">%s smaller call%s, %s</div>\n", p->class,
                           FORMAT_COUNT(n), n == 1 ? "" : "s", FIGURE_ROUND(ns));
}

static void add_node(const HtmlTree *p, const CallNode *node) {
        double share = (double) node->total_ns / (double) p->all_ns;
        bool is_leaf = !node->children;

        buf_printf(p->out,
                   "<%s class=\"%s\" style=\"--p:%.0f%%\"%s data-n=\"%" PRIu64
                   "\" data-total=\"%" PRIu64 "\" data-self=\"%" PRIu64 "\"",
                   is_leaf ? "div" : "details", p->class, MIN(100 * share, 100.0),
                   !is_leaf && share * 1000 >= OPEN_PERMILLE ? " open" : "", node->n,
                   node->total_ns, node->self_ns);
        if (p->source)
                add_places(p, node->function);
        buf_adds(p->out, is_leaf ? ">" : "><summary>");
        html_tree_name(p->out, node->function);
        add_node_figures(p, node, share);
        buf_adds(p->out, is_leaf ? "\n" : "</summary>\n");
        add_children(p, node);
        buf_adds(p->out, is_leaf ? "</div>\n" : "</details>\n");
}

int html_tree_write(HtmlTree *p, CallTree *tree) {
        const CallNode *root = call_tree_root(tree);
        int r = call_tree_threshold(&p->min_ns, tree, p->max_nodes);

        if (r < 0)
                return r;
        p->all_ns = MAX(root->total_ns, UINT64_C(1));
        add_children(p, root);
        return 0;
}

/* --- the source beside it --------------------------------------------------------------------- */

int html_tree_write_source(const HtmlTree *p) {
        const ExportInfo *info = p->source;
        Buf *out = p->out;
        ExcerptsCount n;
        int r;

        buf_adds(out, "<aside id=\"source\" tabindex=\"0\" aria-label=\"Source\"></aside>\n</div>\n"
                      "<script type=\"application/json\" id=\"excerpts\">");
        r = excerpts_write(info->excerpts, out, &n);
        buf_printf(out,
                   "</script>\n<p class=\"hint\" id=\"source-of\">The source is of Linux %s, the "
                   "recording of %s.",
                   excerpts_version(info->excerpts), info->kernel ?: "a kernel that nobody named");
        if (n.n_without > 0)
                buf_printf(out, " %zu of %zu files %s not there.", n.n_without, n.n_files,
                           n.n_without == 1 ? "is" : "are");
        if (n.n_other > 0)
                buf_printf(out,
                           " %zu place%s not fit: a function is not named where it was defined, or "
                           "a file ends before the line.",
                           n.n_other, n.n_other == 1 ? " does" : "s do");
        if (n.n_left_out > 0)
                buf_printf(out, " %zu place%s left out: the page has room for %s of source.",
                           n.n_left_out, n.n_left_out == 1 ? " is" : "s are",
                           FORMAT_BYTES(EXCERPTS_BYTES_MAX));
        buf_adds(out, "</p>\n");
        return r;
}
