/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Steps go from the text to the renderer, past the filter. */

#include "base/log.h"
#include "calls/prune.h"
#include "cli/display.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "cli/text-report.h"

static void free_rendering(const Renderer *renderer, void *rendering) {
        if (rendering)
                renderer->free(rendering);
}

/* 0, -errno of memory or of writing, or an exit status of reading. */
static int draw(TextSource *s, const Options *o, const Renderer *renderer, void *rendering,
                Buf *out) {
        _cleanup_(prune_freep) Prune *prune = NULL;
        int r = 0;

        if (o->spec.notrace.n > 0)
                r = prune_new(&prune, &o->spec.notrace);
        if (r < 0)
                return r;
        renderer->begin(rendering);
        for (;;) {
                Step step;

                r = text_source_next(s, &step);
                if (r <= 0)
                        break;
                r = prune ? prune_hides(prune, &step) : 0;
                if (r < 0)
                        return r;
                if (r == 0)
                        renderer->step(rendering, &step);
                if (_unlikely_(out->error < 0))
                        return out->error;
        }
        renderer->end(rendering);
        return buf_flush(out) ?: -r;
}

static bool is_filtered(const Options *o) {
        const FilterOptions *f = &o->filter;

        return f->tasks.n + f->roots.n + f->functions.n + o->spec.pids.n > 0 || f->cpus ||
               f->from || f->to || f->nth + f->n_slowest + o->spec.slower_ns + o->spec.depth > 0;
}

int text_report(TextSource *s, const Options *o) {
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_buf_ Buf out = BUF_TO_FD(STDOUT_FILENO);
        const Renderer *renderer;
        RenderContext context;
        void *rendering = NULL;
        DrawingOptions d;
        int r, status;

        if (is_filtered(o)) {
                log_error("%s is a text, of which only --notrace leaves anything out.", s->name);
                return STATUS_USAGE;
        }
        status = display_options(&d, o);
        if (status != STATUS_OK)
                return status;
        text_source_layout(s, o, &d);
        text_trace_keep_going(s->trace, true);
        renderer = renderer_find(d.format);
        context = (RenderContext){ .options = d.render, .n_possible_cpus = d.n_possible_cpus };
        r = renderer->new (&rendering, &context, &out);
        if (r >= 0) {
                pager_open(&pager, o, SIZE_MAX);
                r = draw(s, o, renderer, rendering, &out);
                r = pager_end(&pager, r);
        }
        free_rendering(renderer, rendering);
        if (r < 0)
                return stdout_status(r);
        status = text_source_finish(s, o);
        return r > 0 ? r : status;
}
