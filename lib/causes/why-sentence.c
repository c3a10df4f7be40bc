/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <string.h>

#include "base/name.h"
#include "base/unit.h"
#include "causes/waits.h"
#include "causes/why.h"

#define WAKER_MIN 0.5 /* who ended less of the waiting is not named */
#define WAKER_ALL 0.9
#define SHARE_ALL 0.995
#define SHARE_MORE 1.05
#define SHARE_NEARLY 0.9
#define QUEUED_MIN 0.2 /* less of the waiting for a CPU goes without saying */
#define ERRNO_MAX 4095

static void add_name(Buf *out, const Function *f) {
        buf_add(out, f->label, f->n_name);
        buf_add(out, f->label + f->n_label - f->n_place, f->n_place);
}

static char *percent_of(char text[static 32], double part) {
        double percent = 100 * part;

        (void) snprintf(text, 32, percent > 0 && percent < 1 ? "%.1f %%" : "%.0f %%", percent);
        return text;
}
#define PERCENT(part) percent_of((char[32]){}, (part))

/* "1.2", "14" */
static char *times_of(char text[static 32], double n) {
        (void) snprintf(text, 32,
                        n >= 10 || n == floor(n) ? "%.0f"
                        : n >= 0.1               ? "%.1f"
                                                 : "%.1g",
                        n);
        return text;
}
#define TIMES(n) times_of((char[32]){}, (n))

/* True if the same functions call each other from @caller down to @node at another place, too. */
static bool is_elsewhere(const CallNode *node, const CallNode *caller) {
        const CallNode *top = caller;

        while (top->level > 1)
                top = top->parent;
        for (const CallNode *n = top; n; n = call_node_next(top, n)) {
                const CallNode *a = n, *b = node;

                while (a && b != caller && a->function == b->function) {
                        a = a->parent;
                        b = b->parent;
                }
                if (a && a != caller && b == caller && a->function == b->function)
                        return true;
        }
        return false;
}

/* Whom to name as the caller: not a function of the scheduler that calls another one. */
static const CallNode *find_caller(const CallNode *node) {
        const CallNode *caller = node->parent;

        while (caller->level > 1 && waits_is_scheduler(node->function) &&
               waits_is_scheduler(caller->function))
                caller = caller->parent;
        return caller;
}

/* From where on, above @caller, the path is at no other place; NULL: that is so from there, or nowhere below the root. */
static const CallNode *find_from(const CallNode *node, const CallNode *caller) {
        const CallNode *from = caller;

        while (from->level > 1 && is_elsewhere(node, from))
                from = from->parent;
        return from == caller || from->level <= 1 ? NULL : from;
}

/* True if "@node below @caller below @from" is said of another place, too. */
static bool is_ambiguous(const CallNode *node, const CallNode *caller, const CallNode *from) {
        const CallNode *top = caller;

        while (top->level > 1)
                top = top->parent;
        for (const CallNode *n = top; n; n = call_node_next(top, n)) {
                const CallNode *other, *its_from;

                if (n == node || n->function != node->function || n->level < 2 || n->is_irq)
                        continue;
                other = find_caller(n);
                if (other->function != caller->function)
                        continue;
                its_from = find_from(n, other);
                if ((from ? from->function : NULL) == (its_from ? its_from->function : NULL))
                        return true;
        }
        return false;
}

/* Nobody calls an interrupt.  Where the caller is called from tells the place, if it is at others, too: delay_tsc is below
 * __const_udelay in many.  If that is not enough, the path is told as far as it is at no other place. */
static bool add_below(Buf *out, const CallNode *node, const char *first) {
        const CallNode *caller, *from;

        if (node->is_irq || node->level < 2)
                return false;
        caller = find_caller(node);
        from = find_from(node, caller);
        buf_adds(out, first);
        if (is_ambiguous(node, caller, from)) {
                caller = node->parent;
                from = find_from(node, caller);
                for (; from && caller->parent != from; caller = caller->parent) {
                        add_name(out, caller->function);
                        buf_adds(out, " below ");
                }
        }
        add_name(out, caller->function);
        if (from) {
                buf_adds(out, " below ");
                add_name(out, from->function);
        }
        return true;
}

static void add_place(Buf *out, const CallNode *node) {
        buf_adds(out, node->is_irq ? "the interrupt " : "");
        add_name(out, node->function);
        (void) add_below(out, node, " below ");
}

