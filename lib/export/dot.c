/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A graph of functions for graphviz: who calls whom, how often, and what it took.  It is made of the
 * call tree, whose nodes of one function become one; a function's total counts recursion once.  A
 * drawing of thousands cannot be read, so those with the most time are drawn, and how many are not is
 * said.
 */

#include <inttypes.h>

#include "base/figure.h"
#include "base/grow.h"
#include "export/escape.h"
#include "export/exporter.h"
#include "export/intern.h"

#define N_FUNCTIONS_MAX 150

typedef struct Vertex {
        uint64_t n, n_cut, self_ns, total_ns;
} Vertex;

typedef struct Edge {
        uint32_t from, to;
        uint64_t n, total_ns;
} Edge;

typedef struct Graph {
        Intern functions;
        Vertex *vertices;
        size_t n_vertices; /* that there is room for; one for each of the functions */
        Edge *edges;
        size_t n_edges;
} Graph;

static void graph_done(Graph *g) {
        intern_done(&g->functions);
        free(g->vertices);
        free(g->edges);
}

static bool is_nested(const CallNode *node) {
        for (const CallNode *p = node->parent; p && p->function; p = p->parent)
                if (p->function == node->function)
                        return true;
        return false;
}

/* A vertex for each function, an edge for each node that has a caller. */
static int collect(Graph *g, CallTree *tree) {
        const CallNode *root = call_tree_root(tree);

        g->edges = calloc(call_tree_n_nodes(tree) + 1, sizeof(*g->edges));
        if (!g->edges)
                return -ENOMEM;
        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                uint32_t i, from;
                Vertex *v;

                if (intern_add(&g->functions, n->function, &i) < 0)
                        return -ENOMEM;
                if (!ARRAY_REACH(g->vertices, g->n_vertices, i))
                        return -ENOMEM;
                v = &g->vertices[i];
                v->n += n->n;
                v->n_cut += n->n_cut;
                v->self_ns += n->self_ns;
                v->total_ns += is_nested(n) ? 0 : n->total_ns;
                if (!n->parent->function)
                        continue;
                if (intern_add(&g->functions, n->parent->function, &from) < 0)
                        return -ENOMEM;
                g->edges[g->n_edges++] =
                        (Edge){ .from = from, .to = i, .n = n->n, .total_ns = n->total_ns };
        }
        return 0;
}

static int compare_edges(const void *a, const void *b) {
        const Edge *x = a, *y = b;

        if (x->from != y->from)
                return x->from < y->from ? -1 : 1;
        return (x->to > y->to) - (x->to < y->to);
}

static int compare_totals(const void *a, const void *b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x < y) - (x > y);
}

/* What a function must have taken to be drawn. */
static int find_least(const Graph *g, uint64_t *ret) {
        _cleanup_free_ uint64_t *totals = NULL;

        *ret = 0;
        if (g->functions.n <= N_FUNCTIONS_MAX)
                return 0;
        totals = malloc(g->functions.n * sizeof(*totals));
        if (!totals)
                return -ENOMEM;
        for (uint32_t i = 0; i < g->functions.n; i++)
                totals[i] = g->vertices[i].total_ns;
        qsort(totals, g->functions.n, sizeof(*totals), compare_totals);
        *ret = totals[N_FUNCTIONS_MAX - 1];
        /* Of many that took the same none is better than all. */
        if (totals[N_FUNCTIONS_MAX] == *ret)
                *ret += 1;
        return 0;
}

static void draw_vertex(Buf *out, const Graph *g, uint32_t i, double all) {
        const Function *f = g->functions.items[i];
        const Vertex *v = &g->vertices[i];
        double share = (double) v->self_ns / all;

        buf_printf(out, "  f%u [label=\"", i);
        escape_dot(out, f->label, f->n_label);
        buf_printf(out, "\\nself%s %s (%.1f %%)\\ntotal %s (%.1f %%)\\n%" PRIu64 " calls",
                   UNHOOKED_TEXT(f->n_unhooked), FIGURE_ROUND(v->self_ns), 100 * share,
                   FIGURE_ROUND(v->total_ns), 100 * (double) v->total_ns / all, v->n);
        if (v->n_cut > 0)
                buf_printf(out, " (%" PRIu64 " cut)", v->n_cut);
        buf_printf(out,
                   "\" self_ns=%" PRIu64 " total_ns=%" PRIu64 " calls=%" PRIu64 " cut=%" PRIu64
                   " fillcolor=\"0.05 %.3f 1.0\"]\n",
                   v->self_ns, v->total_ns, v->n, v->n_cut, MIN(1.0, 0.05 + 2 * share));
}

static void draw(ExportState *t, Graph *g, uint64_t least_ns) {
        double all = (double) MAX(call_tree_root(t->tree)->total_ns, UINT64_C(1));
        uint32_t n_left_out = 0;

        buf_adds(t->out, "digraph \"");
        escape_dot(t->out, t->info->title, strlen(t->info->title));
        buf_adds(t->out, "\" {\n  node [shape=box style=filled fontname=\"monospace\"]\n"
                         "  edge [fontname=\"monospace\"]\n");
        for (uint32_t i = 0; i < g->functions.n; i++)
                if (g->vertices[i].total_ns >= least_ns)
                        draw_vertex(t->out, g, i, all);
                else
                        n_left_out++;
        for (size_t i = 0; i < g->n_edges;) {
                Edge e = g->edges[i++];

                for (; i < g->n_edges && compare_edges(&g->edges[i], &e) == 0; i++) {
                        e.n += g->edges[i].n;
                        e.total_ns += g->edges[i].total_ns;
                }
                if (g->vertices[e.from].total_ns < least_ns ||
                    g->vertices[e.to].total_ns < least_ns)
                        continue;
                buf_printf(t->out,
                           "  f%u -> f%u [label=\"%" PRIu64 "\" total_ns=%" PRIu64
                           " penwidth=%.2f]\n",
                           e.from, e.to, e.n, e.total_ns,
                           MIN(6.0, 0.5 + 6 * (double) e.total_ns / all));
        }
        if (n_left_out > 0)
                buf_printf(t->out, "  label=\"%u functions that took less than %s are left out\"\n",
                           n_left_out, FIGURE_ROUND(least_ns));
        buf_adds(t->out, "}\n");
}

static int dot_end(void *p) {
        _cleanup_(graph_done) Graph g = {};
        ExportState *t = p;
        uint64_t least_ns;
        int r = collect(&g, t->tree) ?: find_least(&g, &least_ns);

        if (r < 0)
                return r;
        qsort(g.edges, g.n_edges, sizeof(*g.edges), compare_edges);
        draw(t, &g, least_ns);
        return 0;
}

const Exporter exporter_dot = {
        .name = "dot",
        .summary = "a graph of functions, for graphviz",
        .has_tree = true,
        .end = dot_end,
};
