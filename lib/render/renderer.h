/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Renderers: steps become bytes; one file for each format, one table of them
 *
 * A renderer appends to a Buf, whose sticky error is its only error.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "calls/step.h"
#include "meta/gap.h"

/* The columns, named as tracefs's options/funcgraph-*; formats that have none ignore them. */
typedef struct RenderOptions {
        bool header;   /* the lines that begin with # */
        bool cpu;      /* funcgraph-cpu */
        bool duration; /* funcgraph-duration */
        bool overhead; /* funcgraph-overhead */
        bool proc;     /* funcgraph-proc */
        bool abstime;  /* funcgraph-abstime */
        bool tail;     /* funcgraph-tail */
        bool overrun;  /* funcgraph-overrun */
        bool irqs;     /* funcgraph-irqs: what interrupts call */
        bool notes; /* what was not hooked below (calls/function.h), and calls while ftraced changed hooks */
        /* What these show must have been recorded. */
        bool args;       /* funcgraph-args */
        uint8_t retval;  /* funcgraph-retval; RENDER_AUTO is off, unless its user decides */
        bool retval_hex; /* funcgraph-retval-hex */
        bool colour;     /* durations by their overhead, with a terminal's escape sequences */
        bool verbatim;   /* lines of a text as they were */
} RenderOptions;

#define RENDER_AUTO 2
#define RENDER_OPTIONS_DEFAULT                                                                     \
        ((RenderOptions){ .header = true,                                                          \
                          .cpu = true,                                                             \
                          .duration = true,                                                        \
                          .overhead = true,                                                        \
                          .irqs = true,                                                            \
                          .notes = true,                                                           \
                          .args = true,                                                            \
                          .retval = RENDER_AUTO })

enum { RENDER_E_UNKNOWN = 1 };
/* "funcgraph-proc", "nofuncgraph-cpu", with or without "funcgraph-".  0, RENDER_E_UNKNOWN. */
int render_option_set(RenderOptions *o, const char *word);

typedef struct RenderContext {
        RenderOptions options;
        uint32_t n_possible_cpus; /* of the recorded machine */
        const char *heading; /* "graph": of a text that is drawn verbatim; NULL: as the kernel's */
        const OwnWorks *own_work; /* "graph": when ftraced changed hooks; NULL: never */
        bool has_ticks;           /* "graph": times are numbers, not nanoseconds */
        bool bare_retval; /* its kernel is older than 6.13, which prints "= 0x0" for "ret=0x0" */
} RenderContext;

typedef struct Renderer {
        const char *name;
        const char *summary;
        /* @out is borrowed and outlives what is made; what stands above all steps is in it then.  0 or -ENOMEM. */
        int (*new)(void **ret, const RenderContext *context, Buf *out);
        void (*step)(void *p, const Step *step);
        void (*free)(void *p);
} Renderer;

extern const Renderer *const renderers[];        /* ends with NULL; the first is the default */
const Renderer *renderer_find(const char *name); /* NULL: the default; NULL if there is none */

/* What was drawn from @begin, the end of @out, to @end, is added.  A duration's number, what is two columns in front of it,
 * and all before the bar, are in a colour, what a terminal is told; @code NULL: nothing is. */
void render_coloured(Buf *out, const char *begin, const char *end, const char *code);

extern const Renderer renderer_kernel; /* "graph" */
extern const Renderer renderer_indent; /* "indent" */
