/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Text line: what one line of a text says, whichever tracer has printed it
 *
 * Each kind of text has a NAME-line.c, which takes its lines apart and says what they look like.
 * Texts are not ended, and lie in the line.
 */

#include "calls/step.h"

#define LINE_CPU_MAX 8191    /* NR_CPUS is 8192 where it is largest */
#define LINE_PID_MAX 4194304 /* PID_MAX_LIMIT, include/linux/threads.h */
#define LINE_LABEL_MAX 1023  /* KSYM_NAME_LEN is 512 (linux 6.1), a module's name 56 */

/* The columns of a text. */
typedef struct GraphColumns {
        bool abstime, cpu, proc, latency, duration;
        uint32_t n_cpu_digits; /* how wide the CPU column is; 0: there is none */
} GraphColumns;

static inline bool graph_columns_equal(const GraphColumns *a, const GraphColumns *b) {
        return a->abstime == b->abstime && a->cpu == b->cpu && a->proc == b->proc &&
               a->latency == b->latency && a->duration == b->duration;
}

typedef enum TextLineKind {
        LINE_NONE,     /* not of such a text */
        LINE_DAMAGED,  /* it has the columns, but not what belongs behind them */
        LINE_HEADING,  /* the tracer's own; EVENTS: "cpus=2", "CPU 3 is empty" */
        LINE_EMPTY,    /* it says nothing; EVENTS: what an event prints in lines of its own */
        LINE_RULE,     /* GRAPH: " -----" around a switch of tasks */
        LINE_SWITCH,   /* GRAPH: " 0)  cat-123  =>  bash-9" */
        LINE_LOST,     /* "CPU:1 [LOST 13147 EVENTS]", "CPU:1 [12 EVENTS DROPPED]" */
        LINE_STARTED,  /* GRAPH: "##### CPU 1 buffer started ####" */
        LINE_IRQ_IN,   /* GRAPH: "==========> |" */
        LINE_IRQ_OUT,  /* GRAPH: "<========== |" */
        LINE_OVERRUNS, /* GRAPH: " (Overruns: 1)" */
        LINE_EVENT,    /* of another kind; where calls are drawn, between comment signs */
        LINE_OPEN,     /* a call, whose return has its own line */
        LINE_LEAF,
        LINE_CLOSE,
} TextLineKind;

typedef enum GraphHeading {
        GRAPH_HEADING_RULE,    /* "#", and bars: only below one of the others */
        GRAPH_HEADING_TRACER,  /* "# tracer: " */
        GRAPH_HEADING_COLUMNS, /* their names */
        GRAPH_HEADING_BARE,    /* the same, and there are none */
} GraphHeading;

typedef struct TextTask {
        const char *comm; /* as printed: GRAPH: 7 bytes at most; made plain or not */
        uint32_t n_comm;
        int32_t pid;
} TextTask;

typedef struct TextLine {
        TextLineKind kind;
        const char *problem;  /* DAMAGED: what is wrong, half a sentence */
        GraphColumns columns; /* GRAPH: that it has */
        GraphHeading heading; /* GRAPH: HEADING */
        bool has_task; /* EVENTS: and all that stands before the event; else only the time may */
        TextTask task; /* of a SWITCH the former */
        TextTask next; /* SWITCH */
        uint32_t cpu;
        bool has_time;         /* EVENTS: it is 0 where that was cut off */
        uint64_t timestamp_ns; /* INDENT: since the thread's outermost call */
        bool has_duration;
        uint64_t duration_ns;
        int32_t depth;
        bool is_depth_untold; /* the blanks that would tell it are lost: depth is 0 */
        const char *label;    /* OPEN, LEAF, and CLOSE if it has a name; NULL: it has none */
        uint32_t n_label, n_name;
        const char *text; /* EVENT: between the signs; EVENTS: "NAME: FIELDS" */
        uint32_t n_text;
        uint64_t
                number; /* LOST: how many, 0 is not said; OVERRUNS; EVENTS: HEADING: CPUs, likewise */
        bool has_retval;
        uint64_t retval;
        bool is_spelled; /* EVENTS: in words: no call is a LEAF, whatever follows */
        bool is_tight;   /* INDENT: no blank around the arrow */
        StepText said;   /* INDENT: args: all that follows the function */
} TextLine;

/*
 * NAME_line_parse()
 * @text:     @n_text bytes; what @ret points to lies in it
 * @expected: columns of the lines before, NULL: not known.  Without any column a line is only taken
 *            for a call if that is expected.
 *
 * Always sets all of @ret.
 */
void graph_line_parse(TextLine *ret, const char *text, size_t n_text, const GraphColumns *expected);
void event_line_parse(TextLine *ret, const char *text, size_t n_text);
void indent_line_parse(TextLine *ret, const char *text, size_t n_text);

static inline void line_damaged(TextLine *l, const char *problem) {
        l->kind = LINE_DAMAGED;
        l->problem = problem;
}
