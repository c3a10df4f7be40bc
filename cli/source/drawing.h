/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Drawing: a recording becomes text, at once or as it grows
 *
 *      drawing_open() drawing_finish()                     all of it
 *      drawing_open() drawing_pump()... drawing_finish()   live
 *
 * And display_*(): what the verbs that draw say besides, on standard error.  SIGPIPE must be ignored; a reader that
 * left is -EPIPE.
 */

#include <stdint.h>

#include "base/cleanup.h"
#include "calls/census.h"
#include "cli/options/filtering.h"
#include "cli/source/source.h"
#include "render/renderer.h"

typedef struct DrawingOptions {
        /* Gets the steps in place of a renderer, whose errors it may return; NULL: they are drawn. */
        int (*listener)(void *userdata, const Step *step);
        void *userdata;
        const char *format; /* a renderer's name; NULL: as the kernel draws */
        RenderOptions render;
        /* Recorded on this very machine, now: tasks may be asked of /proc; and it is counted. */
        bool live;
        Filtering *filtering; /* resolved when the recording is open; NULL: all of it is drawn */
} DrawingOptions;

#define DRAWING_OPTIONS_DEFAULT ((DrawingOptions){ .render = RENDER_OPTIONS_DEFAULT })

enum { DRAWING_E_UNREADABLE = 1 }; /* the recording cannot be decoded; *ret_problem says why */

typedef struct Drawing {
        const DrawingOptions *options; /* borrowed */
        Playback *playback;            /* NULL: it is not open */
        const Renderer *renderer;
        void *rendering; /* NULL: the listener has the steps */
        Buf out;
        Census census; /* live: so far; after drawing_finish() finished */
        struct LiveTask *live_tasks;
        size_t n_live_tasks;
} Drawing;

/* What a renderer of this recording is to know; RENDER_AUTO has become an answer. */
RenderContext drawing_context(const SessionMeta *meta, const RenderOptions *options);

/*
 * drawing_open() - draw the header of a recording, and be ready for its calls
 * @dir, @meta, @options, @out_fd: borrowed for the drawing's life
 * @ret_problem: on DRAWING_E_UNREADABLE half a sentence, which the caller frees: "its
 *               events/header_page is missing"
 *
 * drawing_done() it also after a failure.  0, DRAWING_E_*, -errno.
 */
int drawing_open(Drawing *ret, const SessionDir *dir, const SessionMeta *meta,
                 const DrawingOptions *options, int out_fd, char **ret_problem);
/*
 * drawing_pump() - draw and write out what came since
 * @until_ns: trace clock; events after it stay, because an earlier one of another CPU may still
 *            come: give a moment before which every CPU's pages have surely been stored
 *
 * An entry is drawn without waiting for its exit, so that a leaf that falls between two pumps is
 * drawn open, as the kernel's trace_pipe does.  0 or -errno.
 */
int drawing_pump(Drawing *d, uint64_t until_ns);
/* Draws the rest.  @is_live: its session still records; @damage: gets a sentence for each thing
 * that had to be stepped over (cli/source/damage.h).  0 or -errno. */
int drawing_finish(Drawing *d, bool is_live, Strv *damage);
void drawing_done(Drawing *d);
#define _cleanup_drawing_ _cleanup_(drawing_done)

/* From --format, -O and --no-legend; an exit status. */
int display_options(DrawingOptions *ret, const Options *o);
/* Turns the result of those functions into an exit status; consumes @problem. */
int display_status(int r, const SessionMeta *m, char *problem);
/* Draws all of @s on stdout, through a pager on a terminal, and says what was damaged; an exit
 * status, STATUS_INCOMPLETE if anything was. */
int display_report(const Source *s, const Options *o, const DrawingOptions *d);
/* Counts what is in @s without drawing it; an exit status. */
int display_count(Census *ret, const Source *s);
/* That no call is left of a recording with @f; @o as it was said.  Nothing if one is, or nothing was left out. */
void display_none_left(const Options *o, const Filtering *f);
/* Why there are no calls, if there are none.  Counts them only where that is quick. */
void display_silence(const Options *o, const Source *s);
/* What a ring dropped, which is no loss. */
void display_dropped(const Options *o, const SessionMeta *m);
/* A line for each time that the host slept or its clock was set, which the times drawn do not show. */
void display_clock(const Options *o, const SessionMeta *m);
/* One line about the functions that were not hooked, if any. */
void display_left_out(const Options *o, const SessionMeta *m);
/* Says what is missing, CPU by CPU, if anything is; not silenced by --quiet. */
void display_loss(const SessionMeta *m);
