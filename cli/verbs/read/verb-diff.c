/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What has changed from one recording to another: for each root that both have, how long it took, and
 * the functions below it that explain the difference, the greatest first.
 */

#include "analyze/diff.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/options/verb.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/views/counting.h"

#define LIMIT_DEFAULT 20
#define N_PATHS_DEFAULT 10
#define N_ROOTS_SAID 3

typedef struct Sides {
        const Counting *before, *now;
} Sides;

static int read_side(Counting *c, RootProfile **ret, const Options *o, const char *word) {
        int r = counting_init(c, false) ?: root_profile_new(ret, c->pairing);

        return r < 0 ? counting_failure(r) : counting_read(c, o, word);
}

/* "udp_sendmsg, tcp_sendmsg and 4 more"; the caller frees. */
static char *list_roots(const RootProfile *p) {
        _cleanup_buf_ Buf out = BUF_INIT;
        char *text;

        for (size_t i = 0; i < MIN(p->n_roots, (size_t) N_ROOTS_SAID); i++)
                buf_printf(&out, "%s%.*s", i > 0 ? ", " : "", (int) p->roots[i].function->n_name,
                           p->roots[i].function->label);
        if (p->n_roots > N_ROOTS_SAID)
                buf_printf(&out, " and %zu more", p->n_roots - N_ROOTS_SAID);
        if (p->n_roots == 0)
                buf_adds(&out, "no calls");
        return buf_take_string(&out, &text) < 0 ? NULL : text;
}

static int no_common_root(const Options *o, const RootProfile *before, const RootProfile *now) {
        _cleanup_free_ char *a = list_roots(before), *b = list_roots(now);

        return failed(STATUS_NOT_FOUND,
                      "%s and %s have no outermost function in common (%s; %s); --root=FUNCTION "
                      "compares calls of one that both have.",
                      o->words.items[0], o->words.items[1], a ?: "", b ?: "");
}

/* --- as text ---------------------------------------------------------------------------------- */

static void add_change(Table *t, double ns) {
        table_add(t, "%s", FIGURE_CHANGE(ns));
}

static void add_side(Table *t, const DiffSide *side) {
        if (side->function)
                table_add(t, "%s", FIGURE_MEAN(side->self_ns));
        else
                table_add(t, "-");
}

/* Whether the side that has none of its calls may lack them because it was not hooked there. */
static bool may_lack(const DiffFunction *f, const Sides *s) {
        const Function *function = f->now.function ?: f->before.function;
        _cleanup_free_ char *name = strndup(function->label, function->n_name);
        const SessionMeta *m =
                reading_meta(f->kind == DIFF_NEW ? &s->before->reading : &s->now->reading);

        return m && name && (f->kind == DIFF_NEW || f->kind == DIFF_GONE) &&
               unhooked_may_lack(m, name);
}

static int32_t n_unhooked_of(const DiffFunction *f) {
        const Function *before = f->before.function, *now = f->now.function;

        return before && now ? MAX(before->n_unhooked, now->n_unhooked)
                             : (now ?: before)->n_unhooked;
}

/* As in a tree; a function that interrupts call besides has a row for that. */
static void add_function(Table *t, const DiffFunction *f, const Sides *s) {
        const Function *function = f->now.function ?: f->before.function;

        table_add(t, "%s%s%s%s", NAME_QUOTED(function->label),
                  TABLE_MARK(&t->marks, n_unhooked_of(f)),
                  !may_lack(f, s)       ? ""
                  : f->kind == DIFF_NEW ? "  (perhaps not hooked before)"
                                        : "  (perhaps not hooked now)",
                  f->is_irq   ? "  (interrupt)"
                  : f->in_irq ? "  (in an interrupt)"
                              : "");
}

static void add_calls(Table *t, const DiffSide *side) {
        if (side->function)
                table_add(t, "%.2f", side->calls);
        else
                table_add(t, "-");
}

/* Whether it is worth a line. */
static bool is_shown(const DiffRoot *root, const DiffFunction *f) {
        if (f->kind == DIFF_NEW || f->kind == DIFF_GONE)
                return f->is_top && (f->p < DIFF_P_MAX || !root->is_enough);
        return f->kind == DIFF_CHANGED ||
               (!root->is_enough && (f->change_ns >= 1 || f->change_ns <= -1));
}

