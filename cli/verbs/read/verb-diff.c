/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What has changed from one recording to another: of each root that both have, what "why" says of the
 * calls of the later one.
 */

#include <math.h>

#include "base/name.h"
#include "base/unit.h"
#include "cli/terminal/terminal.h"
#include "cli/views/views.h"

#define N_ROOTS_SAID 3
#define AREAS_SHOWN 20
#define CALLS_MIN (COHORTS_CALLS_MIN / 2) /* in each recording, for a verdict */

typedef struct Changes {
        TopPlaces places; /* by which roots have areas; by FUNCTION: by none */
        Why **roots;      /* the greatest changes of all their calls first */
        size_t n;
} Changes;

static void changes_done(Changes *c) {
        for (size_t i = 0; i < c->n; i++)
                why_free(c->roots[i]);
        free(c->roots);
}

/* How much longer all outermost calls take. */
static double weight(const Why *w) {
        return fabs(w->difference_ns) * (double) w->n_slow;
}

static int compare_changes(const void *a, const void *b) {
        return CMP(weight(*(Why *const *) b), weight(*(Why *const *) a));
}

/* "udp_sendmsg, tcp_sendmsg and 4 more" */
static void list_roots(Buf *out, const CohortsRoot *roots, size_t n, bool of_last) {
        size_t n_said = 0;

        for (size_t i = 0; i < n; i++) {
                const Function *f = roots[i].node->function;

                if (of_last ? !roots[i].in_last : !roots[i].in_first)
                        continue;
                if (n_said++ < N_ROOTS_SAID)
                        buf_printf(out, "%s%.*s", n_said > 1 ? ", " : "", (int) f->n_name,
                                   f->label);
        }
        if (n_said > N_ROOTS_SAID)
                buf_printf(out, " and %zu more", n_said - N_ROOTS_SAID);
        if (n_said == 0)
                buf_adds(out, "no calls");
}

static int no_common_root(const Options *o, const CohortsRoot *roots, size_t n) {
        _cleanup_buf_ Buf out = BUF_INIT;

        list_roots(&out, roots, n, false);
        buf_adds(&out, "; ");
        list_roots(&out, roots, n, true);
        return failed(STATUS_NOT_FOUND,
                      "%s and %s have no outermost function in common (%.*s); --root=FUNCTION "
                      "compares calls of one that both have.",
                      o->words.items[0], o->words.items[1], (int) out.n_data, out.data);
}

static int find_changes(Changes *ret, const Options *o, const WhySides *s) {
        const CohortsSpec spec = { .by = COHORTS_BY_SOURCE };
        _cleanup_free_ CohortsRoot *roots = NULL;
        size_t n;
        int r = cohorts_roots(&roots, &n, s->anatomy);

        ret->roots = r < 0 ? NULL : calloc(n + 1, sizeof(*ret->roots));
        if (!ret->roots)
                return out_of_memory();
        for (size_t i = 0; i < n; i++) {
                if (!roots[i].in_first || !roots[i].in_last)
                        continue;
                r = why_sides_explain(&ret->roots[ret->n], s, &roots[i], &spec);
                if (r != STATUS_OK)
                        return r;
                ret->n++;
                if (ret->places.by == BREAKDOWN_BY_FUNCTION)
                        continue;
                r = why_add_areas(ret->roots[ret->n - 1], s->anatomy, &roots[i], top_places_find,
                                  &ret->places);
                if (r < 0)
                        return counting_status(r);
        }
        qsort(ret->roots, ret->n, sizeof(*ret->roots), compare_changes);
        return ret->n > 0 ? STATUS_OK : no_common_root(o, roots, n);
}

/* --- printed ---------------------------------------------------------------------------------- */

/* 0.05: by 5 % */
static double slowdown(const Why *w) {
        return ((double) w->slow_median_ns - (double) w->usual_median_ns) /
               (double) MAX(w->usual_median_ns, UINT64_C(1));
}

/* "median 2.40 us -> 7.40 us (+5.00 us, +208 %) over 30 and 40 calls, p <= 0.001" */
static void add_median(Buf *out, const Why *w) {
        buf_printf(out, "median %s -> %s (%s", FIGURE_ROUND(w->usual_median_ns),
                   FIGURE_ROUND(w->slow_median_ns),
                   FIGURE_CHANGE((double) w->slow_median_ns - (double) w->usual_median_ns));
        if (w->usual_median_ns > 0)
                buf_printf(out, ", %+.1f %%", 100 * slowdown(w));
        buf_printf(out, ") over %s and %s calls", FORMAT_COUNT(w->n_usual),
                   FORMAT_COUNT(w->n_slow));
        if (!w->is_enough)
                buf_adds(out, ", too few to tell a change from chance");
        else
                buf_printf(out, w->p <= 0.001 ? ", p <= 0.001" : ", p = %.3f", w->p);
}

static int add_areas(Buf *out, const Options *o, const Why *w, BreakdownBy by) {
        _cleanup_table_ Table t = {};
        bool is_hooked = true;
        int r;

        table_begin(&t, JSON_OFF);
        why_view_tell_areas(w, &t, top_view_title(by),
                            o->limit > 0 ? (size_t) o->limit : AREAS_SHOWN);
        r = table_print(&t, out, !o->no_legend);
        for (size_t i = 0; i < w->n_areas; i++)
                is_hooked = is_hooked && unhooked_is_none(w->areas[i].n_unhooked);
        if (!is_hooked && !o->no_legend)
                buf_adds(out, "Not all functions were hooked: what these took counts where their "
                              "callers are.\n");
        return r;
}

