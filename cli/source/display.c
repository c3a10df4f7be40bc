/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The drawing alone goes to stdout, so that it can be compared with the kernel's; loss is talk. */

#include "base/name.h"
#include "calls/playback.h"
#include "cli/source/display.h"
#include "cli/terminal/summary.h"
#include "cli/terminal/terminal.h"
#include "meta/brief.h"

#define FEW_EVENTS 20000
#define CLOCK_LINES_MAX 20

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

int display_status(int r, const SessionMeta *m, const Options *o, char *problem) {
        _cleanup_free_ char *text = problem;

        switch (r) {
        case 0:
                return STATUS_OK;
        case DRAWING_E_PIPE:
                return STATUS_PIPE;
        case DRAWING_E_FORMAT:
                return unknown_format(o);
        case DRAWING_E_UNREADABLE:
                return failed(STATUS_FAILED, "session \"%s\" cannot be drawn: %s.", m->name,
                              text ?: "it is damaged");
        default:
                return failed_errno(r, "Failed to draw session \"%s\": %m", m->name);
        }
}

int display_report(const Source *s, const Options *o, const DrawingOptions *d) {
        _cleanup_pager_ Pager pager = PAGER_INIT;
        _cleanup_strv_ Strv damage = {};
        char *problem = NULL;
        bool is_paged;
        int r;

        pager_open(&pager, o, SIZE_MAX);
        is_paged = pager.pid > 0;
        r = drawing_report(s->dir, s->meta, d, STDOUT_FILENO, NULL, &damage, &problem);
        pager_close(&pager);
        if (r == DRAWING_E_PIPE && is_paged)
                r = 0; /* the reader has seen enough */
        warn_each(&damage);
        r = display_status(r, s->meta, o, problem);
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
