/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * "udp_sendmsg;ip_make_skb 180", the stack and its own time
 *
 * The own time of calls that were cut is in a line of its own, "udp_sendmsg;(cut) 20": so a caller has in
 * every program what its calls took, and what of it are lower bounds can be seen, and left out.  So has
 * what may be the time of functions below that were not hooked: "udp_sendmsg;(own or 12 not hooked below) 60".
 *
 * Paths are as long as trees are deep: what is below LEVELS_MAX, deeper than any kernel's stack, is counted
 * under its caller as "(deeper)".
 */

#include "encode/escape.h"
#include "export/exporter.h"

#define LEVELS_MAX 256
#define CUT_FRAME ";(cut) "

/* The path to a node, as the nodes are visited one after the other. */
typedef struct Path {
        Buf text;
        size_t ends[LEVELS_MAX + 1]; /* by level */
} Path;

static int path_enter(Path *p, const CallNode *n) {
        size_t level = (size_t) n->level;

        p->text.n_data = level > 1 ? p->ends[level - 1] : 0;
        buf_adds(&p->text, level > 1 ? ";" : "");
        escape_folded(&p->text, n->function->label, n->function->n_label);
        p->ends[level] = p->text.n_data;
        return p->text.error;
}

static void add_stack(Buf *out, const Path *path, const char *more, uint64_t ns) {
        buf_add(out, path->text.data, path->text.n_data);
        buf_adds(out, more);
        escape_u64(out, ns);
        buf_add(out, "\n", 1);
}

static int folded_end(void *p) {
        Path path = { .text = BUF_INIT };
        ExportState *t = p;
        const CallNode *root = call_tree_root(t->tree), *n = call_node_next(root, root);
        int r = 0;

        while (n && r >= 0) {
                char own[UNHOOKED_TEXT_MAX + 16];
                uint64_t rest_ns = 0;

                r = path_enter(&path, n);
                (void) snprintf(own, sizeof(own), "%s%s%s",
                                unhooked_is_none(n->n_unhooked) ? "" : ";(own or ",
                                UNHOOKED_NOTE(n->n_unhooked),
                                unhooked_is_none(n->n_unhooked) ? " " : ") ");
                if (n->self_ns > n->cut_self_ns)
                        add_stack(t->out, &path, own, n->self_ns - n->cut_self_ns);
                if (n->n_cut > 0)
                        add_stack(t->out, &path, CUT_FRAME, n->cut_self_ns);
                if (n->level < LEVELS_MAX) {
                        n = call_node_next(root, n);
                        continue;
                }
                for (const CallNode *c = n->children; c; c = c->next)
                        rest_ns += c->share_ns;
                if (rest_ns > 0)
                        add_stack(t->out, &path, ";(deeper) ", rest_ns);
                n = call_node_skip(root, n);
        }
        buf_done(&path.text);
        return r;
}

const Exporter exporter_folded = {
        .name = "folded",
        .summary = "a stack a line with its own nanoseconds, as flamegraph.pl and others read them",
        .has_tree = true,
        .end = folded_end,
};