static int print(const Options *o, const Changes *c, const WhySides *s) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_pager_ Pager pager = PAGER_INIT;
        json_t *list = o->json != JSON_OFF ? json_array() : NULL;
        int r = 0;

        for (size_t i = 0; i < c->n && list; i++) {
                const Why *w = c->roots[i];

                (void) json_array_append_new(
                        list,
                        why_view_json(w, waits_between(s->between, -1, w->root->function->label),
                                      &s->anatomy->idle, o->limit));
        }
        if (list)
                return stdout_json(o, list);
        pager_open(&pager, o, SIZE_MAX);
        for (size_t i = 0; i < c->n && r >= 0; i++) {
                const Function *f = c->roots[i]->root->function;
                size_t from = out.n_data;

                buf_printf(&out, "%s%.*s: ", i > 0 ? "\n" : "", (int) f->n_name, f->label);
                add_median(&out, c->roots[i]);
                buf_adds(&out, "\n");
                terminal_fold(&out, from, SIZE_MAX);
                r = c->places.by != BREAKDOWN_BY_FUNCTION
                            ? add_areas(&out, o, c->roots[i], c->places.by)
                            : why_view_add(&out, c->roots[i], o->limit, !o->no_legend);
        }
        return stdout_paged(&pager, &out, r);
}

/* --- whether it has become slower ------------------------------------------------------------- */

static bool is_chance(const Why *w) {
        return !(w->p <= WHY_P_MAX);
}

/* Whether a change of its calls could be told from chance at all. */
static bool can_be_told(const Why *w) {
        return w->n_slow >= CALLS_MIN && w->n_usual >= CALLS_MIN;
}

/* For --fail-over: an exit status.  What looks slower and may be chance is neither slower nor not. */
static int judge(const Options *o, const Changes *c) {
        double limit = (double) o->analysis.fail_over_ppm / 1e6;
        const Why *worst = NULL, *unsure = NULL;
        size_t n_over = 0, n_told = 0;
        _cleanup_buf_ Buf out = BUF_INIT;

        for (size_t i = 0; i < c->n; i++) {
                const Why *w = c->roots[i], **most = is_chance(w) ? &unsure : &worst;

                n_told += can_be_told(w);
                if (!can_be_told(w) || slowdown(w) <= limit)
                        continue;
                n_over += !is_chance(w);
                if (!*most || slowdown(w) > slowdown(*most))
                        *most = w;
        }
        if (n_told == 0)
                return failed(STATUS_UNTOLD,
                              "--fail-over: %s and %s have too few calls to tell a change from "
                              "chance; %d in each may do.",
                              o->words.items[0], o->words.items[1], CALLS_MIN);
        if (!worst && !unsure)
                return STATUS_OK;
        buf_add(&out, (worst ?: unsure)->root->function->label,
                (worst ?: unsure)->root->function->n_name);
        buf_printf(&out,
                   worst ? " is slower than before by more than --fail-over=%g%%: "
                         : " may be slower than before by more than --fail-over=%g%%, or that is "
                           "chance: ",
                   100 * limit);
        add_median(&out, worst ?: unsure);
        if (n_over > 1)
                buf_printf(&out, "; and %zu more root%s", n_over - 1, n_over > 2 ? "s" : "");
        if (!worst)
                buf_adds(&out, "; more calls would tell");
        return failed(worst ? STATUS_SLOWER : STATUS_UNTOLD, "%.*s.", (int) out.n_data, out.data);
}

/* Those of the source; without --by FUNCTION.  An exit status. */
static int find_by(const Options *o, BreakdownBy *ret) {
        int by = o->by ? breakdown_by_from_name(o->by) : BREAKDOWN_BY_FUNCTION;

        *ret = (BreakdownBy) by;
        if (o->by && by < BREAKDOWN_BY_FILE)
                return failed(STATUS_USAGE, "--by: \"%s\" is not one of file, dir, layer.",
                              NAME_QUOTED(o->by));
        if (!o->by && o->analysis.vmlinux)
                return failed(STATUS_USAGE, "--vmlinux is for --by=file, dir or layer.");
        return STATUS_OK;
}

static int compare(const Options *o) {
        _cleanup_why_sides_ WhySides s = {};
        _cleanup_(changes_done) Changes c = {};
        int status = find_by(o, &c.places.by)
                             ?: why_sides_read(&s, o, o->words.items[0], o->words.items[1]);

        if (status == STATUS_OK && c.places.by != BREAKDOWN_BY_FUNCTION)
                status = top_places_add(&c.places, &s.before.reading)
                                 ?: top_places_add(&c.places, &s.now.reading);
        status = status ?: find_changes(&c, o, &s) ?: print(o, &c, &s) ?: why_sides_end(&s);
        if (o->analysis.fail_over_ppm == UINT64_MAX || !c.roots)
                return status;
        /* What is incomplete has been said, and the calls that are whole were compared. */
        return status == STATUS_OK || status == STATUS_INCOMPLETE ? judge(o, &c) : status;
}

/* With --fail-over a verdict: nobody shall take a recording that cannot be read for a slow one. */
int verb_diff(const Options *o) {
        int status = compare(o);
        bool is_verdict = status == STATUS_OK || status == STATUS_USAGE ||
                          status == STATUS_SLOWER || status == STATUS_PIPE;

        return is_verdict || o->analysis.fail_over_ppm == UINT64_MAX ? status : STATUS_UNTOLD;
}
