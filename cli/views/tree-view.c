/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The tree is walked callers first; JSON remembers for each level the list that is being added to. */

#include "base/array.h"
#include "cli/views/views.h"

static uint64_t total_of(const TreeView *v, const CallNode *n) {
        return v->cost ? floor_likely_ns(v->cost, n->total_ns, n->n, n->n_below) : n->total_ns;
}

static uint64_t self_of(const TreeView *v, const CallNode *n) {
        uint64_t n_children = n->n_left_out;

        if (!v->cost)
                return n->self_ns;
        for (const CallNode *c = n->children; c; c = c->next)
                n_children += c->n;
        return floor_likely_ns(v->cost, n->self_ns, n->n, n_children);
}

static bool is_hot(const CallNode *node) {
        for (; node->parent; node = node->parent)
                if (node != node->parent->children)
                        return false;
        return true;
}

static const CallNode *next_shown(TreeView *v, const CallNode *node) {
        bool is_end = v->depth > 0 && node->level >= v->depth;

        node = is_end ? call_node_skip(v->root, node) : call_node_next(v->root, node);
        while (node && node->total_ns < v->min_ns) {
                v->n_left_out++;
                node = call_node_skip(v->root, node);
        }
        return node;
}

/* What the only callee of @node that is shown does, that is called as often, stands in one line with it, unless that
 * would hide own time of what is shown. */
static const CallNode *folded(const TreeView *v, const CallNode *node) {
        const CallNode *c = node->children;
        bool is_only = c && c->n == node->n && c->total_ns >= v->min_ns &&
                       (!c->next || c->next->total_ns < v->min_ns);

        return is_only && node->self_ns < v->min_ns && (v->depth == 0 || node->level < v->depth)
                       ? c
                       : NULL;
}

/* "> a > b  (interrupt)"; the last of them. */
static const CallNode *tell_names(Row r, TreeView *v, const CallNode *node) {
        _cleanup_buf_ Buf names = BUF_INIT;

        buf_adds(&names, is_hot(node) ? "> " : "  ");
        for (const CallNode *above = node->parent; above->level > 0; above = above->parent)
                buf_adds(&names, folded(v, above) ? "" : "  ");
        for (;;) {
                const CallNode *next = folded(v, node);

                buf_printf(&names, "%s%s%s%s", node->function->label,
                           TABLE_MARK(&r.table->marks, node->n_unhooked),
                           node->is_irq ? "  (interrupt)" : "", node->n_cut > 0 ? "  (cut)" : "");
                if (!next)
                        break;
                buf_adds(&names, " > ");
                node = next_shown(v, node); /* which counts what it leaves out */
        }
        row_cell(r, "3  FUNCTION", "%.*s", (int) names.n_data, names.data);
        return node;
}

/* @last: it, or where the line ends that it begins. */
static void tell(Row r, const TreeView *v, const CallNode *node, const CallNode *last) {
        uint64_t total_ns = total_of(v, node), average_ns = node->n > 0 ? total_ns / node->n : 0;

        row_function(r, NULL, node->function);
        row_place(r, node->function);
        if (r.is_text && call_node_is_uncounted(node)) {
                row_cell(r, "2>CALLS", " ");
                row_cell(r, "1>SELF", " ");
                row_cell(r, "2?>AVG", " ");
        } else {
                row_count(r, "2>CALLS", "count", node->n);
                row_time(r, "1>SELF", "self_ns", self_of(v, last));
                row_time(r, "2?>AVG", "avg_ns", average_ns);
        }
        row_int(r, "cut", (int64_t) node->n_cut);
        row_time(r, ">TOTAL", "total_ns", total_ns);
        row_share(r, "?>TOTAL%", NULL, (double) total_ns, (double) MAX(v->total_ns, UINT64_C(1)));
        row_int(r, "min_ns", node->min_ns > node->max_ns ? 0 : (int64_t) node->min_ns);
        row_int(r, "max_ns", (int64_t) node->max_ns);
        row_int(r, "blocked_ns", (int64_t) node->blocked_ns);
        row_int(r, "below", (int64_t) node->n_below);
        row_bool(r, "interrupt", node->is_irq);
        row_bool(r, "hottest", is_hot(node));
        if (!r.is_text)
                row_json(r, "children", json_array());
}

int tree_view_tell(TreeView *v, Table *t) {
        _cleanup_free_ json_t **lists = NULL;
        size_t n_room = 0;

        for (const CallNode *n = next_shown(v, v->root); n; n = next_shown(v, n)) {
                size_t level = (size_t) n->level;
                const CallNode *last;
                Row r;

                if (!ARRAY_ROOM(lists, n_room, level + 1))
                        return -ENOMEM;
                r = level > 1 && t->list ? row_of_json() : table_row(t);
                last = t->list ? n : tell_names(r, v, n);
                tell(r, v, n, last);
                if (level > 1 && t->list)
                        (void) json_array_append_new(lists[level - 1], r.json);
                lists[level] = json_object_get(r.json, "children");
                n = last;
        }
        return t->error;
}

TreeView tree_view_of(const CallNode *root, const FloorCost *cost, uint64_t min_ppm) {
        TreeView v = {
                .root = root,
                .cost = cost,
                .min_ns = (uint64_t) ((double) root->total_ns * (double) min_ppm / 1e6),
        };

        for (const CallNode *c = root->children; c; c = c->next)
                v.total_ns += total_of(&v, c);
        return v;
}
