/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Steps go to the census and to the renderer, whose Buf empties itself into the
 * descriptor.  A live drawing does the same again and again up to a moment; the
 * names of tasks, which the daemon stores at the end, it asks of /proc meanwhile.
 */

#include <fcntl.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/name.h"
#include "calls/playback.h"
#include "cli/source/damage.h"
#include "cli/source/drawing.h"
#include "cli/terminal/summary.h"

#define LIVE_TASKS_MAX 4096

typedef struct LiveTask LiveTask;
struct LiveTask {
        LiveTask *next;
        int32_t pid;
        char comm[TASK_COMM_BYTES];
};

struct Drawing {
        Playback *playback;
        const Renderer *renderer;
        void *rendering; /* NULL: the listener has the steps */
        int (*listener)(void *userdata, const Step *step);
        void *userdata;
        bool live;
        bool counts;          /* whether anybody asks for the census */
        Filtering *filtering; /* NULL: none */
        LiveTask *live_tasks;
        size_t n_live_tasks;
        Buf out;
        Census census;
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
        for (;;) {
                Step step;
                int r = playback_next(d->playback, until_ns, &step);

                if (r <= 0)
                        return r;
                if (d->filtering)
                        d->filtering->has_left |= step_is_call(&step);
                if (d->live && step.comm && streq(step.comm, "<...>"))
                        step.comm = live_comm(d, step.pid, step.comm);
                r = d->counts ? census_step(&d->census, &step) : 0;
                if (r < 0)
                        return r;
                if (d->rendering)
                        d->renderer->step(d->rendering, &step);
                else
                        r = d->listener(d->userdata, &step);
                if (_unlikely_(r < 0 || d->out.error < 0))
                        return r < 0 ? r : d->out.error;
        }
}

/* The only error that is not one. */
static int pipe_or_error(const Drawing *d, int r) {
        return r < 0 && r == d->out.error && r == -EPIPE ? DRAWING_E_PIPE : r;
}

int drawing_pump(Drawing *d, uint64_t until_ns) {
        int r = playback_refresh(d->playback) ?: draw_until(d, until_ns) ?: buf_flush(&d->out);

        return pipe_or_error(d, r);
}

static int finish(Drawing *d, Census *ret, bool live, Strv *damage) {
        int r = playback_refresh(d->playback)
                    ?: draw_until(d, STREAM_NO_LIMIT)
                    ?: buf_flush(&d->out);

        if (r < 0)
                return pipe_or_error(d, r);
        if (damage)
                r = damage_describe(d->playback, live, damage);
        if (r < 0)
                return r;
        census_finish(&d->census);
        if (ret)
                *ret = TAKE(d->census, (Census){});
        return 0;
}

int drawing_finish(Drawing *d, Census *ret, Strv *damage) {
        return finish(d, ret, false, damage);
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

int drawing_new(Drawing **ret, const SessionDir *dir, const SessionMeta *meta,
                const DrawingOptions *options, int out_fd, char **ret_problem) {
        _cleanup_(drawing_freep) Drawing *d = NULL;
        const Renderer *renderer = renderer_find(options->format);
        RenderContext context = drawing_context(meta, &options->render);
        int r;

        if (!renderer)
                return DRAWING_E_FORMAT;
        d = NEW(Drawing, .renderer = renderer, .listener = options->listener,
                .userdata = options->userdata, .live = options->live, .counts = true,
                .filtering = options->filtering, .out = BUF_OF_TEXT(out_fd));
        if (!d)
                return -ENOMEM;
        r = playback_open(&d->playback, dir, meta, ret_problem);
        if (r == 0 && options->filtering)
                r = filtering_apply(options->filtering, d->playback, ret_problem);
        if (r != 0)
                return r == PLAYBACK_E_UNREADABLE ? DRAWING_E_UNREADABLE : r;
        playback_count(d->playback);
        d->census.only_exits = meta->spec.slower_ns > 0;
        if (!options->listener) {
                r = renderer->new (&d->rendering, &context, &d->out);
                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(d);
        return 0;
}

const Census *drawing_census(const Drawing *d) {
        return &d->census;
}

Drawing *drawing_free(Drawing *d) {
        if (!d)
                return NULL;
        if (d->rendering)
                d->renderer->free(d->rendering);
        for (LiveTask *t; (t = POP(d->live_tasks));)
                free(t);
        playback_free(d->playback);
        census_done(&d->census);
        buf_done(&d->out);
        return mfree(d);
}

int drawing_report(const SessionDir *dir, const SessionMeta *meta, const DrawingOptions *options,
                   int out_fd, Census *ret, Strv *damage, char **ret_problem) {
        _cleanup_(drawing_freep) Drawing *d = NULL;
        int r = drawing_new(&d, dir, meta, options, out_fd, ret_problem);

        if (r == 0) {
                d->counts = ret;
                r = finish(d, ret, session_state_is_live(meta->state), damage);
        }
        return r;
}
