/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <string.h>

#include "analyze/waits.h"
#include "analyze/why-sentence.h"
#include "base/figure.h"
#include "base/name.h"

#define WAKER_MIN 0.5 /* who ended less of the waiting is not named */
#define WAKER_ALL 0.9
#define QUEUED_MIN 0.2 /* less of the waiting for a CPU goes without saying */
#define ERRNO_MAX 4095

static void add_name(Buf *out, const Function *f) {
        buf_add(out, f->label, f->n_name);
}

static void add_mean(Buf *out, double ns) {
        buf_adds(out, FIGURE_ROUND(ns > 0 ? (uint64_t) llround(ns) : 0));
}

static void add_percent(Buf *out, double part) {
        double percent = 100 * part;

        buf_printf(out, percent > 0 && percent < 1 ? "%.1f %%" : "%.0f %%", percent);
}

/* "1.2", "14" */
static void add_times(Buf *out, double n) {
        buf_printf(out, n >= 10 || n == floor(n) ? "%.0f" : n >= 0.1 ? "%.1f" : "%.1g", n);
}

/* Nobody calls an interrupt. */
static void add_below(Buf *out, const CallNode *node) {
        const CallNode *caller = node->parent;

        if (node->is_irq || node->level < 2)
                return;
        while (caller->level > 1 && waits_is_scheduler(node->function) &&
               waits_is_scheduler(caller->function))
                caller = caller->parent;
        buf_adds(out, " below ");
        add_name(out, caller->function);
}

static void add_place(Buf *out, const CallNode *node) {
        buf_adds(out, node->is_irq ? "the interrupt " : "");
        add_name(out, node->function);
        add_below(out, node);
}

static void add_waking(Buf *out, const WhyCause *c) {
        if (c->waker && c->waker_share >= WAKER_MIN) {
                buf_adds(out, c->waker_share >= WAKER_ALL ? ", woken by " : ", mostly woken by ");
                why_describe_waker(out, c->waker);
        }
        if (c->queued_share >= QUEUED_MIN) {
                buf_adds(out, ", ");
                add_percent(out, c->queued_share);
                buf_adds(out, " of it afterwards, for a CPU");
        }
}

static void add_change(Buf *out, const WhyCause *c) {
        buf_adds(out, ": ");
        if (c->kind == WHY_RUNNING)
                add_mean(out, c->slow_ns);
        else
                add_times(out, c->slow_n);
        buf_adds(out, " instead of ");
        if (c->kind == WHY_RUNNING)
                add_mean(out, c->usual_ns);
        else
                add_times(out, c->usual_n);
}

/* Figures are left out where columns have them. */
static void describe_cause(Buf *out, const WhyCause *c, bool with_figures) {
        static const char *const behind[] = { [WHY_RUNNING] = " itself",
                                              [WHY_ONLY] = ", which the usual ones do not have",
                                              [WHY_NEVER] = ", which only the usual ones have" };
        const char *words = c->kind < ELEMENTSOF(behind) ? behind[c->kind] : NULL;

        if (c->kind == WHY_WAITING)
                buf_adds(out, "waiting in ");
        else if (c->kind == WHY_CALLS)
                buf_adds(out, c->slow_n >= c->usual_n ? "more calls of " : "fewer calls of ");
        add_place(out, c->node);
        buf_adds(out, words ?: "");
        if (with_figures && (c->kind == WHY_RUNNING || c->kind == WHY_CALLS))
                add_change(out, c);
        if (c->hottest != c->node) {
                buf_adds(out, ", mostly ");
                add_name(out, c->hottest->function);
        }
        add_waking(out, c);
}

void why_describe_cause(Buf *out, const WhyCause *c) {
        describe_cause(out, c, false);
}

/* "1400", "-11 (EAGAIN)", "0xffff888003d5c000" */
static void add_bound(Buf *out, const WhyValue *v) {
        const char *error = NULL;

        if (!v->bound.is_negative && v->bound.magnitude >= VARIABLE_NUMBER_MAX) {
                buf_printf(out, "0x%llx", (unsigned long long) v->bound.magnitude);
                return;
        }
        if (v->relation == WHY_EQUAL && v->bound.is_negative && v->bound.magnitude <= ERRNO_MAX)
                error = strerrorname_np((int) v->bound.magnitude);
        buf_printf(out, "%s%llu", v->bound.is_negative ? "-" : "",
                   (unsigned long long) v->bound.magnitude);
        if (error)
                buf_printf(out, " (%s)", error);
}

