/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Graph line: one line of the kernel's function_graph text, taken apart
 *
 *      10.001234 |   1)  server-412   |   1.302 us    |      netif_rx();
 *      abstime       cpu task             duration           depth, call
 *
 * Every column is optional (tracefs's options/funcgraph-*); which there are can
 * be seen in a line.  Blanks between columns may be more or fewer than the kernel's,
 * and stand behind the line: texts are pasted.  `trace`, `trace_pipe`, perf-tools' funcgraph and `perf
 * ftrace` print the same lines.
 *
 * Source: linux 6.1 kernel/trace/trace_functions_graph.c; return values and
 * their comments of 6.5, 6.13 and 7.2: print_graph_retval() there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/step.h"

/* The columns of a text. */
typedef struct GraphColumns {
        bool abstime, cpu, proc, latency, duration;
        uint32_t n_cpu_digits; /* how wide the CPU column is; 0: there is none */
} GraphColumns;

typedef enum GraphLineKind {
        GRAPH_OTHER,    /* not of a trace */
        GRAPH_DAMAGED,  /* it has the columns, but not what belongs behind them */
        GRAPH_HEADER,   /* begins with "#", and is the tracer's */
        GRAPH_BLANK,    /* nothing at all */
        GRAPH_RULE,     /* " -----" around a switch of tasks */
        GRAPH_SWITCH,   /* " 0)  cat-123  =>  bash-9" */
        GRAPH_LOST,     /* "CPU:1 [LOST 13147 EVENTS]" */
        GRAPH_STARTED,  /* "##### CPU 1 buffer started ####" */
        GRAPH_IRQ_IN,   /* "==========> |" */
        GRAPH_IRQ_OUT,  /* "<========== |" */
        GRAPH_OVERRUNS, /* " (Overruns: 1)" */
        GRAPH_OPEN,     /* f() { */
        GRAPH_LEAF,     /* f(); */
        GRAPH_CLOSE,    /* } */
        GRAPH_COMMENT,  /* an event of another kind, between comment signs */
} GraphLineKind;

typedef enum GraphHeading {
        GRAPH_HEADING_RULE,    /* "#", and bars: only below one of the others */
        GRAPH_HEADING_TRACER,  /* "# tracer: " */
        GRAPH_HEADING_COLUMNS, /* their names */
        GRAPH_HEADING_BARE,    /* the same, and there are none */
} GraphHeading;

typedef struct GraphTask {
        const char *comm; /* not ended; as printed: 7 bytes at most, made plain or not */
        uint32_t n_comm;
        int32_t pid;
} GraphTask;

typedef struct GraphLine {
        GraphLineKind kind;
        GraphColumns columns;
        GraphHeading heading; /* HEADER */
        const char *problem;  /* DAMAGED: what is wrong, half a sentence */
        uint32_t cpu;
        uint64_t timestamp_ns;
        GraphTask task; /* with the column proc, and SWITCH: the former */
        GraphTask next; /* SWITCH */
        bool has_duration;
        uint64_t duration_ns;
        int32_t depth;
        bool is_depth_untold; /* the blanks that would tell it are lost: depth is 0 */
        const char *label;    /* OPEN, LEAF, and CLOSE if it has a name; NULL: it has none */
        uint32_t n_label, n_name;
        uint64_t number;  /* LOST: how many, 0 is not said; OVERRUNS */
        const char *text; /* COMMENT: between the signs; not ended */
        uint32_t n_text;
        StepText said;
} GraphLine;

/*
 * graph_line_parse()
 * @text:     @n_text bytes; what @ret points to lies in it
 * @expected: columns of the lines before, NULL: not known.  Without any column a line is only taken
 *            for a call if that is expected.
 *
 * Always sets all of @ret.
 */
void graph_line_parse(GraphLine *ret, const char *text, size_t n_text,
                      const GraphColumns *expected);
/* The value in a comment behind a call: "ret=0x40", "= -11".  False: it says none. */
bool graph_note_retval(const char *note, size_t n_note, uint64_t *ret);
