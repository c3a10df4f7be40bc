/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Steps go to the renderer, whose Buf empties itself into the descriptor.  A live drawing does the
 * same again and again up to a moment; the names of tasks, which the daemon stores at the end, it
 * asks of /proc meanwhile.  The drawing alone goes to stdout, so that it can be compared with the
 * kernel's; loss is talk.
 */

#include <fcntl.h>

#include "base/io.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"

#define CLOCK_LINES_MAX 20

/* The name of a task that runs or ran on this machine; "<...>" if it is gone. */
static const char *live_comm(Drawing *d, int32_t pid, const char *unknown) {
        LiveTask *t = &d->live_tasks[(uint32_t) pid % LIVE_TASKS];
        _cleanup_free_ char *text = NULL;
        char path[64];

        if (t->pid == pid)
                return *t->comm ? t->comm : unknown;
        (void) snprintf(path, sizeof(path), "/proc/%d/comm", pid);
        *t = (LiveTask){ .pid = pid };
        if (file_read(AT_FDCWD, path, &text, NULL, 4096) >= 0)
                (void) snprintf(t->comm, sizeof(t->comm), "%.*s", (int) strcspn(text, "\n"), text);
        return *t->comm ? t->comm : unknown;
}

static int draw_until(Drawing *d, uint64_t until_ns) {
        const DrawingOptions *o = d->options;

        for (;;) {
                Step step;
                int r = playback_next(d->playback, until_ns, &step);

                if (r <= 0)
                        return r;
                if (o->filtering)
                        o->filtering->has_left |= step_is_call(&step);
                if (o->live && step.comm && streq(step.comm, "<...>"))
                        step.comm = live_comm(d, step.pid, step.comm);
                r = o->live ? census_step(&d->census, &step) : 0;
                if (d->ways && r >= 0)
                        r = ways_step(d->ways, &step);
                if (r < 0)
                        return r;
                if (d->rendering)
                        d->renderer->step(d->rendering, &step);
                else
                        r = o->listener(o->userdata, &step);
                if (_unlikely_(r < 0 || d->out.error < 0))
                        return r < 0 ? r : d->out.error;
        }
}

int drawing_pump(Drawing *d, uint64_t until_ns) {
        return playback_refresh(d->playback) ?: draw_until(d, until_ns) ?: buf_flush(&d->out);
}

int drawing_finish(Drawing *d, bool is_live, Strv *damage) {
        int r = drawing_pump(d, STREAM_NO_LIMIT);

        if (r >= 0)
                r = damage_describe(d->playback, is_live, damage);
        return r;
}

RenderContext drawing_context(const SessionMeta *meta, const RenderOptions *options) {
        RenderContext context = {
                .options = *options,
                .n_possible_cpus = meta->n_possible_cpus,
                .own_work = meta->own_work.n > 0 ? &meta->own_work : NULL,
                .has_ticks = summary_has_ticks(meta),
                .bare_retval = release_compare(meta->kernel, 6, 13) == RELEASE_BEFORE,
        };

        context.options.notes &= !meta->spec.flat; /* who asked for no callees knows */
        if (context.options.retval == RENDER_AUTO)
                context.options.retval = meta->spec.retval || meta->spec.retval_functions.n > 0;
        return context;
}

int drawing_open(Drawing *ret, const SessionDir *dir, const SessionMeta *meta,
                 const DrawingOptions *options, int out_fd, char **ret_problem) {
        RenderContext context = drawing_context(meta, &options->render);
        int r;

        *ret = (Drawing){ .options = options,
                          .renderer = renderer_find(options->format),
                          .out = BUF_OF_TEXT(out_fd),
                          .census = { .only_exits = meta->spec.slower_ns > 0 } };
        r = playback_open(&ret->playback, dir, meta, ret_problem);
        if (r == 0)
                r = source_programs_open(&ret->programs, ret->playback);
        if (r == 0 && options->filtering)
                r = filtering_apply(options->filtering, ret->playback, ret_problem);
        if (r != 0)
                return r;
        playback_count(ret->playback);
        return options->listener ? 0 : ret->renderer->new (&ret->rendering, &context, &ret->out);
}

void drawing_done(Drawing *d) {
        if (d->rendering)
                d->renderer->free(d->rendering);
        playback_free(d->playback);
        programs_free(d->programs);
        census_done(&d->census);
        buf_done(&d->out);
        *d = (Drawing){};
}

