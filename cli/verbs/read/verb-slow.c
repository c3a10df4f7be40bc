/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The outermost calls that took longest: when and whose, what they spent that a usual one does not,
 * and the tree of each. */

#include "base/name.h"
#include "causes/outliers.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

#define N_DEFAULT 10
#define N_MAX 10000
#define MIN_PPM_DEFAULT 50000
#define DIFFERENCES_SHOWN 5

/* --- drawn ------------------------------------------------------------------------------------ */

static void add_title(Buf *out, const Reading *reading, const Outliers *outliers, size_t i) {
        const Invocation *v = outliers->slowest[i], *usual = outliers_usual(outliers, v);
        const Quantiles *quantiles = outliers_quantiles(outliers, v);
        size_t from = out->n_data;

        buf_printf(out, "%zu. %s took %s, call %s", i + 1, NAME_QUOTED(v->root->label),
                   FIGURE_BOUNDS(v->duration_ns, v->most_ns),
                   FORMAT_COUNT(reading->o->filter.nth ?: v->number));
        buf_printf(out, ", at %s on CPU %u", SUMMARY_MOMENT(reading_meta(reading), v->start_ns, 6),
                   v->cpu);
        if (*v->comm)
                buf_printf(out, ", %s", NAME_QUOTED(v->comm));
        if (v->pid >= 0)
                buf_printf(out, "-%d", v->pid);
        if (v->blocked_ns > 0)
                buf_printf(out, "; waited %s", FIGURE_ROUND(v->blocked_ns));
        if (v->irq_ns > 0)
                buf_printf(out, "; interrupts took %s", FIGURE_ROUND(v->irq_ns));
        if (v->object)
                buf_printf(out, "; %s", object_text(v->object));
        buf_adds(out, "\n");
        if (v->callers)
                buf_printf(out, "   %s\n", v->callers->text);
        if (v->program)
                buf_printf(out, "   %s\n", v->program->text);
        if (usual && quantiles->n >= 2) {
                buf_printf(out, "   The median of %s calls is %s", FORMAT_COUNT(quantiles->n),
                           FIGURE_ROUND(quantiles_at(quantiles, 500)));
                buf_printf(out, "; call %s took %s, and this one differs in\n",
                           FORMAT_COUNT(usual->number), FIGURE_ROUND(usual->duration_ns));
        }
        terminal_fold(out, from, 3);
}

/* What it has that the usual one has not; JSON has all of it.  0 or -errno. */
static int tell_differences(Table *t, const Invocation *v, const Invocation *usual) {
        _cleanup_(why_freep) Why *w = NULL;
        int r = why_new_of_two(&w, v->tree, usual->tree);

        if (r < 0)
                return r;
        why_view_tell_causes(w, t, t->list ? SIZE_MAX : DIFFERENCES_SHOWN, t->list != NULL);
        return t->error;
}

static int tell_tree(Table *t, const Counting *counting, const Invocation *v) {
        const Options *o = counting->reading.o;
        uint64_t default_ppm = t->list ? 0 : MIN_PPM_DEFAULT, said_ppm = o->analysis.min_ppm;
        TreeView view = tree_view_of(call_tree_root(v->tree),
                                     o->analysis.corrected ? &counting->overhead.cost : NULL,
                                     said_ppm != UINT64_MAX ? said_ppm : default_ppm);

        return tree_view_tell(&view, t);
}

static int add_one(Buf *out, const Counting *counting, const Outliers *outliers, TableMarks *marks,
                   size_t i) {
        bool legend = !counting->reading.o->no_legend;
        const Invocation *v = outliers->slowest[i], *usual = outliers_usual(outliers, v);
        _cleanup_table_ Table differences = {}, tree = {};
        int r = 0;

        buf_adds(out, i > 0 ? "\n" : "");
        add_title(out, &counting->reading, outliers, i);
        if (usual) {
                table_begin(&differences, JSON_OFF);
                r = tell_differences(&differences, v, usual)
                            ?: table_print(&differences, out, legend);
        }
        table_begin(&tree, JSON_OFF);
        tree.marks = *marks;
        if (r >= 0)
                r = tell_tree(&tree, counting, v) ?: table_print(&tree, out, legend);
        *marks = tree.marks;
        return r;
}

