/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Drawing: a recording becomes text on a descriptor, at once or as it grows
 *
 *      drawing_report()                            all of it
 *      drawing_new() drawing_pump()... drawing_finish()   live
 *
 * SIGPIPE must be ignored; a reader that left is DRAWING_E_PIPE, not an error.
 */

#include <stdint.h>

#include "base/cleanup.h"
#include "calls/census.h"
#include "cli/options/filtering.h"
#include "render/renderer.h"
#include "store/session-dir.h"

typedef struct DrawingOptions {
        /* Gets the steps in place of a renderer, whose errors it may return; NULL: they are drawn. */
        int (*listener)(void *userdata, const Step *step);
        void *userdata;
        const char *format; /* a renderer's name; NULL: as the kernel draws */
        RenderOptions render;
        uint32_t n_possible_cpus; /* of a text; a recording knows it */
        const char *heading;      /* of a text */
        bool live;            /* recorded on this very machine, now: tasks may be asked of /proc */
        Filtering *filtering; /* resolved when the recording is open; NULL: all of it is drawn */
} DrawingOptions;

#define DRAWING_OPTIONS_DEFAULT ((DrawingOptions){ .render = RENDER_OPTIONS_DEFAULT })

enum {
        DRAWING_E_UNREADABLE = 1, /* the recording cannot be decoded; *ret_problem says why */
        DRAWING_E_PIPE = 2,       /* nobody reads @out_fd any more */
        DRAWING_E_FORMAT = 3,     /* no renderer of that name */
};

typedef struct Drawing Drawing;

/* What a renderer of this recording is to know; RENDER_AUTO has become an answer. */
RenderContext drawing_context(const SessionMeta *meta, const RenderOptions *options);

/*
 * drawing_report() - draw all there is
 * @out_fd:      borrowed
 * @ret:         census_done() it; may be NULL; set on success only
 * @damage:      gets a sentence for each thing that had to be stepped over (cli/source/damage.h); may be
 *               NULL
 * @ret_problem: on DRAWING_E_UNREADABLE half a sentence, which the caller frees: "its
 *               events/header_page is missing"
 *
 * Return: 0, DRAWING_E_*, -errno.
 */
int drawing_report(const SessionDir *dir, const SessionMeta *meta, const DrawingOptions *options,
                   int out_fd, Census *ret, Strv *damage, char **ret_problem);

/* Same parameters; @dir and @meta are borrowed for the drawing's life.  Draws the header. */
int drawing_new(Drawing **ret, const SessionDir *dir, const SessionMeta *meta,
                const DrawingOptions *options, int out_fd, char **ret_problem);
/*
 * drawing_pump() - draw and write out what came since
 * @until_ns: trace clock; events after it stay, because an earlier one of another CPU may still
 *            come: give a moment before which every CPU's pages have surely been stored
 *
 * An entry is drawn without waiting for its exit, so that a leaf that falls between two pumps is
 * drawn open, as the kernel's trace_pipe does.
 * Return: 0, DRAWING_E_PIPE, -errno.
 */
int drawing_pump(Drawing *d, uint64_t until_ns);
/* Draws the rest of a recording that has ended.  @ret, @damage: as above.  0, DRAWING_E_PIPE, -errno. */
int drawing_finish(Drawing *d, Census *ret, Strv *damage);
/* What was counted so far; not finished (census_finish()). */
const Census *drawing_census(const Drawing *d);
Drawing *drawing_free(Drawing *d);
DEFINE_CLEANUP(Drawing *, drawing_free);