/* Of what is a function's own, or, as far as the recording tells, of something below it. */
static void add_own_place(Buf *out, const CallNode *node, bool is_running) {
        bool is_known = unhooked_is_none(node->n_unhooked);

        if (!is_running && is_known) {
                add_place(out, node);
                return;
        }
        buf_adds(out, is_known ? "own time of " : "");
        buf_adds(out, node->is_irq ? "the interrupt " : "");
        add_name(out, node->function);
        buf_adds(out, UNHOOKED_TEXT(node->n_unhooked));
        if (add_below(out, node, is_known ? " (called by " : ", below ") && is_known)
                buf_adds(out, ")");
}

const char *why_others(const Why *w) {
        return w->spec.by == COHORTS_BY_SOURCE ? "the earlier ones"
               : w->spec.by == COHORTS_BY_HUMP ? "the lower ones"
                                               : "the usual ones";
}

/* Figures are left out where columns have them. */
static void describe_cause(Buf *out, const Why *w, const WhyCause *c, bool with_figures) {
        switch (c->kind) {
        case WHY_RUNNING:
                add_own_place(out, c->node, true);
                break;
        case WHY_WAITING:
                buf_adds(out, "waiting in ");
                add_own_place(out, c->node, false);
                break;
        case WHY_CALLS:
                buf_adds(out, c->slow_n >= c->usual_n ? "more calls of " : "fewer calls of ");
                add_place(out, c->node);
                break;
        case WHY_ONLY:
                add_place(out, c->node);
                buf_printf(out, ", which %s do not have", why_others(w));
                break;
        case WHY_NEVER:
                add_place(out, c->node);
                buf_printf(out, ", which only %s have", why_others(w));
                break;
        }
        if (c->may_lack)
                buf_adds(out, ", but it was not hooked all the time");
        if (with_figures && c->kind == WHY_RUNNING)
                buf_printf(out, ": %s instead of %s", FIGURE_MEAN(c->slow_ns),
                           FIGURE_MEAN(c->usual_ns));
        if (with_figures && c->kind == WHY_CALLS)
                buf_printf(out, ": %s instead of %s", TIMES(c->slow_n), TIMES(c->usual_n));
        if (c->hottest != c->node) {
                buf_adds(out, ", mostly ");
                add_name(out, c->hottest->function);
                buf_adds(out, UNHOOKED_TEXT(c->hottest->n_unhooked));
        }
        if (c->waker && c->waker_share >= WAKER_MIN) {
                buf_adds(out, c->waker_share >= WAKER_ALL ? ", woken " : ", mostly woken ");
                waker_describe(out, c->waker);
        }
        if (c->queued_share >= QUEUED_MIN)
                buf_printf(out, ", %s of it afterwards, for a CPU", PERCENT(c->queued_share));
}

