/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The tree of all calls, merged: a line for each path of callers.  With --callers it stands on its
 * head. */

#include "analyze/call-tree.h"
#include "base/name.h"
#include "calls/name-set.h"
#include "cli/options/verb.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"
#include "cli/views/tree-view.h"

#define MIN_PPM_DEFAULT 5000

static int print_table(const Options *o, const Counting *counting, TreeView *v) {
        _cleanup_table_ Table t = {};

        table_init(&t, TREE_VIEW_TITLES);
        (void) tree_view_add(v, &t);
        return counting_print(counting, o, &t);
}

static int print_json(const Options *o, const Counting *counting, TreeView *v) {
        return stdout_json(o,
                           json_pack("{s:I, s:b, s:o, s:o}", "total_ns", (json_int_t) v->total_ns,
                                     "corrected", v->cost != NULL, "tracing",
                                     counting_cost_json(counting), "tree", tree_view_json(v)));
}

static int show(const Options *o, const Counting *counting, CallTree *tree) {
        bool as_json = o->json != JSON_OFF;
        TreeView v;
        int status;

        tree_view_init(&v, o, call_tree_root(tree),
                       o->analysis.corrected ? &counting->overhead.cost : NULL,
                       as_json ? 0 : MIN_PPM_DEFAULT);
        status = as_json ? print_json(o, counting, &v) : print_table(o, counting, &v);
        if (status == STATUS_OK && v.n_left_out > 0 && o->analysis.min_ppm == UINT64_MAX)
                talk(o, "What took less than %.1f %% is left out; --min=0 shows all.",
                     MIN_PPM_DEFAULT / 1e4);
        return status;
}

static bool is_chosen(void *userdata, const Function *function) {
        return name_set_has(userdata, function) > 0;
}

static int turn(CallTree **ret, CallTree *tree, const Options *o) {
        const Strv *patterns = &o->analysis.callers;
        _cleanup_free_ char *said = options_said_filters(o);
        _cleanup_(name_set_done) NameSet names = { .patterns = patterns };
        int r = call_tree_callers(ret, tree, is_chosen, &names);

        if (r < 0)
                return counting_failure(r);
        if (call_tree_root(*ret)->children)
                return STATUS_OK;
        return failed(STATUS_NOT_FOUND, "there are no calls of \"%s\" in \"%s\"%s.",
                      NAME_QUOTED(patterns->items[0]), o->words.items[0], said ?: "");
}

int verb_tree(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(call_tree_freep) CallTree *tree = NULL, *turned = NULL;
        Options reading_options = *o;
        int r, status;

        /* Upside down, levels are counted from the other end. */
        if (o->analysis.callers.n > 0)
                reading_options.spec.depth = 0;
        r = counting_init(&counting, true) ?: call_tree_new(&tree, counting.pairing);
        status = r < 0 ? counting_failure(r)
                       : counting_read(&counting, &reading_options, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        r = call_tree_finish(tree);
        if (r < 0)
                return counting_failure(r);
        if (o->analysis.callers.n > 0)
                status = turn(&turned, tree, o);
        if (status == STATUS_OK)
                status = show(o, &counting, turned ?: tree);
        return status == STATUS_OK ? counting_end(&counting, o) : status;
}
