/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was off the CPU has the sentence of who woke it for a name. */

#include <inttypes.h>

#include "causes/why.h"
#include "base/figure.h"
#include "base/unit.h"
#include "export/escape.h"
#include "export/intern.h"
#include "export/page-slow.h"
#include "export/page-tree.h"

#define DIFFERENCES_SHOWN 5
#define OPEN_PERMILLE 200

static void add_task(Buf *out, const char *comm, int32_t pid) {
        escape_xml(out, comm, strlen(comm));
        if (pid >= 0)
                buf_printf(out, " %d", pid);
}

static void add_summary(const PageSlow *p, const Invocation *v, size_t i) {
        Buf *out = p->out;

        buf_printf(out,
                   "<details class=\"slow\" data-duration=\"%" PRIu64 "\" data-start=\"%" PRIu64
                   "\"><summary>%zu. <b>%s%s</b> ",
                   v->duration_ns, v->start_ns, i + 1, FIGURE_ROUND(v->duration_ns),
                   v->is_cut ? " or longer" : "");
        page_add_function(out, v->root);
        buf_adds(out, " <span>");
        add_task(out, v->comm, v->pid);
        if (!p->is_timeless)
                buf_printf(out, ", at +%.6f s",
                           (double) (int64_t) (v->start_ns - p->begin_ns) / NSEC_PER_SEC);
        buf_printf(out, ", CPU %u, call %s", v->cpu, FORMAT_COUNT(v->number));
        if (v->blocked_ns > 0)
                buf_printf(out, ", waited %s", FIGURE_ROUND(v->blocked_ns));
        if (v->irq_ns > 0)
                buf_printf(out, ", interrupts took %s", FIGURE_ROUND(v->irq_ns));
        buf_adds(out, "</span></summary>\n");
}

/* All that have a timeline. */
typedef struct Shown {
        const Invocation **calls;
        size_t n;
} Shown;

/* Its number; it is put behind the others if it is new. */
static size_t number_of(Shown *shown, const Invocation *v) {
        size_t i = 0;

        while (i < shown->n && shown->calls[i] != v)
                i++;
        if (i == shown->n)
                shown->calls[shown->n++] = v;
        return i;
}

static void shown_done(Shown *shown) {
        free(shown->calls);
}

static int list_shown(const PageSlow *p, Shown *ret) {
        size_t n = p->outliers->n;

        *ret = (Shown){ .calls = calloc(2 * n + 1, sizeof(const Invocation *)) };
        if (!ret->calls)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                (void) number_of(ret, p->outliers->slowest[i]);
        for (size_t i = 0; i < n; i++) {
                const Invocation *usual = outliers_usual(p->outliers, ret->calls[i]);

                if (usual)
                        (void) number_of(ret, usual);
        }
        return 0;
}

static int add_differences(const PageSlow *p, const Invocation *v) {
        const Invocation *usual = outliers_usual(p->outliers, v);
        const Quantiles *q = outliers_quantiles(p->outliers, v);
        _cleanup_(why_freep) Why *w = NULL;
        int r;

        if (!usual || !q || q->n < 2)
                return 0;
        r = why_new_of_two(&w, v->tree, usual->tree);
        if (r < 0)
                return r;
        buf_printf(p->out, "<p>The median of %s calls is %s. This one differs from one of %s in",
                   FORMAT_COUNT(q->n), FIGURE_ROUND(quantiles_at(q, 500)),
                   FIGURE_ROUND(usual->duration_ns));
        for (size_t i = 0; i < MIN(w->n_causes, (size_t) DIFFERENCES_SHOWN); i++) {
                _cleanup_buf_ Buf text = BUF_INIT;

                why_describe_cause(&text, w, &w->causes[i]);
                buf_printf(p->out, "%s%s ", i > 0 ? "; " : " ",
                           FIGURE_CHANGE(w->causes[i].change_ns));
                escape_xml(p->out, (const char *) text.data, text.n_data);
        }
        buf_adds(p->out, ".</p>\n");
        return 0;
}