/* --- what is said besides --------------------------------------------------------------------- */

static int unknown_format(const Options *o) {
        _cleanup_strv_ Strv names = {};
        _cleanup_free_ char *list = NULL;

        for (size_t i = 0; renderers[i]; i++)
                (void) strv_add(&names, renderers[i]->name);
        list = strv_join(&names, ", ");
        return failed(STATUS_USAGE, "--format: there is no format \"%s\", only: %s.",
                      NAME_QUOTED(o->format), list ?: "");
}

int display_options(DrawingOptions *ret, const Options *o) {
        *ret = DRAWING_OPTIONS_DEFAULT;
        ret->format = o->format;
        ret->render.header = !o->no_legend;
        ret->render.colour = terminal_has_colours(o);
        if (o->spec.retval || o->spec.retval_functions.n > 0)
                ret->render.retval = true;
        if (!renderer_find(o->format))
                return unknown_format(o);
        for (size_t i = 0; i < o->render.n; i++)
                if (render_option_set(&ret->render, o->render.items[i]) != 0)
                        return failed(STATUS_USAGE,
                                      "-O: the drawing has no option \"%s\"; see \"ftracectl "
                                      "report --help\".",
                                      NAME_QUOTED(o->render.items[i]));
        return STATUS_OK;
}

int display_status(int r, const SessionMeta *m, char *problem) {
        _cleanup_free_ char *text = problem;

        if (r == DRAWING_E_UNREADABLE)
                return failed(STATUS_FAILED, "session \"%s\" cannot be drawn: %s.", m->name,
                              text ?: "it is damaged");
        if (r == -EPIPE)
                return STATUS_PIPE;
        return r < 0 ? failed_errno(r, "Failed to draw session \"%s\": %m", m->name) : STATUS_OK;
}

int display_report(const Source *s, const Options *o, const DrawingOptions *d) {
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_drawing_ Drawing drawing = {};
        _cleanup_(source_lines_done) SourceLines lines = {};
        _cleanup_strv_ Strv damage = {}, said = {};
        char *problem = NULL;
        int r = drawing_open(&drawing, s->dir, s->meta, d, STDOUT_FILENO, &problem);

        if (r == 0 && o->analysis.lines) {
                int status = source_lines_open(&lines, o, s->meta, drawing.playback);

                if (status != STATUS_OK)
                        return status;
                drawing.ways = lines.ways;
        }
        pager_open(&pager, o, SIZE_MAX);
        r = r
                    ?: stream_go_ahead(drawing.playback->stream)
                    ?: drawing_finish(&drawing, session_state_is_live(s->meta->state), &damage);
        r = pager_end(&pager, r);
        warn_each(&damage);
        if (drawing.playback &&
            source_programs_describe(drawing.programs, drawing.playback, &said) >= 0)
                for (size_t i = 0; i < said.n; i++)
                        talk(o, "%s", said.items[i]);
        source_lines_say(&lines, o);
        r = display_status(r, s->meta, problem);
        return r == STATUS_OK && damage.n > 0 ? STATUS_INCOMPLETE : r;
}

void display_dropped(const Options *o, const SessionMeta *m) {
        char text[SUMMARY_MAX];

        if (*summary_dropped(text, m))
                talk(o, "%s: %s.", m->name, text);
}

void display_clock(const Options *o, const SessionMeta *m) {
        for (size_t i = 0; i < MIN(m->clock_steps.n, (size_t) CLOCK_LINES_MAX); i++)
                talk(o, "%s: at %s.", m->name, SUMMARY_CLOCK_STEP(m, i));
        if (m->clock_steps.n > CLOCK_LINES_MAX)
                talk(o, "%s: and %zu more of these; \"ftracectl show %s\" lists them.", m->name,
                     m->clock_steps.n - CLOCK_LINES_MAX, m->name);
}

void display_lacks(const Options *o, const SessionMeta *m) {
        _cleanup_buf_ Buf text = BUF_INIT, out = BUF_OF_TEXT(STDERR_FILENO);

        if (m->filters)
                talk(o, "%s is a part of its recording: it was made with %s.", m->name, m->filters);
        summary_hooked(&text, m);
        if (text.n_data > 0)
                talk(o, "%s: %.*s.", m->name, (int) text.n_data, text.data);
        summary_loss_lines(&out, m);
        (void) buf_flush(&out);
}
