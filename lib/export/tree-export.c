/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two of the formats that need nothing else are here: stacks, and the picture. */

#include "export/tree-export.h"
#include "export/escape.h"
#include "export/flame.h"

int tree_export_new(void **ret, const ExportInfo *info, Pairing *pairing, Buf *out) {
        TreeExport *t = malloc(sizeof(*t));

        if (!t)
                return -ENOMEM;
        *t = (TreeExport){ .info = info, .out = out };
        if (call_tree_new(&t->tree, pairing) < 0) {
                free(t);
                return -ENOMEM;
        }
        *ret = t;
        return 0;
}

void tree_export_free(void *p) {
        TreeExport *t = p;

        call_tree_free(t->tree);
        free(t);
}

/* --- folded: "udp_sendmsg;ip_make_skb 180", the stack and its own time ------------------------ */

static int folded_end(void *p) {
        TreeExport *t = p;
        _cleanup_buf_ Buf stack = BUF_INIT;
        _cleanup_free_ size_t *ends = NULL; /* of the stack, by level */
        const CallNode *root;
        size_t n_room = 0;
        int r = call_tree_finish(t->tree);

        if (r < 0)
                return r;
        root = call_tree_root(t->tree);
        for (const CallNode *n = call_node_next(root, root); n; n = call_node_next(root, n)) {
                size_t level = (size_t) n->level;

                if (level >= n_room) {
                        size_t *bigger = realloc(ends, (level + 64) * sizeof(*ends));

                        if (!bigger)
                                return -ENOMEM;
                        ends = bigger;
                        n_room = level + 64;
                }
                stack.n_data = level > 1 ? ends[level - 1] : 0;
                buf_adds(&stack, level > 1 ? ";" : "");
                escape_folded(&stack, n->function->label, n->function->n_label);
                ends[level] = stack.n_data;
                if (n->self_ns == 0)
                        continue;
                buf_add(t->out, stack.data, stack.n_data);
                buf_add(t->out, " ", 1);
                escape_u64(t->out, n->self_ns);
                buf_add(t->out, "\n", 1);
        }
        return stack.error;
}

const Exporter exporter_folded = {
        .name = "folded",
        .summary = "a stack a line with its own nanoseconds, as flamegraph.pl and others read them",
        .new = tree_export_new,
        .end = folded_end,
        .free = tree_export_free,
};

/* --- flame ------------------------------------------------------------------------------------ */

static int flame_end(void *p) {
        TreeExport *t = p;
        int r = call_tree_finish(t->tree);

        if (r < 0)
                return r;
        buf_adds(t->out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n");
        return flame_write(t->out, &(Flame){ .title = t->info->title,
                                             .tree = t->tree,
                                             .before = t->info->before,
                                             .before_title = t->info->before_title,
                                             .has_script = true });
}

const Exporter exporter_flame = {
        .name = "flame",
        .summary = "a flame graph, one SVG that any browser opens",
        .compares = true,
        .new = tree_export_new,
        .end = flame_end,
        .free = tree_export_free,
};
