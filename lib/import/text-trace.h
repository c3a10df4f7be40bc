/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Text trace: a text that a tracer printed becomes steps again
 *
 *      text_trace_take_fd()    finds out what kind of text it is
 *      text_trace_next()       as steps_next() for a recording (calls/steps.h)
 *
 * Of the kinds in TextKind, whoever wrote it, and in whatever log or mail it came.
 * What is not of a trace (prompts, banners, prose of any length) is skipped and counted, what is
 * damaged as well, unless the reader wants to stop there.
 *
 * A text may have several traces, which are read apart, for their times and tasks have nothing to
 * do with each other.  Another one begins with a tracer's heading behind a call, behind a command at
 * a prompt, with another kind of text or other columns, where the time of a CPU goes back, and where
 * it leaps to what cannot be inside the calls that are open.
 *
 * Lines that are not of a trace and stand amid one are a gap, for nobody knows what they stand for: a
 * step_cuts_all() says so.  An empty line is one if the text is not double-spaced.
 *
 * A return whose brace has no name is its call's, found by task and depth.
 *
 * Times: durations are the text's.  Where it has no times of day, steps follow
 * each other as closely as their durations allow, for each CPU from 0.  Names of
 * tasks are those that the text has; until a CPU's task is named it is
 * STEP_PID_UNKNOWN, and a STEP_TASK says who it was.
 */

#include <stdint.h>

#include "base/cleanup.h"
#include "calls/step.h"

typedef struct TextTrace TextTrace;

typedef enum TextKind {
        TEXT_GRAPH,  /* import/graph-line.c */
        TEXT_EVENTS, /* import/event-text.c */
        TEXT_INDENT, /* import/indent-text.c */
        TEXT_N_KINDS,
} TextKind;

/* What readers know of a kind. */
typedef struct TextForm {
        const char *name; /* "function_graph" */
        const char *key;  /* "graph"; for programs */
        const char
                *format;  /* the renderer that draws it as it was, or nearly (render/renderer.h) */
        bool has_columns; /* as function_graph has: TextLayout's say which */
} TextForm;

/* What is remarkable about a line. */
typedef enum TextRemark {
        TEXT_NOT_TRACE,        /* skipped: no tracer's */
        TEXT_DAMAGED,          /* skipped: a tracer's, but not whole */
        TEXT_SIBLING,          /* a call at the depth of an open one, whose return is late */
        TEXT_RETURN_CUT,       /* of a call that was open when the text began */
        TEXT_RETURN_UNMATCHED, /* its call is missing */
        TEXT_CALL_UNMATCHED,   /* its return is missing */
        TEXT_LEVEL_MISSING,    /* a call deeper than one below its caller */
        TEXT_TASK_MISSED,      /* a change of tasks that says another one ran before it */
        TEXT_TIME_IMPOSSIBLE,  /* it took less time than what it called */
        TEXT_COLUMNS_CHANGED,  /* other columns than before */
        TEXT_LOSS,             /* the tracer says that it has lost events */
        TEXT_GAP,     /* a line behind some that are not of a trace: what was open there is cut */
        TEXT_ANOTHER, /* another trace begins */
        TEXT_N_REMARKS,
} TextRemark;

typedef struct TextNote {
        TextRemark remark;
        uint64_t line;
        char text[80]; /* the function, or what is wrong, or the line's beginning; cut */
} TextNote;

#define TEXT_NOTES_MAX 32 /* of each remark; the rest is counted only */

typedef struct TextCount {
        uint64_t n_lines, n_bytes;
        uint64_t n_elsewhere;             /* lines of it that are of traces which are not read */
        uint64_t n_traces;                /* that were met so far */
        uint64_t n_open, n_leaf, n_close; /* lines of calls and returns */
        uint64_t n_timed;    /* leaves and returns whose duration is there, or follows from times */
        uint64_t n_comments; /* events of other kinds */
        uint64_t n_switches; /* changes of tasks, four lines each */
        uint64_t n_switch_lines;
        uint64_t n_markers;        /* of interrupts */
        uint64_t n_headers;        /* the tracer's own headings */
        uint64_t n_overruns;       /* lines that say how many */
        uint64_t n_losses, n_lost; /* lines that say so, and the events where they count them */
        uint64_t n_remarks[TEXT_N_REMARKS];
        uint64_t n_roots;     /* calls without a caller */
        uint64_t n_cut_calls; /* still open at the end; once text_trace_next() has returned 0 */
        int32_t max_depth;
} TextCount;

/* The columns of a text. */
typedef struct GraphColumns {
        bool abstime, cpu, proc, latency, duration;
        bool is_short;         /* of the bar's two blanks one is missing */
        uint32_t n_cpu_digits; /* how wide the CPU column is; 0: there is none */
} GraphColumns;