int page_slow_write(const PageSlow *p) {
        _cleanup_(shown_done) Shown shown = {};
        int r = list_shown(p, &shown);

        for (size_t i = 0; i < p->outliers->n && r >= 0; i++) {
                const Invocation *usual = outliers_usual(p->outliers, shown.calls[i]);
                const Invocation *v = p->outliers->slowest[i];
                PageTree tree = { .out = p->out,
                                  .class = "step",
                                  .max_nodes = p->max_nodes,
                                  .open_permille = OPEN_PERMILLE };

                add_summary(p, v, i);
                buf_printf(p->out, "<button class=\"show\" data-call=\"%zu\">Timeline</button>\n",
                           i);
                if (usual)
                        buf_printf(p->out,
                                   "<button class=\"show\" data-call=\"%zu\">Timeline of a usual "
                                   "one</button>\n",
                                   number_of(&shown, usual));
                r = add_differences(p, v) ?: page_tree_write(&tree, v->tree);
                buf_adds(p->out, "</details>\n");
        }
        return r;
}

/* --- spans ------------------------------------------------------------------------------------ */

static void add_waker(Buf *out, const InvocationSpan *s) {
        buf_adds(out, "off the CPU");
        if (s->is_forced)
                buf_adds(out, ", preempted");
        else if (!s->is_woken)
                buf_adds(out, ", woken by nobody that was seen");
        else if (s->waker.is_irq)
                buf_adds(out, ", woken by an interrupt");
        else {
                buf_adds(out, ", woken by ");
                escape_json(out, s->waker.comm, strlen(s->waker.comm));
                buf_printf(out, " %d", s->waker.pid);
        }
        if (s->is_woken && s->waker.function) {
                buf_adds(out, " in ");
                escape_json(out, s->waker.function->label, s->waker.function->n_label);
                buf_adds(out, UNHOOKED_TEXT(s->waker.function->n_unhooked));
        }
}

static int kind_of(const InvocationSpan *s) {
        if (!s->function || s->blocked_ns > (s->end_ns - s->begin_ns) / 2)
                return PAGE_SPAN_WAIT;
        return s->is_cut ? PAGE_SPAN_CUT : s->in_irq ? PAGE_SPAN_IRQ : PAGE_SPAN_CALL;
}

/* Names are those of functions, each once, and one for each wait. */
static int add_spans(const PageSlow *p, const Invocation *v) {
        _cleanup_(intern_done) Intern names = {};
        uint64_t begin_ns = v->n_spans > 0 ? v->spans[0].begin_ns : 0;
        Buf *out = p->out;

        buf_adds(out, "\"spans\":[");
        for (size_t i = 0; i < v->n_spans; i++) {
                const InvocationSpan *s = &v->spans[i];
                uint32_t name;

                if (intern_add(&names, s->function ? (const void *) s->function : s, &name) < 0)
                        return -ENOMEM;
                buf_printf(out, "%s%" PRIu64 ",%" PRIu64 ",%d,%u,%d", i > 0 ? "," : "",
                           s->begin_ns - begin_ns, s->end_ns - s->begin_ns, s->level, name,
                           kind_of(s));
        }
        buf_adds(out, "],\"names\":[");
        for (uint32_t i = 0; i < names.n; i++) {
                const void *item = names.items[i];
                const InvocationSpan *wait = item;

                buf_adds(out, i > 0 ? ",\"" : "\"");
                if (wait >= v->spans && wait < v->spans + v->n_spans)
                        add_waker(out, wait);
                else {
                        const Function *f = item;

                        escape_json(out, f->label, f->n_label);
                        if (!unhooked_is_none(f->n_unhooked))
                                buf_printf(out, " (%s)", UNHOOKED_NOTE(f->n_unhooked));
                }
                buf_adds(out, "\"");
        }
        buf_adds(out, "]");
        return 0;
}

int page_slow_write_spans(const PageSlow *p) {
        _cleanup_(shown_done) Shown shown = {};
        int r = list_shown(p, &shown);

        buf_adds(p->out, "[");
        for (size_t i = 0; i < shown.n && r >= 0; i++) {
                const Invocation *v = shown.calls[i];
                uint64_t ns = v->n_spans > 0 ? v->spans[0].end_ns - v->spans[0].begin_ns : 0;

                buf_adds(p->out, i > 0 ? ",\n{\"title\":\"" : "{\"title\":\"");
                if (i < p->outliers->n)
                        buf_printf(p->out, "%zu. ", i + 1);
                else
                        buf_adds(p->out, "a usual ");
                escape_json(p->out, v->root->label, v->root->n_label);
                buf_printf(p->out, ", %s\",\"ns\":%" PRIu64 ",\"left\":%zu,",
                           FIGURE_ROUND(v->duration_ns), ns, v->n_spans_left_out);
                r = add_spans(p, v);
                buf_adds(p->out, "}");
        }
        buf_adds(p->out, "]");
        return r;
}
