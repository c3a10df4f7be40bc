/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The outermost calls that took longest: when and whose, what they spent that a usual one does not,
 * and the tree of each. */

#include "analyze/outliers.h"
#include "base/name.h"
#include "cli/options/verb.h"
#include "cli/terminal/table.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"
#include "cli/views/tree-view.h"
#include "cli/views/why-view.h"

#define N_DEFAULT 10
#define N_MAX 10000
#define MIN_PPM_DEFAULT 50000
#define DIFFERENCES_SHOWN 5

/* --- drawn ------------------------------------------------------------------------------------ */

static void add_title(Buf *out, const Options *o, const SessionMeta *m, const Outliers *outliers,
                      size_t i) {
        const Invocation *v = outliers_get(outliers, i), *usual = outliers_usual(outliers, v);
        const Quantiles *quantiles = outliers_quantiles(outliers, v);

        buf_printf(out, "%zu. %s took %s%s, call %s", i + 1, NAME_QUOTED(v->root->label),
                   FIGURE_ROUND(v->duration_ns), v->is_cut ? " or longer" : "",
                   FORMAT_COUNT(o->filter.nth ?: v->number));
        buf_printf(out, ", at %s on CPU %u", SUMMARY_MOMENT(m, v->start_ns, 6), v->cpu);
        if (*v->comm)
                buf_printf(out, ", %s", NAME_QUOTED(v->comm));
        if (v->pid >= 0)
                buf_printf(out, "-%d", v->pid);
        if (v->blocked_ns > 0)
                buf_printf(out, "; waited %s", FIGURE_ROUND(v->blocked_ns));
        if (v->irq_ns > 0)
                buf_printf(out, "; interrupts took %s", FIGURE_ROUND(v->irq_ns));
        buf_adds(out, "\n");
        if (!usual || quantiles->n < 2)
                return;
        buf_printf(out, "   The median of %s calls is %s", FORMAT_COUNT(quantiles->n),
                   FIGURE_ROUND(quantiles_at(quantiles, 500)));
        buf_printf(out, "; call %s took %s, and this one differs in\n", FORMAT_COUNT(usual->number),
                   FIGURE_ROUND(usual->duration_ns));
}

static int add_differences(Buf *out, const Options *o, const Invocation *v,
                           const Invocation *usual) {
        _cleanup_(why_freep) Why *w = NULL;
        int r = why_new_of_two(&w, v->tree, usual->tree);

        return r < 0 ? r : why_view_add_causes(out, o, w, DIFFERENCES_SHOWN);
}

static int add_one(Buf *out, const Options *o, const Counting *counting, const Outliers *outliers,
                   TableMarks *marks, size_t i) {
        const Invocation *v = outliers_get(outliers, i), *usual = outliers_usual(outliers, v);
        _cleanup_table_ Table t = {};
        TreeView view;
        int r = 0;

        buf_adds(out, i > 0 ? "\n" : "");
        add_title(out, o, reading_meta(&counting->reading), outliers, i);
        if (usual)
                r = add_differences(out, o, v, usual);
        if (r < 0)
                return r;
        tree_view_init(&view, o, call_tree_root(v->tree),
                       o->analysis.corrected ? &counting->overhead.cost : NULL, MIN_PPM_DEFAULT);
        table_init(&t, TREE_VIEW_TITLES);
        t.marks = *marks;
        if (tree_view_add(&view, &t) > 0)
                r = table_print(&t, out, !o->no_legend);
        *marks = t.marks;
        return r;
}

static int print(const Options *o, const Counting *counting, const Outliers *outliers) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        TableMarks marks = {};
        int r = 0;

        pager_open(&pager, o, SIZE_MAX);
        if (!o->no_legend)
                counting_headline(counting, &out);
        for (size_t i = 0; i < outliers_n(outliers) && r >= 0; i++)
                r = add_one(&out, o, counting, outliers, &marks, i);
        if (!o->no_legend)
                table_explain(&marks, &out);
        return stdout_paged(&pager, &out, r);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *differences_json(const Invocation *v, const Invocation *usual) {
        _cleanup_(why_freep) Why *w = NULL;

        if (!usual || why_new_of_two(&w, v->tree, usual->tree) < 0)
                return json_null();
        return why_view_causes_json(w, 0);
}

static json_t *invocation_json(const Options *o, const Counting *counting, const Outliers *outliers,
                               const Invocation *v) {
        const Invocation *usual = outliers_usual(outliers, v);
        const Quantiles *quantiles = outliers_quantiles(outliers, v);
        TreeView view;

        tree_view_init(&view, o, call_tree_root(v->tree),
                       o->analysis.corrected ? &counting->overhead.cost : NULL, 0);
        return table_function_pack(
                v->root, "{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:o}",
                "number", (json_int_t) (o->filter.nth ?: v->number), "start_ns",
                (json_int_t) v->start_ns, "duration_ns", (json_int_t) v->duration_ns, "blocked_ns",
                (json_int_t) v->blocked_ns, "irq_ns", (json_int_t) v->irq_ns, "cpu",
                (json_int_t) v->cpu, "task", table_comm_json(v->comm), "pid",
                table_pid_json(v->pid), "cut", v->is_cut, "median_ns",
                quantiles ? json_integer((json_int_t) quantiles_at(quantiles, 500)) : json_null(),
                "usual_ns", usual ? json_integer((json_int_t) usual->duration_ns) : json_null(),
                "differences", differences_json(v, usual), "tree", tree_view_json(&view));
}

static int print_json(const Options *o, const Counting *counting, const Outliers *outliers) {
        json_t *list = json_array();

        for (size_t i = 0; i < outliers_n(outliers); i++)
                (void) json_array_append_new(
                        list, invocation_json(o, counting, outliers, outliers_get(outliers, i)));
        return stdout_json(o, list);
}

/* --- all of it -------------------------------------------------------------------------------- */

int verb_slow(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(outliers_freep) Outliers *outliers = NULL;
        size_t n = o->limit > 0 ? (size_t) MIN(o->limit, (uint64_t) N_MAX) : N_DEFAULT;
        int r = counting_init(&counting, true) ?: outliers_new(&outliers, counting.pairing, n),
            status;

        status = r < 0 ? counting_failure(r) : counting_read(&counting, o, o->words.items[0]);
        if (status != STATUS_OK)
                return status;
        r = outliers_finish(outliers);
        if (r < 0)
                return counting_failure(r);
        status = o->json != JSON_OFF ? print_json(o, &counting, outliers)
                                     : print(o, &counting, outliers);
        counting_say_own_work(&counting, o);
        return status == STATUS_OK ? counting_end(&counting, o) : status;
}
