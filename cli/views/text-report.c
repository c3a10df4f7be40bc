/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Steps go from the text, past the filters, to the renderer. */

#include "base/log.h"
#include "cli/options/status.h"
#include "cli/source/display.h"
#include "cli/terminal/terminal.h"
#include "cli/views/text-report.h"

static void free_rendering(const Renderer *renderer, void *rendering) {
        if (rendering)
                renderer->free(rendering);
}

/* @is_whole: lines as they were, and all of them.  0, -errno of writing, or an exit status of reading. */
static int draw(Reading *reading, const Renderer *renderer, void *rendering, bool is_whole,
                Buf *out) {
        const char *rest;
        size_t n_rest;
        int r;

        renderer->begin(rendering);
        for (;;) {
                Step step;

                r = reading_next(reading, &step);
                if (r <= 0)
                        break;
                renderer->step(rendering, &step);
                if (_unlikely_(out->error < 0))
                        return out->error;
        }
        if (is_whole) {
                rest = text_trace_rest(reading->text.trace, &n_rest);
                buf_add(out, rest, n_rest);
        }
        return buf_flush(out) ?: -r;
}

int text_report(Reading *reading, const Options *o) {
        TextSource *s = &reading->text;
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        const Renderer *renderer;
        RenderContext context;
        void *rendering = NULL;
        DrawingOptions d;
        int status = display_options(&d, o), r;

        if (status != STATUS_OK)
                return status;
        text_source_layout(s, o, &d);
        text_trace_keep_going(s->trace, true);
        text_trace_keep_times(s->trace, true);
        renderer = renderer_find(d.format);
        context = (RenderContext){ .options = d.render,
                                   .n_possible_cpus = d.n_possible_cpus,
                                   .heading = d.heading };
        r = renderer->new (&rendering, &context, &out);
        if (r >= 0) {
                pager_open(&pager, o, SIZE_MAX);
                r = draw(reading, renderer, rendering, d.render.verbatim && !reading->filter, &out);
                r = pager_end(&pager, r);
        }
        free_rendering(renderer, rendering);
        if (r < 0)
                return stdout_status(r);
        status = text_source_finish(s, o);
        return r > 0 ? r : status;
}
