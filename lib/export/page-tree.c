/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nodes are written callers first; how deep they nest the kernel's own stacks bound. */

#include <inttypes.h>

#include "base/unit.h"
#include "export/escape.h"
#include "export/page-tree.h"

void page_add_function(Buf *out, const Function *f) {
        buf_adds(out, "<code>");
        escape_xml(out, f->label, f->n_label);
        buf_adds(out, "</code>");
}

static void add_figures(const PageTree *p, const CallNode *node, double share) {
        const char *more = UNHOOKED_TEXT(node->n_unhooked);

        buf_printf(p->out, " <b>%.1f %%</b> total %s, self%s %s", 100 * share,
                   FIGURE_ROUND(node->total_ns), more, FIGURE_ROUND(node->self_ns));
        if (node->blocked_ns > 0)
                buf_printf(p->out, ", waited %s%s %s", *more ? "in it" : "itself", more,
                           FIGURE_ROUND(node->blocked_ns));
        buf_printf(p->out, ", %s call%s%s%s", FORMAT_COUNT(node->n), node->n == 1 ? "" : "s",
                   node->is_irq ? " (interrupt)" : "", node->n_cut > 0 ? " (cut)" : "");
}

static void add_node(const PageTree *p, const CallNode *node);

static void add_children(const PageTree *p, const CallNode *node) {
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

static void add_node(const PageTree *p, const CallNode *node) {
        double share = (double) node->total_ns / (double) p->all_ns;
        bool is_leaf = !node->children;

        buf_printf(p->out,
                   "<%s class=\"%s\" style=\"--p:%.0f%%\"%s data-n=\"%" PRIu64
                   "\" data-total=\"%" PRIu64 "\" data-self=\"%" PRIu64 "\">%s",
                   is_leaf ? "div" : "details", p->class, MIN(100 * share, 100.0),
                   !is_leaf && share * 1000 >= p->open_permille ? " open" : "", node->n,
                   node->total_ns, node->self_ns, is_leaf ? "" : "<summary>");
        page_add_function(p->out, node->function);
        add_figures(p, node, share);
        buf_adds(p->out, is_leaf ? "\n" : "</summary>\n");
        add_children(p, node);
        buf_adds(p->out, is_leaf ? "</div>\n" : "</details>\n");
}

int page_tree_write(PageTree *p, CallTree *tree) {
        const CallNode *root = call_tree_root(tree);
        int r = call_tree_threshold(&p->min_ns, tree, p->max_nodes);

        if (r < 0)
                return r;
        p->all_ns = MAX(root->total_ns, UINT64_C(1));
        add_children(p, root);
        return 0;
}
