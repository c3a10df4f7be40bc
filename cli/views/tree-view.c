/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Both walk the tree in the same way, callers first; JSON remembers for each level the list that is
 * being added to. */

#include "base/array.h"
#include "cli/views/tree-view.h"

static uint64_t total_of(const TreeView *v, const CallNode *n) {
        return v->cost ? floor_likely_ns(v->cost, n->total_ns, n->n, n->n_below) : n->total_ns;
}

static uint64_t self_of(const TreeView *v, const CallNode *n) {
        uint64_t n_children = 0;

        if (!v->cost)
                return n->self_ns;
        for (const CallNode *c = n->children; c; c = c->next)
                n_children += c->n;
        return floor_likely_ns(v->cost, n->self_ns, n->n, n_children);
}

/* Whether @node is drawn, but not what is below it. */
static bool is_end(const TreeView *v, const CallNode *node) {
        return v->depth > 0 && node->level >= v->depth;
}

static bool is_hot(const CallNode *node) {
        for (; node->parent; node = node->parent)
                if (node != node->parent->children)
                        return false;
        return true;
}

static const CallNode *next_shown(TreeView *v, const CallNode *node) {
        node = is_end(v, node) ? call_node_skip(v->root, node) : call_node_next(v->root, node);
        while (node && node->total_ns < v->min_ns) {
                v->n_left_out++;
                node = call_node_skip(v->root, node);
        }
        return node;
}

static uint64_t average(uint64_t ns, uint64_t n) {
        return n > 0 ? ns / n : 0;
}

static void add_node(const TreeView *v, Table *t, const CallNode *node) {
        _cleanup_free_ char *label = strndup(node->function->label, node->function->n_label);
        uint64_t total_ns = total_of(v, node);

        table_add_time(t, total_ns);
        table_add(t, "%.1f%%", 100.0 * (double) total_ns / (double) MAX(v->total_ns, UINT64_C(1)));
        table_add_time(t, self_of(v, node));
        table_add(t, "%llu", (unsigned long long) node->n);
        table_add_time(t, average(total_ns, node->n));
        table_add(t, "%s%*s%s%s%s%s", is_hot(node) ? "> " : "  ", 2 * (node->level - 1), "",
                  label ?: "", TABLE_MARK(&t->marks, node->n_unhooked),
                  node->is_irq ? "  (interrupt)" : "", node->n_cut > 0 ? "  (cut)" : "");
}

size_t tree_view_add(TreeView *v, Table *t) {
        size_t n = 0;

        for (const CallNode *node = next_shown(v, v->root); node; node = next_shown(v, node), n++)
                add_node(v, t, node);
        return n;
}

static json_t *node_json(const TreeView *v, const CallNode *node) {
        uint64_t total_ns = total_of(v, node);

        return table_function_pack(
                node->function, "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:[]}",
                "count", (json_int_t) node->n, "cut", (json_int_t) node->n_cut, "self_ns",
                (json_int_t) self_of(v, node), "total_ns", (json_int_t) total_ns, "avg_ns",
                (json_int_t) average(total_ns, node->n), "min_ns",
                (json_int_t) (node->min_ns > node->max_ns ? 0 : node->min_ns), "max_ns",
                (json_int_t) node->max_ns, "blocked_ns", (json_int_t) node->blocked_ns, "below",
                (json_int_t) node->n_below, "interrupt", node->is_irq, "hottest", is_hot(node),
                "children");
}

json_t *tree_view_json(TreeView *v) {
        json_t *top = json_array(), **lists = NULL;
        size_t n_room = 0;

        for (const CallNode *n = next_shown(v, v->root); n; n = next_shown(v, n)) {
                size_t level = (size_t) n->level;
                json_t *o = node_json(v, n);

                if (!ARRAY_ROOM(lists, n_room, level + 1)) {
                        json_decref(o);
                        json_decref(top);
                        top = NULL;
                        break;
                }
                (void) json_array_append_new(level == 1 ? top : lists[level - 1], o);
                lists[level] = json_object_get(o, "children");
        }
        free(lists);
        return top;
}

void tree_view_init(TreeView *ret, const Options *o, const CallNode *root, const FloorCost *cost,
                    uint64_t min_ppm) {
        if (o->analysis.min_ppm != UINT64_MAX)
                min_ppm = o->analysis.min_ppm;
        *ret = (TreeView){
                .root = root,
                .cost = cost,
                .min_ns = (uint64_t) ((double) root->total_ns * (double) min_ppm / 1e6),
                .depth = o->analysis.callers.n > 0
                                 ? (int32_t) MIN(o->spec.depth, (uint64_t) INT32_MAX)
                                 : 0,
        };
        for (const CallNode *c = root->children; c; c = c->next)
                ret->total_ns += total_of(ret, c);
}
