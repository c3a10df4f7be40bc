/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * "udp_sendmsg;ip_make_skb 180", the stack and its own time
 *
 * The own time of calls that were cut is in a line of its own, "udp_sendmsg;(cut) 20": so a caller has in
 * every program what its calls took, and what of it are lower bounds can be seen, and left out.  So has
 * what may be the time of functions below that were not hooked: "udp_sendmsg;(own or 12 not hooked below) 60".
 *
 * Paths are as long as trees are deep.  What is more than these for a node on average is left out,
 * beginning with what took least, and counted under its caller as "(smaller)": no real recording
 * comes near.
 */

#include "base/array.h"
#include "encode/escape.h"
#include "export/exporter.h"

#define FOLDED_FIXED_BYTES ((uint64_t) 512 << 10)
#define FOLDED_NODE_BYTES 2048
#define FIGURE_BYTES 60
#define CUT_FRAME ";(cut) "

/* The path to a node, as the nodes are visited one after the other. */
typedef struct Path {
        Buf text;
        size_t *ends; /* by level */
        size_t n_room;
} Path;

static void path_done(Path *p) {
        buf_done(&p->text);
        free(p->ends);
}

/* 0 or -ENOMEM. */
static int path_enter(Path *p, const CallNode *n) {
        size_t level = (size_t) n->level;

        if (!ARRAY_ROOM(p->ends, p->n_room, level + 1))
                return -ENOMEM;
        p->text.n_data = level > 1 ? p->ends[level - 1] : 0;
        buf_adds(&p->text, level > 1 ? ";" : "");
        escape_folded(&p->text, n->function->label, n->function->n_label);
        p->ends[level] = p->text.n_data;
        return p->text.error;
}

/* What a node must have taken so that all that have fit. */
static int find_least(const CallTree *t, const CallNode *root, uint64_t *ret) {
        _cleanup_(path_done) Path path = { .text = BUF_INIT };
        uint64_t n_bytes[65] = {}, sum = 0, most;
        unsigned i = ELEMENTSOF(n_bytes);
        int r = 0;

        most = FOLDED_FIXED_BYTES + FOLDED_NODE_BYTES * (uint64_t) call_tree_n_nodes(t);
        for (const CallNode *n = call_node_next(root, root); n && r >= 0;
             n = call_node_next(root, n)) {
                r = path_enter(&path, n);
                n_bytes[n->share_ns > 0 ? 64 - __builtin_clzll(n->share_ns) : 0] +=
                        (path.text.n_data + FIGURE_BYTES) * (n->n_cut > 0 ? 2 : 1);
        }
        while (i > 0 && sum + n_bytes[i - 1] <= most)
                sum += n_bytes[--i];
        *ret = i > 0 ? UINT64_C(1) << (i - 1) : 0;
        return r;
}

static void add_stack(Buf *out, const Path *path, const char *more, uint64_t ns) {
        buf_add(out, path->text.data, path->text.n_data);
        buf_adds(out, more);
        escape_u64(out, ns);
        buf_add(out, "\n", 1);
}

static int folded_end(void *p) {
        _cleanup_(path_done) Path path = { .text = BUF_INIT };
        ExportState *t = p;
        const CallNode *root = call_tree_root(t->tree), *n = call_node_next(root, root);
        uint64_t least_ns = 0;
        int r = find_least(t->tree, root, &least_ns);

        while (n && r >= 0) {
                char own[UNHOOKED_TEXT_MAX + 16];
                uint64_t rest_ns = 0;

                if (n->share_ns < least_ns) {
                        n = call_node_skip(root, n);
                        continue;
                }
                r = path_enter(&path, n);
                (void) snprintf(own, sizeof(own), "%s%s%s",
                                unhooked_is_none(n->n_unhooked) ? "" : ";(own or ",
                                UNHOOKED_NOTE(n->n_unhooked),
                                unhooked_is_none(n->n_unhooked) ? " " : ") ");
                if (n->self_ns > n->cut_self_ns)
                        add_stack(t->out, &path, own, n->self_ns - n->cut_self_ns);
                if (n->n_cut > 0)
                        add_stack(t->out, &path, CUT_FRAME, n->cut_self_ns);
                for (const CallNode *c = n->children; c; c = c->next)
                        rest_ns += c->share_ns < least_ns ? c->share_ns : 0;
                if (rest_ns > 0)
                        add_stack(t->out, &path, ";(smaller) ", rest_ns);
                n = call_node_next(root, n);
        }
        return r;
}

const Exporter exporter_folded = {
        .name = "folded",
        .summary = "a stack a line with its own nanoseconds, as flamegraph.pl and others read them",
        .has_tree = true,
        .end = folded_end,
};