/* How the text was drawn. */
typedef struct TextLayout {
        TextKind kind;
        GraphColumns columns; /* GRAPH: of its first call; as it is drawn */
        bool has_header;      /* GRAPH */
        bool has_times;       /* of the trace clock; else they are made from durations */
        const char *heading;  /* GRAPH: the tracer's lines above it, as they were; empty: none */
        bool is_flat;         /* INDENT: not indented, as far as was read */
} TextLayout;

/* What a text without calls is, for whoever is told that it is not read. */
typedef struct ForeignText {
        const char *name;   /* "the function tracer's text" */
        const char *reason; /* why there are no calls in it, a sentence's end */
} ForeignText;

enum {
        TEXT_TRACE_E_FOREIGN = 2, /* there is no trace in it, or none near its beginning */
        TEXT_TRACE_E_DAMAGED = 3, /* a line is damaged, and that is the end (see below) */
        TEXT_TRACE_E_FEWER = 4,   /* it has not so many traces */
};

#define TEXT_TRACE_BINARY_BYTES (UINT64_C(1) << 20) /* so much of what is no text is looked at */
#define TEXT_TRACE_ALL 0

/* @fd: consumed, also on failure; need not be seekable.  @nth: the trace in it, from 1, or
 * TEXT_TRACE_ALL, one behind the other as if they were one.  On TEXT_TRACE_E_FOREIGN and
 * TEXT_TRACE_E_FEWER @ret is set, too: it has been counted what there is.  0, these two, -errno. */
int text_trace_take_fd(TextTrace **ret, int fd, uint64_t nth);
/* Whether text_trace_next() skips damaged lines, as it does unless told otherwise, or returns
 * TEXT_TRACE_E_DAMAGED. */
void text_trace_keep_going(TextTrace *t, bool keep_going);
/* Whether all traces (TEXT_TRACE_ALL) have the times that the text has.  Unless told so each begins
 * where the one before it has ended, so that no difference is of two traces' times. */
void text_trace_keep_times(TextTrace *t, bool keep_times);
/* 1: @ret is filled, and valid until the next call; 0: the text has ended; TEXT_TRACE_E_DAMAGED;
 * -errno. */
int text_trace_next(TextTrace *t, Step *ret);
const TextForm *text_kind_form(TextKind kind);
const TextLayout *text_trace_layout(const TextTrace *t);
const TextCount *text_trace_count(const TextTrace *t);
/* Lines behind the last step, of changes of tasks, with their ends; once text_trace_next() has
 * returned 0.  Not ended. */
const char *text_trace_rest(const TextTrace *t, size_t *ret_n);
/* Returns what the text came in, for messages: "a log's"; NULL: nothing. */
const char *text_trace_envelope(const TextTrace *t);
/* After TEXT_TRACE_E_FOREIGN: what it seems to be, and by which line; NULL: nobody knows. */
const ForeignText *text_trace_foreign(const TextTrace *t, uint64_t *ret_line);
size_t text_trace_n_functions(const TextTrace *t);
/* In the order of lines, but what the end has cut off last. */
const TextNote *text_trace_notes(const TextTrace *t, size_t *ret_n);
/* "not of a trace", "damaged" */
const char *text_remark_name(TextRemark remark);
TextTrace *text_trace_free(TextTrace *t);
DEFINE_CLEANUP(TextTrace *, text_trace_free);

/*
 * Source form: what is behind a file that is to be read as a recording
 *
 *      SOURCE_SESSION   a directory: that of a session in a store (store/session-dir.h)
 *      SOURCE_DAT       a file that begins as a trace.dat does (pages/dat-file.h)
 *      SOURCE_TEXT      anything else, also what can be read only once: a text (import/text-trace.h)
 *
 * Its name does not count.  Whether it can be read as that is for who opens it to find out.
 */

typedef enum SourceForm {
        SOURCE_SESSION,
        SOURCE_DAT,
        SOURCE_TEXT,
} SourceForm;

/* A SourceForm, or -errno.  The position of @fd stays as it is. */
int source_form_of(int fd);

/*
 * Packed: a file that was compressed as a whole, as traces are attached: trace.txt.gz, trace.dat.zst
 *
 * Its first bytes tell, and not its name.  It is unpacked into a file without a name in $TMPDIR, or /var/tmp, so
 * that it can be mapped and read twice.
 */
#define PACKED_BYTES_MAX (UINT64_C(4) << 30) /* more is not unpacked, whatever is there */

enum {
        PACKED_E_REFUSED = 1, /* it is not unpacked here, or cannot be */
};

/*
 * packed_open()
 * @fd:          of any file, whose position stays; a compressed one is closed, and becomes what is in it
 * @n_max:       PACKED_BYTES_MAX, or less
 * @ret_problem: on PACKED_E_REFUSED what the file is, and the way out: a sentence's end, a constant
 *
 * Return: 0, PACKED_E_REFUSED, -errno.
 */
int packed_open(int *fd, uint64_t n_max, const char **ret_problem);
