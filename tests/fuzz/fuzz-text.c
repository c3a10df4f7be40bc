/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A text as it may come from anywhere: what is read of it can be drawn and pruned, and what was drawn is a text of
 * the same kind that has no damage.  What filters it and adds it up is fuzz-everything.c.
 */

#include "calls/census.h"
#include "fuzz-mutate.h"
#include "import/text-trace.h"
#include "render/renderer.h"

static TextTrace *fuzz_open(const void *data, size_t n, int *ret_r) {
        TextTrace *t = NULL;

        *ret_r = text_trace_take_fd(&t, fuzz_file(data, n), 1);
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

/* A text while it is drawn. */
typedef struct FuzzDrawing {
        TextTrace *trace;
        const Renderer *renderer;
        void *rendering;
        Buf *out;
        Prune prune;
        Stretch stretch;
        uint64_t n_calls;
} FuzzDrawing;

static void fuzz_draw_begin(FuzzDrawing *d, TextTrace *t, const Renderer *renderer,
                            bool is_verbatim, Buf *out) {
        const TextLayout *l = text_trace_layout(t);
        RenderContext context = { .options = RENDER_OPTIONS_DEFAULT, .n_possible_cpus = 8192 };
        static const Strv none = {};

        *d = (FuzzDrawing){
                .trace = t, .renderer = renderer, .out = out, .prune.names.patterns = &none
        };
        context.options.abstime = l->columns.abstime;
        context.options.cpu = l->columns.cpu;
        context.options.proc = l->columns.proc;
        context.options.duration = l->columns.duration;
        context.options.verbatim = is_verbatim;
        context.heading = l->kind == TEXT_GRAPH && is_verbatim ? l->heading : NULL;
        FUZZ_CHECK(renderer->new (&d->rendering, &context, out) == 0);
}

static void fuzz_draw_end(FuzzDrawing *d) {
        const TextCount *c = text_trace_count(d->trace);
        const TextNote *notes;
        size_t n;
        Step s;

        while (text_trace_next(d->trace, &s) > 0) {
                fuzz_check_step(&s);
                d->n_calls += s.kind == STEP_ENTER || s.kind == STEP_LEAF;
                FUZZ_CHECK(!step_is_call(&s) || prune_hides(&d->prune, &d->stretch, &s) == 0);
                d->renderer->step(d->rendering, &s);
        }
        d->renderer->free(d->rendering);
        FUZZ_CHECK(d->out->error == 0 && d->n_calls == c->n_open + c->n_leaf);
        notes = text_trace_notes(d->trace, &n);
        for (size_t i = 0; i < n; i++)
                FUZZ_CHECK(notes[i].line > 0 && notes[i].line <= c->n_lines &&
                           text_remark_name(notes[i].remark));
        name_set_done(&d->prune.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_data) {
        _cleanup_buf_ Buf out = BUF_INIT, again = BUF_INIT;
        bool is_indent;
        FuzzDrawing d;
        TextTrace *t;
        int r;

        t = fuzz_open(data, n_data, &r);
        is_indent = streq(text_kind_form(text_trace_layout(t)->kind)->format, "indent");
        fuzz_draw_begin(&d, t, is_indent ? &renderer_indent : &renderer_kernel, n_data % 2, &out);
        fuzz_draw_end(&d);
        text_trace_free(t);
        if (r != 0)
                return 0;
        t = fuzz_open(out.data, out.n_data, &r);
        fuzz_draw_begin(&d, t, is_indent ? &renderer_kernel : &renderer_indent, false, &again);
        fuzz_draw_end(&d);
        FUZZ_CHECK(text_trace_count(t)->n_remarks[TEXT_DAMAGED] == 0);
        text_trace_free(t);
        return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed) {
        return fuzz_mutate_lines(data, n, max, seed);
}