static int print(const Counting *counting, const Outliers *outliers) {
        const Options *o = counting->reading.o;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        TableMarks marks = {};
        int r = 0;

        pager_open(&pager, o, SIZE_MAX);
        if (!o->no_legend)
                counting_headline(counting, &out);
        for (size_t i = 0; i < outliers->n && r >= 0; i++)
                r = add_one(&out, counting, outliers, &marks, i);
        if (!o->no_legend)
                table_explain(&marks, &out);
        return stdout_paged(&pager, &out, r);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static int tell(Row r, const Counting *counting, const Outliers *outliers, const Invocation *v) {
        const Options *o = counting->reading.o;
        const Invocation *usual = outliers_usual(outliers, v);
        const Quantiles *quantiles = outliers_quantiles(outliers, v);
        _cleanup_table_ Table differences, tree;
        int e;

        table_begin(&differences, o->json);
        table_begin(&tree, o->json);
        e = tell_tree(&tree, counting, v);
        if (usual && e >= 0)
                e = tell_differences(&differences, v, usual);
        row_function(r, NULL, v->root);
        row_int(r, "number", (int64_t) (o->filter.nth ?: v->number));
        row_int(r, "start_ns", (int64_t) v->start_ns);
        row_int(r, "duration_ns", (int64_t) v->duration_ns);
        row_int(r, "blocked_ns", (int64_t) v->blocked_ns);
        row_int(r, "irq_ns", (int64_t) v->irq_ns);
        row_int(r, "cpu", v->cpu);
        row_task(r, NULL, v->comm, v->pid);
        row_bool(r, "cut", v->is_cut);
        row_known_int(r, "most_ns", v->most_ns != UINT64_MAX, (int64_t) v->most_ns);
        row_object(r, v->object);
        row_string(r, NULL, "callers", v->callers ? callers_names(v->callers) : NULL);
        row_string(r, NULL, "stack", v->program ? callers_names(v->program) : NULL);
        row_known_int(r, "median_ns", quantiles,
                      quantiles ? (int64_t) quantiles_at(quantiles, 500) : 0);
        row_known_int(r, "usual_ns", usual, usual ? (int64_t) usual->duration_ns : 0);
        row_json(r, "left_out", idle_json(&outliers->idle));
        row_json(r, "differences", usual ? TAKE_PTR(differences.list) : json_null());
        row_json(r, "tree", TAKE_PTR(tree.list));
        return e;
}

static int print_json(const Counting *counting, const Outliers *outliers) {
        const Options *o = counting->reading.o;
        _cleanup_table_ Table t;
        int r = 0;

        table_begin(&t, o->json);
        for (size_t i = 0; i < outliers->n && r >= 0; i++)
                r = tell(table_row(&t), counting, outliers, outliers->slowest[i]);
        return counting_status(r) ?: table_show(&t, o, NULL);
}

/* --- all of it -------------------------------------------------------------------------------- */

int verb_slow(const Options *o) {
        _cleanup_counting_ Counting counting = {};
        _cleanup_(outliers_freep) Outliers *outliers = NULL;
        size_t n = o->limit > 0 ? (size_t) MIN(o->limit, (uint64_t) N_MAX) : N_DEFAULT;
        int r = counting_init(&counting, true) ?: outliers_new(&outliers, counting.pairing, n);
        int status = counting_status(r);

        if (status == STATUS_OK) {
                outliers->idle.is_wanted = o->filter.roots.n == 0;
                status = counting_read(&counting, o, o->words.items[0])
                                 ?: counting_status(outliers_finish(outliers));
        }
        if (status != STATUS_OK)
                return status;
        status = o->json != JSON_OFF ? print_json(&counting, outliers) : print(&counting, outliers);
        counting_say_own_work(&counting);
        idle_say(o, &outliers->idle);
        return status == STATUS_OK ? counting_end(&counting) : status;
}
