/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/views/text-drawing.h"
#include "cli/source/display.h"
#include "cli/terminal/terminal.h"

static void free_rendering(const Renderer *renderer, void *rendering) {
        if (rendering)
                renderer->free(rendering);
}

/* @is_whole: lines as they were, and all of them.  0, -errno of writing, or an exit status of
 * reading. */
static int draw(Reading *reading, const Renderer *renderer, void *rendering, bool is_whole,
                Buf *out) {
        const char *rest;
        size_t n_rest;
        Step step;
        int r;

        while ((r = reading_next(reading, &step)) > 0) {
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

/* What has come is to be seen now. */
static bool show(void *userdata) {
        (void) buf_flush(userdata);
        return true;
}

int text_drawing(Reading *reading, const Options *o, bool is_live) {
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
        if (is_live)
                text_trace_on_wait(s->trace, show, &out);
        renderer = renderer_find(d.format);
        context = (RenderContext){ .options = d.render,
                                   .n_possible_cpus = d.n_possible_cpus,
                                   .heading = d.heading };
        r = renderer->new (&rendering, &context, &out);
        if (r >= 0) {
                if (!is_live)
                        pager_open(&pager, o, SIZE_MAX);
                r = draw(reading, renderer, rendering, d.render.verbatim && !reading->filter, &out);
                r = pager_end(&pager, r);
        }
        free_rendering(renderer, rendering);
        if (r < 0)
                return stdout_status(r);
        display_none_left(o, &reading->filtering);
        status = text_source_finish(s, o);
        return r > 0 ? r : status;
}