static const char *describe_chance(const DiffRoot *root, char text[static 48]) {
        if (!root->is_enough)
                return ", too few to tell a change from chance";
        if (root->p < DIFF_P_MAX)
                return ", p < 0.001";
        (void) snprintf(text, 48, ", which may be chance: p = %.3f", root->p);
        return text;
}

static void print_headline(Buf *out, const DiffRoot *root) {
        double change = (double) root->median_now_ns - (double) root->median_before_ns;
        char chance[48];

        buf_printf(out, "%.*s: median %s -> %s (%s", (int) root->now->n_name, root->now->label,
                   FIGURE_ROUND(root->median_before_ns), FIGURE_ROUND(root->median_now_ns),
                   FIGURE_CHANGE(change));
        if (root->median_before_ns > 0)
                buf_printf(out, ", %+.0f %%", 100 * change / (double) root->median_before_ns);
        buf_printf(out, ") over %s and %s calls%s\n", FORMAT_COUNT(root->n_before),
                   FORMAT_COUNT(root->n_now), describe_chance(root, chance));
}

static int print_root(const Options *o, Buf *out, const DiffRoot *root, const Sides *s,
                      TableMarks *marks) {
        static const char *const whats[] = { [DIFF_SAME] = "  ~ self",
                                             [DIFF_CHANGED] = "  ~ self",
                                             [DIFF_NEW] = "  + new",
                                             [DIFF_GONE] = "  - gone" };
        size_t limit = o->limit > 0 ? (size_t) o->limit : LIMIT_DEFAULT, n_shown = 0, n_more = 0;
        size_t n_paths = o->limit > 0 ? limit : N_PATHS_DEFAULT;
        _cleanup_table_ Table t = {};
        int r;

        print_headline(out, root);
        table_init(&t, "  WHAT|FUNCTION|>CHANGE|?>SELF BEFORE|>SELF NOW|?>CALLS BEFORE|>CALLS NOW");
        t.marks = *marks;
        for (size_t i = 0; i < root->n_functions; i++) {
                const DiffFunction *f = &root->functions[i];

                if (!is_shown(root, f))
                        continue;
                if (n_shown == limit) {
                        n_more++;
                        continue;
                }
                n_shown++;
                table_add(&t, "%s", whats[f->kind]);
                add_function(&t, f, s);
                add_change(&t, f->change_ns);
                add_side(&t, &f->before);
                add_side(&t, &f->now);
                add_calls(&t, &f->before);
                add_calls(&t, &f->now);
        }
        r = n_shown > 0 ? table_print(&t, out, !o->no_legend) : 0;
        *marks = t.marks;
        if (n_more > 0)
                buf_printf(out, "  %zu more; --limit=%zu shows all.\n", n_more, n_more + n_shown);
        for (size_t i = 0; i < MIN(root->n_paths, n_paths); i++) {
                const DiffPath *p = &root->paths[i];

                buf_printf(out, "  %s %.*s %s %.*s%s%s\n", p->is_new ? ">" : "<",
                           (int) p->caller->n_name, p->caller->label,
                           p->is_new ? "now calls" : "no longer calls", (int) p->callee->n_name,
                           p->callee->label, p->in_irq ? "  (in an interrupt)" : "",
                           unhooked_is_none(p->caller->n_unhooked)
                                   ? ""
                                   : "  (or what was not hooked does)");
        }
        if (root->n_paths > n_paths)
                buf_printf(out, "  %zu more change%s of who calls whom.\n", root->n_paths - n_paths,
                           root->n_paths - n_paths == 1 ? "" : "s");
        return r;
}

