/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * A text as it may come from anywhere: what is read of it can be drawn, counted, pruned and filtered, and
 * what was drawn is a text of the same kind that has no damage.
 */

#include <sys/mman.h>

#include "analyze/breakdown.h"
#include "analyze/call-tree.h"
#include "base/io.h"
#include "calls/census.h"
#include "calls/filter.h"
#include "calls/prune.h"
#include "fuzz.h"
#include "import/text-trace.h"
#include "render/renderer.h"

static TextTrace *fuzz_open(const void *data, size_t n, int *ret_r) {
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        TextTrace *t = NULL;

        FUZZ_CHECK(fd >= 0 && write_full(fd, data, n) == 0 && lseek(fd, 0, SEEK_SET) == 0);
        *ret_r = text_trace_take_fd(&t, fd);
        FUZZ_CHECK((*ret_r == 0 || *ret_r == TEXT_TRACE_E_FOREIGN) && t);
        return t;
}

static void fuzz_check_step(const Step *s) {
        if (s->kind == STEP_LOST || s->kind == STEP_TASK)
                return;
        FUZZ_CHECK(s->comm && (s->said || s->kind == STEP_OTHER) && s->cpu < 8192);
        FUZZ_CHECK(s->depth >= 0 && s->depth <= STEP_DEPTH_MAX);
        FUZZ_CHECK(step_is_call(s) ? s->function != NULL : s->text != NULL);
}

/* Draws @t with @renderer, and adds it up. */
static void fuzz_draw(TextTrace *t, const Renderer *renderer, bool is_verbatim, Buf *out) {
        const TextLayout *l = text_trace_layout(t);
        RenderContext context = { .options = RENDER_OPTIONS_DEFAULT, .n_possible_cpus = 8192 };
        _cleanup_(prune_freep) Prune *prune = NULL;
        _cleanup_(pairing_freep) Pairing *pairing = NULL;
        _cleanup_(breakdown_freep) Breakdown *p = NULL;
        _cleanup_(call_tree_freep) CallTree *tree = NULL;
        _cleanup_census_ Census census = {};
        const TextCount *c = text_trace_count(t);
        Strv patterns = {}, roots = {};
        const TextNote *notes;
        uint64_t n_calls = 0;
        void *rendering;
        size_t n;
        Step s;

        context.options.abstime = l->columns.abstime;
        context.options.cpu = l->columns.cpu;
        context.options.proc = l->columns.proc;
        context.options.latency = l->columns.latency;
        context.options.duration = l->columns.duration;
        context.options.tight = l->is_tight;
        context.options.verbatim = is_verbatim;
        context.heading = l->heading;
        FUZZ_CHECK(prune_new(&prune, &patterns) == 0 && census_init(&census, &roots, false) == 0);
        FUZZ_CHECK(pairing_new(&pairing) == 0);
        FUZZ_CHECK(breakdown_new(&p, BREAKDOWN_BY_MODULE, pairing) == 0);
        FUZZ_CHECK(call_tree_new(&tree, pairing) == 0);
        FUZZ_CHECK(renderer->new (&rendering, &context, out) == 0);
        renderer->begin(rendering);
        while (text_trace_next(t, &s) > 0) {
                fuzz_check_step(&s);
                n_calls += s.kind == STEP_ENTER || s.kind == STEP_LEAF;
                FUZZ_CHECK(prune_hides(prune, &s) == 0);
                FUZZ_CHECK(census_step(&census, &s) == 0);
                FUZZ_CHECK(pairing_step(pairing, &s) == 0);
                renderer->step(rendering, &s);
        }
        renderer->end(rendering);
        renderer->free(rendering);
        census_finish(&census);
        FUZZ_CHECK(pairing_finish(pairing) == 0 && out->error == 0);
        FUZZ_CHECK(call_tree_finish(tree) == 0);
        FUZZ_CHECK(call_tree_root(tree)->total_ns == pairing_total_ns(pairing));
        FUZZ_CHECK(call_tree_root(tree)->n_below == pairing_n_calls(pairing));
        FUZZ_CHECK(n_calls == c->n_open + c->n_leaf && census.n_entries == n_calls);
        notes = text_trace_notes(t, &n);
        for (size_t i = 0; i < n; i++)
                FUZZ_CHECK(notes[i].line > 0 && notes[i].line <= c->n_lines &&
                           text_remark_name(notes[i].remark));
}

typedef struct FuzzCounted {
        TextTrace *trace;
        uint64_t n;
} FuzzCounted;

static int fuzz_next(void *userdata, uint64_t until_ns, Step *ret) {
        FuzzCounted *c = userdata;
        int r = text_trace_next(c->trace, ret);

        c->n += r > 0;
        return r;
}

/* Every stage of a filter at once: what comes out is part of what went in. */
static void fuzz_filter(const uint8_t *data, size_t n_data) {
        const Strv notrace = { .items = (char *[]){ (char *) "*lock*" }, .n = 1 };
        const Strv fold = { .items = (char *[]){ (char *) "irq", (char *) "tcp_*" }, .n = 2 };
        const FilterSpec spec = {
                .notrace = &notrace, .fold = &fold, .depth = 9, .keep_ns = 2000, .slower_ns = 500
        };
        _cleanup_(filter_freep) Filter *f = NULL;
        FuzzCounted counted = {};
        uint64_t n = 0;
        Step s;
        int r;

        counted.trace = fuzz_open(data, n_data, &r);
        FUZZ_CHECK(filter_new(&f, &spec) == 0);
        while (r == 0 && filter_next(f, &(StepSource){ fuzz_next, &counted }, UINT64_MAX, &s) > 0) {
                fuzz_check_step(&s);
                n++;
        }
        FUZZ_CHECK(n <= counted.n);
        text_trace_free(counted.trace);
}

static void fuzz_text(const uint8_t *data, size_t n_data, TextKind kind) {
        bool is_indent = streq(text_kind_form(kind)->format, "indent");
        const Renderer *renderer = is_indent ? &renderer_indent : &renderer_kernel;
        const Renderer *other = is_indent ? &renderer_kernel : &renderer_indent;
        _cleanup_buf_ Buf out = BUF_INIT, again = BUF_INIT;
        TextTrace *t;
        int r;

        t = fuzz_open(data, n_data, &r);
        fuzz_draw(t, renderer, n_data % 2, &out);
        r = r ?: text_trace_layout(t)->kind != kind;
        text_trace_free(t);
        fuzz_filter(data, n_data);
        if (r != 0)
                return;
        t = fuzz_open(out.data, out.n_data, &r);
        fuzz_draw(t, other, false, &again);
        /* What other languages call a function is not always what the kernel would. */
        FUZZ_CHECK(kind == TEXT_UFTRACE || text_trace_count(t)->n_remarks[TEXT_DAMAGED] == 0);
        text_trace_free(t);
}
