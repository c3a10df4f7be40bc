/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Steps go to the renderer, whose Buf empties itself into the descriptor.  A live drawing does the
 * same again and again up to a moment; the names of tasks, which the daemon stores at the end, it
 * asks of /proc meanwhile.  The drawing alone goes to stdout, so that it can be compared with the
 * kernel's; loss is talk.
 */

#include <fcntl.h>

#include "base/io.h"
#include "base/name.h"
#include "cli/source/source.h"
#include "cli/terminal/terminal.h"
#include "meta/brief.h"

#define LIVE_TASKS_MAX 4096
#define FEW_EVENTS 20000
#define CLOCK_LINES_MAX 20

typedef struct LiveTask LiveTask;
struct LiveTask {
        LiveTask *next;
        int32_t pid;
        char comm[TASK_COMM_BYTES];
};

/* The name of a task that runs or ran on this machine; "<...>" if it is gone. */
static const char *live_comm(Drawing *d, int32_t pid, const char *unknown) {
        _cleanup_free_ char *text = NULL;
        char path[64];
        LiveTask *t;
        size_t n;

        for (t = d->live_tasks; t; t = t->next)
                if (t->pid == pid)
                        return t->comm;
        if (d->n_live_tasks >= LIVE_TASKS_MAX)
                return unknown;
        t = calloc(1, sizeof(*t));
        if (!t)
                return unknown;
        t->pid = pid;
        (void) snprintf(path, sizeof(path), "/proc/%d/comm", pid);
        if (file_read(AT_FDCWD, path, &text, &n, 4096) < 0)
                (void) snprintf(t->comm, sizeof(t->comm), "%s", unknown);
        else
                (void) snprintf(t->comm, sizeof(t->comm), "%.*s", (int) strcspn(text, "\n"), text);
        t->next = d->live_tasks;
        d->live_tasks = t;
        d->n_live_tasks++;
        return t->comm;
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
        census_finish(&d->census);
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
        for (LiveTask *t; (t = POP(d->live_tasks));)
                free(t);
        playback_free(d->playback);
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
        _cleanup_strv_ Strv damage = {};
        char *problem = NULL;
        int r;

        pager_open(&pager, o, SIZE_MAX);
        r = drawing_open(&drawing, s->dir, s->meta, d, STDOUT_FILENO, &problem)
                    ?: drawing_finish(&drawing, session_state_is_live(s->meta->state), &damage);
        r = pager_end(&pager, r);
        warn_each(&damage);
        r = display_status(r, s->meta, problem);
        return r == STATUS_OK && damage.n > 0 ? STATUS_INCOMPLETE : r;
}

int display_count(Census *ret, const Source *s) {
        _cleanup_(playback_freep) Playback *p = NULL;
        _cleanup_free_ char *problem = NULL;
        _cleanup_census_ Census census = { .only_exits = s->meta->spec.slower_ns > 0 };
        Step step;
        int r = playback_open(&p, s->dir, s->meta, &problem);

        if (r > 0)
                return failed(STATUS_FAILED, "session \"%s\" cannot be read: %s.", s->meta->name,
                              problem ?: "it is damaged");
        while (r == 0) {
                r = steps_next(&p->steps, UINT64_MAX, &step);
                if (r <= 0)
                        break;
                r = census_step(&census, &step);
        }
        if (r < 0)
                return failed_errno(r, "Failed to count the calls of session \"%s\": %m",
                                    s->meta->name);
        census_finish(&census);
        *ret = census;
        census = (Census){};
        return STATUS_OK;
}

/* Calls do not come alone in a session with other events, and few of these are counted soon. */
static bool is_silent(const Source *s) {
        _cleanup_census_ Census census = {};
        uint64_t n_events = 0;

        if (session_meta_is_of_file(s->meta) || silence_is_total(s->meta))
                return !session_meta_is_of_file(s->meta);
        for (size_t i = 0; i < s->meta->n_cpus; i++)
                n_events += s->meta->cpus[i].read_events;
        return s->meta->spec.events.n > 0 && n_events < FEW_EVENTS &&
               display_count(&census, s) == STATUS_OK && census.n_trees == 0;
}

void display_silence(const Options *o, const Source *s) {
        if (is_silent(s))
                talk(o, "%s has no calls: %s.", s->meta->name, SUMMARY_SILENCE(s->meta));
}

void display_none_left(const Options *o, const Filtering *f) {
        _cleanup_free_ char *said = NULL;

        if (f->has_left || filtering_is_empty(f))
                return;
        said = options_said_filters(o);
        talk(o, "There are no calls in it%s.", said ?: "");
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

void display_left_out(const Options *o, const SessionMeta *m) {
        _cleanup_buf_ Buf text = BUF_INIT;

        summary_hooked(&text, m);
        if (text.n_data > 0)
                talk(o, "%s: %.*s.", m->name, (int) text.n_data, text.data);
}

void display_loss(const SessionMeta *m) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDERR_FILENO);

        summary_loss_lines(&out, m);
        (void) buf_flush(&out);
}