static int print_text(const Options *o, const Diff *d, const Sides *s) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        TableMarks marks = {};
        int r = 0;

        pager_open(&pager, o, SIZE_MAX);
        for (size_t i = 0; i < d->n_roots && r >= 0; i++) {
                buf_adds(&out, i > 0 ? "\n" : "");
                r = print_root(o, &out, &d->roots[i], s, &marks);
        }
        if (!o->no_legend)
                table_explain(&marks, &out);
        return stdout_paged(&pager, &out, r);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *side_json(const DiffSide *side) {
        if (!side->function)
                return json_null();
        return json_pack("{s:f, s:f, s:f}", "calls", side->calls, "self_ns", side->self_ns,
                         "total_ns", side->total_ns);
}

static json_t *function_json(const DiffFunction *f, const Sides *s) {
        static const char *const kinds[] = { [DIFF_SAME] = "same",
                                             [DIFF_CHANGED] = "changed",
                                             [DIFF_NEW] = "new",
                                             [DIFF_GONE] = "gone" };

        return table_function_pack(
                f->now.function ?: f->before.function,
                "{s:o, s:b, s:s, s:b, s:b, s:b, s:f, s:f, s:o, s:o}", "not_hooked_below",
                table_unhooked_json(n_unhooked_of(f)), "perhaps_not_hooked", (int) may_lack(f, s),
                "kind", kinds[f->kind], "top", (int) f->is_top, "interrupt", (int) f->is_irq,
                "in_interrupt", (int) f->in_irq, "change_ns", f->change_ns, "p", f->p, "before",
                side_json(&f->before), "now", side_json(&f->now));
}

static json_t *path_json(const DiffPath *p) {
        return json_pack("{s:s%, s:s%, s:s, s:b}", "caller", p->caller->label,
                         (size_t) p->caller->n_name, "callee", p->callee->label,
                         (size_t) p->callee->n_name, "kind", p->is_new ? "new" : "gone",
                         "in_interrupt", (int) p->in_irq);
}

static json_t *calls_json(uint64_t n, uint64_t n_cut, uint64_t median_ns, uint64_t p90_ns) {
        return json_pack("{s:I, s:I, s:I, s:I}", "calls", (json_int_t) n, "cut", (json_int_t) n_cut,
                         "median_ns", (json_int_t) median_ns, "p90_ns", (json_int_t) p90_ns);
}

static int print_json(const Options *o, const Diff *d, const Sides *s) {
        json_t *list = json_array();

        for (size_t i = 0; i < d->n_roots; i++) {
                const DiffRoot *root = &d->roots[i];
                json_t *functions = json_array(), *paths = json_array();

                for (size_t k = 0; k < root->n_functions; k++)
                        if (o->limit == 0 || k < o->limit)
                                (void) json_array_append_new(functions,
                                                             function_json(&root->functions[k], s));
                for (size_t k = 0; k < root->n_paths; k++)
                        (void) json_array_append_new(paths, path_json(&root->paths[k]));
                (void) json_array_append_new(
                        list,
                        table_function_pack(root->now, "{s:o, s:o, s:f, s:b, s:o, s:o}", "before",
                                            calls_json(root->n_before, root->n_cut_before,
                                                       root->median_before_ns, root->p90_before_ns),
                                            "now",
                                            calls_json(root->n_now, root->n_cut_now,
                                                       root->median_now_ns, root->p90_now_ns),
                                            "p", root->p, "enough", (int) root->is_enough,
                                            "functions", functions, "paths", paths));
        }
        return stdout_json(o, list);
}

/* --- whether it has become slower ------------------------------------------------------------- */

/* 0.05: by 5 % */
static double slowdown(const DiffRoot *root) {
        return ((double) root->median_now_ns - (double) root->median_before_ns) /
               (double) MAX(root->median_before_ns, UINT64_C(1));
}

static bool is_chance(const DiffRoot *root) {
        return root->p >= DIFF_P_MAX;
}

/* Whether a change of its calls could be told from chance at all. */
static bool can_be_told(const DiffRoot *root) {
        return !is_chance(root) || root->p_least < DIFF_P_MAX;
}

