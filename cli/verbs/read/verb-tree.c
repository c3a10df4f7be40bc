/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The tree of all calls, merged: a line for each path of callers.  With --callers it stands on its
 * head. */

#include "calls/census.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

#define MIN_PPM_DEFAULT 5000

static int show(const Options *o, const Counting *counting, CallTree *tree) {
        const FloorCost *cost = o->analysis.corrected ? &counting->overhead.cost : NULL;
        uint64_t said_ppm = o->analysis.min_ppm;
        uint64_t default_ppm = o->json != JSON_OFF ? 0 : MIN_PPM_DEFAULT;
        TreeView v = tree_view_of(call_tree_root(tree), cost,
                                  said_ppm != UINT64_MAX ? said_ppm : default_ppm);
        _cleanup_table_ Table t = {};
        int status;

        if (o->analysis.callers.n > 0)
                v.depth = (int32_t) MIN(o->spec.depth, (uint64_t) INT32_MAX);
        table_begin(&t, o->json);
        status = counting_status(tree_view_tell(&v, &t));
        if (status != STATUS_OK)
                return status;
        if (o->json == JSON_OFF)
                status = counting_show(counting, &t, "");
        else
                status = stdout_json(
                        o, json_pack("{s:I, s:b, s:o, s:o}", "total_ns", (json_int_t) v.total_ns,
                                     "corrected", cost != NULL, "tracing",
                                     counting_cost_json(counting), "tree", TAKE_PTR(t.list)));
        if (status == STATUS_OK && v.n_left_out > 0 && said_ppm == UINT64_MAX)
                talk(o, "What took less than %.1f %% is left out; --min=0 shows all.",
                     MIN_PPM_DEFAULT / 1e4);
        return status;
}

static bool is_chosen(void *userdata, const Function *function) {
        return name_set_has(userdata, function) > 0;
}

static int turn(CallTree **ret, CallTree *tree, const Options *o) {
        const Strv *patterns = &o->analysis.callers;
        _cleanup_(name_set_done) NameSet names = { .patterns = patterns };
        int r = call_tree_callers(ret, tree, is_chosen, &names);

        if (r < 0 || call_tree_root(*ret)->children)
                return counting_status(r);
        return chosen_not_found(&(Chosen){ .source = o->words.items[0], .patterns = *patterns }, o);
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
        status = counting_status(r)
                         ?: counting_read(&counting, &reading_options, o->words.items[0])
                         ?: counting_status(call_tree_finish(tree));
        if (status == STATUS_OK && o->analysis.callers.n > 0)
                status = turn(&turned, tree, o);
        if (status == STATUS_OK)
                status = show(o, &counting, turned ?: tree);
        return status == STATUS_OK ? counting_end(&counting) : status;
}