void why_describe_value(Buf *out, const WhyValue *v) {
        static const char *const signs[] = {
                [WHY_EQUAL] = "=", [WHY_ABOVE] = ">", [WHY_BELOW] = "<"
        };

        buf_printf(out, "%s %s ", NAME_QUOTED(v->name), signs[v->relation]);
        add_bound(out, v);
        if (v->node->level < 2)
                return;
        buf_adds(out, " in ");
        add_place(out, v->node);
}

void why_describe_factor(Buf *out, const WhyFactor *f) {
        if (f->place == WHY_CPU)
                buf_printf(out, "CPU %u", f->cpu);
        else
                buf_printf(out, "task %s", NAME_QUOTED(f->task));
}

void why_describe_waker(Buf *out, const Waker *w) {
        if (w->is_irq)
                buf_adds(out, "an interrupt");
        else if (w->pid >= 0)
                buf_printf(out, "%s-%d", NAME_QUOTED(w->comm), w->pid);
        else
                buf_adds(out, NAME_QUOTED(w->comm));
        if (w->function) {
                buf_adds(out, " in ");
                add_name(out, w->function);
        }
}

/* --- the sentence ----------------------------------------------------------------------------- */

static void add_cohort(Buf *out, const Why *w) {
        add_name(out, w->root->function);
        switch (w->spec.by) {
        case COHORTS_BY_SLOWEST:
                buf_adds(out, ": the slowest ");
                add_percent(out, (double) w->n_slow / (double) w->n_all);
                break;
        case COHORTS_BY_DURATION:
                buf_printf(out, ": the %zu calls of at least %s", w->n_slow,
                           FIGURE_ROUND(w->spec.slower_ns));
                break;
        case COHORTS_BY_WINDOW:
                buf_printf(out, ": the %zu calls within the window", w->n_slow);
                break;
        case COHORTS_BY_FAILURE:
                buf_printf(out, ": the %zu calls that failed", w->n_slow);
                break;
        case COHORTS_BY_SOURCE:
                buf_adds(out, ": its calls");
                break;
        }
        buf_adds(out, " take ");
        add_mean(out, w->slow_ns);
        buf_adds(out, " instead of ");
        add_mean(out, w->usual_ns);
}

static void add_named(Buf *out, const WhyCause *c) {
        buf_adds(out, "; ");
        add_percent(out, c->share);
        buf_adds(out, " of that is ");
        describe_cause(out, c, true);
}

void why_describe_parts(Buf *out, const WhyValue *v) {
        add_percent(out, v->slow_part);
        buf_adds(out, " of them have ");
        why_describe_value(out, v);
        buf_adds(out, ", ");
        add_percent(out, v->usual_part);
        buf_adds(out, " of the usual ones");
}

static void add_factor(Buf *out, const WhyFactor *f) {
        buf_adds(out, "; everything takes longer ");
        buf_adds(out, f->place == WHY_CPU ? "on " : "in ");
        why_describe_factor(out, f);
        buf_adds(out, ", where ");
        add_percent(out, f->slow_part);
        buf_adds(out, " of them were and ");
        add_percent(out, f->usual_part);
        buf_adds(out, " of the usual ones");
}

static void add_nothing(Buf *out, const Why *w) {
        if (!cohorts_are_by_time(w->spec.by) && w->p > WHY_P_MAX)
                buf_printf(out, ", which may be chance (p = %.3f)", w->p);
        else if (w->evenness >= WHY_EVEN_MIN)
                buf_adds(out, "; everything takes longer alike, and no function stands out");
        else if (w->n_causes > 0 && w->causes[0].share >= WHY_SHARE_MIN)
                buf_adds(out, "; what stands out may be chance");
        else {
                buf_printf(out, "; that is spread over %zu causes, of which none has more than ",
                           w->n_causes);
                add_percent(out, w->n_causes > 0 ? fabs(w->causes[0].share) : 0);
        }
}

void why_sentence(Buf *out, const Why *w) {
        const WhyFactor *factor = why_named_factor(w);
        const WhyCause *cause = why_named_cause(w);
        const WhyValue *value = why_named_value(w);

        if (!w->is_enough) {
                add_name(out, w->root->function);
                buf_printf(out, ": %zu slow and %zu usual calls are too few to compare.", w->n_slow,
                           w->n_usual);
                return;
        }
        add_cohort(out, w);
        if (why_names_factor_first(w))
                add_factor(out, factor);
        if (cause)
                add_named(out, cause);
        if (factor && !why_names_factor_first(w))
                add_factor(out, factor);
        if (value) {
                buf_adds(out, "; ");
                why_describe_parts(out, value);
        }
        if (!factor && !cause && !value)
                add_nothing(out, w);
        buf_adds(out, ".");
}
