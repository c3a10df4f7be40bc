/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A session that still records is drawn as far as it is stored. */

#include "base/name.h"
#include "cli/options/verb.h"
#include "cli/source/display.h"
#include "cli/source/reading.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "cli/views/merged-report.h"

/* One object a call. */
static int report_json(const Options *o) {
        Options as = *o;

        as.format = "ndjson";
        return verb_export(&as);
}

/* Of a session: a file of another program does not say whether it has any. */
static void say_absence(const Options *o, const SessionMeta *m) {
        if (o->spec.args && !m->spec.args && m->spec.args_functions.n == 0 &&
            m->spec.functions.n > 0)
                talk(o, "%s has no arguments: they have to be recorded, with --args.", m->name);
}

/* Whose values there are was chosen when they were recorded. */
static int refuse_function(const char *option, const char *function) {
        return failed(
                STATUS_USAGE,
                "%s=%s chooses whose values are recorded; report draws all that were: give "
                "%s alone, or leave out other functions with --function, --root or --notrace.",
                option, NAME_QUOTED(function), option);
}

/* @is_whole: lines as they were, and all of them.  0, -errno of writing, or an exit status of
 * reading. */
static int draw_text(Reading *reading, const Renderer *renderer, void *rendering, bool is_whole,
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

/* In its own format and columns, unless the options say otherwise. */
static int report_text(Reading *reading, const Options *o) {
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
                r = draw_text(reading, renderer, rendering, d.render.verbatim && !reading->filter,
                              &out);
                r = pager_end(&pager, r);
        }
        if (rendering)
                renderer->free(rendering);
        if (r < 0)
                return stdout_status(r);
        display_none_left(o, &reading->filtering);
        status = text_source_finish(s, o);
        return r > 0 ? r : status;
}

int verb_report(const Options *o) {
        _cleanup_reading_ Reading reading = {};
        const Source *s;
        DrawingOptions d;
        int status;

        if (o->spec.retval_functions.n > 0)
                return refuse_function("--retval", o->spec.retval_functions.items[0]);
        if (o->spec.args_functions.n > 0)
                return refuse_function("--args", o->spec.args_functions.items[0]);
        if (o->words.n > 1 && o->json != JSON_OFF)
                return failed(STATUS_USAGE, "--json has one recording at a time: call \"ftracectl "
                                            "report --json\" for each.");
        if (o->json != JSON_OFF)
                return report_json(o);
        if (o->words.n > 1)
                return merged_report(o);
        status = reading_find(&reading, o, o->words.items[0]);
        if (status != STATUS_OK || reading.text.trace)
                return status ?: report_text(&reading, o);
        s = reading.source;
        status = display_options(&d, o);
        d.filtering = &reading.filtering;
        if (status == STATUS_OK)
                status = display_report(s, o, &d);
        if (status != STATUS_OK && status != STATUS_INCOMPLETE)
                return status;
        display_none_left(o, &reading.filtering);
        say_absence(o, s->meta);
        if (session_state_is_live(s->meta->state) && !s->from_store)
                talk(o, "%s still records; this is what is stored so far.", s->meta->name);
        display_silence(o, s);
        display_dropped(o, s->meta);
        display_clock(o, s->meta);
        display_left_out(o, s->meta);
        display_loss(s->meta);
        return summary_is_complete(s->meta) ? status : STATUS_INCOMPLETE;
}