static int say_slower(const DiffRoot *worst, size_t n_over, double limit) {
        _cleanup_free_ char *name = strndup(worst->now->label, worst->now->n_label);
        char others[48] = "";

        if (n_over > 1)
                (void) snprintf(others, sizeof(others), ", and %zu more root%s", n_over - 1,
                                n_over > 2 ? "s" : "");
        return failed(
                STATUS_SLOWER,
                "%s is %.1f %% slower than before, more than --fail-over=%g%%: median %s -> "
                "%s (%s) over %s and %s calls, p < 0.001%s.",
                NAME_QUOTED(name ?: ""), 100 * slowdown(worst), 100 * limit,
                FIGURE_ROUND(worst->median_before_ns), FIGURE_ROUND(worst->median_now_ns),
                FIGURE_CHANGE((double) worst->median_now_ns - (double) worst->median_before_ns),
                FORMAT_COUNT(worst->n_before), FORMAT_COUNT(worst->n_now), others);
}

static int say_untold(const DiffRoot *unsure, double limit) {
        _cleanup_free_ char *name = strndup(unsure->now->label, unsure->now->n_label);

        return failed(STATUS_UNTOLD,
                      "%s may be slower than before by more than --fail-over=%g%%, or that is "
                      "chance: median %s "
                      "-> %s (%+.1f %%) over %s and %s calls, p = %.3f; more calls would tell.",
                      NAME_QUOTED(name ?: ""), 100 * limit, FIGURE_ROUND(unsure->median_before_ns),
                      FIGURE_ROUND(unsure->median_now_ns), 100 * slowdown(unsure),
                      FORMAT_COUNT(unsure->n_before), FORMAT_COUNT(unsure->n_now), unsure->p);
}

/* For --fail-over: an exit status.  What looks slower and may be chance is neither slower nor not. */
static int judge(const Options *o, const Diff *d) {
        double limit = (double) o->analysis.fail_over_ppm / 1e6;
        const DiffRoot *worst = NULL, *unsure = NULL;
        size_t n_over = 0, n_told = 0;

        for (size_t i = 0; i < d->n_roots; i++) {
                const DiffRoot *root = &d->roots[i], **most = is_chance(root) ? &unsure : &worst;

                n_told += can_be_told(root);
                if (!can_be_told(root) || slowdown(root) <= limit)
                        continue;
                n_over += !is_chance(root);
                if (!*most || slowdown(root) > slowdown(*most))
                        *most = root;
        }
        if (worst)
                return say_slower(worst, n_over, limit);
        if (n_told == 0)
                return failed(STATUS_UNTOLD,
                              "--fail-over: %s and %s have too few calls to tell a change from "
                              "chance; 8 in each may do.",
                              o->words.items[0], o->words.items[1]);
        return unsure ? say_untold(unsure, limit) : STATUS_OK;
}

static int compare(const Options *o) {
        _cleanup_counting_ Counting before = {}, now = {};
        const Sides sides = { &before, &now };
        _cleanup_(root_profile_freep) RootProfile *then = NULL, *latest = NULL;
        _cleanup_(diff_freep) Diff *d = NULL;
        int status, r;

        status = read_side(&before, &then, o, o->words.items[0])
                         ?: read_side(&now, &latest, o, o->words.items[1]);
        if (status != STATUS_OK)
                return status;
        r = diff_new(&d, then, latest);
        if (r < 0)
                return failed_errno(r, "Failed to compare: %m");
        if (d->n_roots == 0)
                return no_common_root(o, then, latest);
        status = o->json != JSON_OFF ? print_json(o, d, &sides) : print_text(o, d, &sides);
        if (status != STATUS_OK)
                return status;
        status = reading_finish(&before.reading, o);
        status = reading_finish(&now.reading, o) ?: status;
        if (o->analysis.fail_over_ppm == UINT64_MAX)
                return status;
        /* What is incomplete has been said, and the calls that are whole were compared. */
        return status == STATUS_OK || status == STATUS_INCOMPLETE ? judge(o, d) : status;
}

/* With --fail-over a verdict: nobody shall take a recording that cannot be read for a slow one. */
int verb_diff(const Options *o) {
        int status = compare(o);

        if (o->analysis.fail_over_ppm == UINT64_MAX)
                return status;
        switch (status) {
        case STATUS_OK:
        case STATUS_USAGE:
        case STATUS_SLOWER:
        case STATUS_PIPE:
                return status;
        default:
                return STATUS_UNTOLD;
        }
}