void why_describe_cause(Buf *out, const Why *w, const WhyCause *c) {
        describe_cause(out, w, c, false);
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

/* "len > 1400", "ret = -11 (EAGAIN) in ip_make_skb below udp_sendmsg", "file=/log/x", "the callers: do_syscall_64 <
 * __sys_sendto", "the stack: main [client] < send_one" */
static void describe_value(Buf *out, const WhyValue *v) {
        static const char *const signs[] = {
                [WHY_EQUAL] = "=", [WHY_ABOVE] = ">", [WHY_BELOW] = "<"
        };

        if (v->text && (streq(v->name, "callers") || streq(v->name, "stack"))) {
                buf_printf(out, "the %s: %s", v->name, v->text);
                return;
        }
        if (v->text)
                buf_printf(out, "%s=%s", NAME_QUOTED(v->name), v->text);
        else {
                buf_printf(out, "%s %s ", NAME_QUOTED(v->name), signs[v->relation]);
                add_bound(out, v);
        }
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

/* --- the sentence ----------------------------------------------------------------------------- */

/* ": the 12 calls", ": the only call" */
static void add_calls(Buf *out, size_t n, const char *which) {
        if (n == 1)
                buf_printf(out, ": the only call%s", which);
        else
                buf_printf(out, ": the %zu calls%s", n, which);
}

static bool is_alike(const Why *w) {
        return w->evenness >= WHY_ALIKE_MIN && fabs(w->difference_ns) > w->chosen_ns;
}

/* Of calls that were chosen by how long they took, something takes longer, but nothing so much longer than all else. */
static bool is_no_single(const Why *w) {
        return !w->factor && !w->cause && !w->value && w->n_causes > 0 && w->causes[0].share > 0 &&
               !is_alike(w) &&
               (w->spec.by == COHORTS_BY_SLOWEST || w->spec.by == COHORTS_BY_DURATION);
}

/* " returned -90 (EMSGSIZE) in 12, other errors in 3 of 300 calls, and so did ip_make_skb below udp_sendmsg in 80 % of
 * them: these" */
static void add_error(Buf *out, const Why *w) {
        size_t n_others = w->n_slow - w->n_error;

        if (w->n_error == 0) {
                add_calls(out, w->n_slow, " that failed");
                return;
        }
        buf_adds(out, " returned ");
        add_bound(out, &(WhyValue){ .relation = WHY_EQUAL, .bound = w->error });
        buf_printf(out, " in %zu", w->n_error);
        if (n_others > 0)
                buf_printf(out, ", other errors in %zu", n_others);
        buf_printf(out, " of %zu calls", w->n_all);
        if (w->deepest_error) {
                buf_adds(out, ", and so did ");
                add_place(out, w->deepest_error->node);
                buf_printf(out, " in %s of them", PERCENT(w->deepest_error->slow_part));
        }
        buf_adds(out, w->n_slow == 1 ? ": this one" : ": these");
}

static void add_cohort(Buf *out, const Why *w) {
        buf_adds(out, is_no_single(w) ? "no single cause stands out in " : "");
        add_name(out, w->root->function);
        switch (w->spec.by) {
        case COHORTS_BY_SLOWEST:
        case COHORTS_BY_HUMP:
                buf_printf(out, ": %s%sthe %s %s",
                           w->spec.slower_ns == 0 ? ""
                           : w->spec.has_several  ? "durations have several"
                                                  : "durations have two",
                           w->spec.slower_ns > 0 ? " humps, and " : "",
                           w->spec.by != COHORTS_BY_HUMP ? "slowest"
                           : w->spec.has_several         ? "uppermost"
                                                         : "upper",
                           PERCENT((double) w->n_slow / (double) w->n_all));
                break;
        case COHORTS_BY_DURATION:
                add_calls(out, w->n_slow, " of at least ");
                buf_adds(out, FIGURE_ROUND(w->spec.slower_ns));
                break;
        case COHORTS_BY_WINDOW:
                add_calls(out, w->n_slow, " within the window");
                break;
        case COHORTS_BY_FAILURE:
                add_error(out, w);
                break;
        case COHORTS_BY_SOURCE:
                buf_adds(out, ": its calls");
                break;
        }
        buf_printf(out, " take%s %s instead of %s", w->n_slow == 1 ? "s" : "",
                   FIGURE_MEAN(w->slow_ns), FIGURE_MEAN(w->usual_ns));
}

/* Of more than all others make up for some. */
static bool is_more_than_all(const WhyCause *c) {
        return c->share >= SHARE_MORE;
}

static void add_named(Buf *out, const Why *w, const WhyCause *c) {
        const WhyBurst *b = &c->burst;

        buf_adds(out, "; ");
        if (is_more_than_all(c))
                buf_adds(out, FIGURE_CHANGE(c->change_ns));
        else if (c->share >= SHARE_ALL)
                buf_adds(out, "all of that");
        else
                buf_printf(out, "%s of that", PERCENT(c->share));
        buf_adds(out, " is ");
        describe_cause(out, w, c, true);
        if (is_more_than_all(c))
                buf_adds(out, c->change_ns > 0 ? ", while others take less"
                                               : ", while others take more");
        if (b->n_calls > 0)
                buf_printf(out, ", %s one burst%s%s (--from=%s --to=%s)",
                           b->share >= SHARE_ALL ? "in" : "nearly all in",
                           b->is_usual ? " of " : "", b->is_usual ? why_others(w) : "",
                           FIGURE_MOMENT(b->from_ns, 9), FIGURE_MOMENT(b->to_ns, 9));
}

void why_describe_parts(Buf *out, const Why *w, const WhyValue *v) {
        buf_printf(out, "%s of them have ", PERCENT(v->slow_part));
        describe_value(out, v);
        buf_printf(out, ", %s of %s", PERCENT(v->usual_part), why_others(w));
}

static void add_factor(Buf *out, const Why *w, const WhyFactor *f) {
        buf_printf(out, "; everything takes longer %s ", f->place == WHY_CPU ? "on" : "in");
        why_describe_factor(out, f);
        buf_printf(out, ", where %s of them were and %s of %s", PERCENT(f->slow_part),
                   PERCENT(f->usual_part), why_others(w));
}

static void add_no_single(Buf *out, const Why *w) {
        const WhyCause *most = &w->causes[0];
        double share = 0;
        size_t n = 0;

        while (n < w->n_causes && share < SHARE_NEARLY)
                share += w->causes[n++].share;
        buf_printf(out, "; %zu cause%s %s of that, the greatest, ", n,
                   n == 1 ? " makes up" : "s make up", PERCENT(share));
        why_describe_cause(out, w, most);
        buf_printf(out, ", %s", PERCENT(most->share));
        if (most->p > WHY_P_MAX)
                buf_printf(out, " (p = %.3f)", most->p);
}

static void add_nothing(Buf *out, const Why *w) {
        if (is_no_single(w))
                add_no_single(out, w);
        else if (!w->is_no_chance)
                buf_printf(out, ", which may be chance (p = %.3f)", w->p);
        else if (w->n_causes == 0)
                buf_adds(out, ": there is no difference");
        else if (is_alike(w))
                buf_printf(out, "; all parts take %s in proportion, and no function stands out",
                           w->difference_ns > 0 ? "longer" : "less");
        else if (fabs(w->causes[0].share) >= WHY_SHARE_MIN && !(w->causes[0].p <= WHY_P_MAX)) {
                buf_adds(out, "; what stands out may be chance");
                if (!isnan(w->causes[0].p))
                        buf_printf(out, " (p = %.3f)", w->causes[0].p);
                buf_adds(out, ": ");
                why_describe_cause(out, w, &w->causes[0]);
        } else
                buf_printf(out, "; that is spread over %zu causes, of which none has more than %s",
                           w->n_causes, PERCENT(fabs(w->causes[0].share)));
}

static void add_too_few(Buf *out, const Why *w) {
        add_name(out, w->root->function);
        if (w->spec.by == COHORTS_BY_FAILURE && w->n_slow + w->n_usual == 0)
                buf_adds(out, ": what its calls returned was not recorded; \"ftracectl start "
                              "--retval\" does");
        else if (w->n_all < COHORTS_CALLS_MIN)
                buf_printf(out, ": %zu call%s too few to %s", w->n_all,
                           w->n_all == 1 ? " is" : "s are",
                           w->spec.by == COHORTS_BY_SOURCE ? "tell a cause from chance"
                                                           : "compare");
        else if (w->n_slow == 0) {
                buf_printf(out, ": none of its %zu calls%s", w->n_all,
                           w->spec.by == COHORTS_BY_DURATION  ? " takes "
                           : w->spec.by == COHORTS_BY_WINDOW  ? " began within the window"
                           : w->spec.by == COHORTS_BY_FAILURE ? " failed"
                                                              : " is of the second recording");
                if (w->spec.by == COHORTS_BY_DURATION)
                        buf_adds(out, FIGURE_ROUND(w->spec.slower_ns));
        } else
                buf_printf(out,
                           ": %zu of its %zu calls are slow ones, and of the usual ones none is "
                           "left to compare them with",
                           w->n_slow, w->n_all);
        buf_adds(out, ".");
}

void why_sentence(Buf *out, const Why *w) {
        if (!w->is_enough) {
                add_too_few(out, w);
                return;
        }
        add_cohort(out, w);
        if (w->is_factor_first)
                add_factor(out, w, w->factor);
        if (w->cause)
                add_named(out, w, w->cause);
        if (w->burst) {
                add_named(out, w, w->burst);
                buf_adds(out, ", which may be chance");
        }
        if (w->second && !is_more_than_all(w->cause)) {
                buf_printf(out, "; %s is ", PERCENT(w->second->share));
                why_describe_cause(out, w, w->second);
        }
        if (w->factor && !w->is_factor_first)
                add_factor(out, w, w->factor);
        if (w->value && !(w->deepest_error && why_value_is_error(w, w->value))) {
                buf_adds(out, "; ");
                why_describe_parts(out, w, w->value);
        }
        if (!w->factor && !w->cause && !w->burst && !w->value)
                add_nothing(out, w);
        buf_adds(out, ".");
}
