/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What text-trace.c shares with the kinds of text, graph-text.c and indent-text.c. */

#include "calls/stacks.h"
#include "import/envelope.h"
#include "import/labels.h"
#include "import/lines.h"
#include "import/text-trace.h"
#include "import/uftrace-line.h"

#define N_PENDING 64
#define TEXT_CHANGE_BYTES 128
#define TEXT_HEADING_BYTES 2048
#define TEXT_BACK_NS 1000000 /* a clock that goes back so far is another one's */
#define TEXT_TRY 100         /* what a line makes in a trial, if it is not of a trace, or damaged */

/* What a text says of a CPU. */
typedef struct TextCpu {
        bool known; /* pid and comm are */
        int32_t pid;
        char comm[17];
        uint64_t clock_ns; /* without times of day: where its next step is put */
        uint64_t last_ns;  /* with them: of its last step */
} TextCpu;

struct TextTrace {
        Lines *lines;
        Labels *labels;
        Stacks *stacks;
        TextLayout layout;
        TextCount count;
        bool has_layout, stops_at_damage;
        Envelope *envelope;
        bool is_trial;        /* a line is only tried as something: see TEXT_TRY */
        bool after_talk;      /* there were lines between the last step and this one */
        uint64_t nth, wanted; /* trace, from 1; TEXT_TRACE_ALL */
        TextLayout shown;     /* of the first one that is wanted, once has_shown */
        TextCount read;       /* of what was wanted, once is_done */
        bool has_shown, is_done;
        char heading[TEXT_HEADING_BYTES]; /* shown.heading */
        uint32_t n_heading;
        uint64_t n_binary_bytes;
        uint64_t n_line; /* of the step */
        TextCpu *cpus;
        size_t n_cpus;
        uint64_t now_ns;      /* the latest step's */
        uint64_t latest_ns;   /* the latest time of day of this trace */
        bool irq_begin;       /* GRAPH: the next call is an interrupt */
        bool is_bare;         /* GRAPH: the heading has no columns */
        bool after_rule;      /* GRAPH: the last line was one around a change of tasks */
        char comm[17];        /* of the step */
        UftraceFields fields; /* UFTRACE: the heading's */
        bool is_cut;          /* EVENTS: calls do not say their task */
        uint32_t cpu;         /* EVENTS: of the line before, like the next */
        int32_t pid;
        char value[32];    /* EVENTS: what the step returns */
        uint64_t n_joined; /* EVENTS: the line that is the return of a step before it */
        char change[TEXT_CHANGE_BYTES]; /* GRAPH: the last change of tasks, that no step has had */
        uint32_t n_change, change_cpu;
        StepText said;
        char event[LINES_MAX_BYTES + 1]; /* the step's text */
        Step pending[N_PENDING];         /* found while looking for the layout */
        size_t i_pending, n_pending;
        const ForeignText *foreign; /* what the text is if it is no trace */
        uint64_t n_foreign_line;
        TextNote *notes;
        size_t n_notes;
        uint32_t n_noted[TEXT_N_REMARKS];
};

/*
 * A kind of text is three functions, and a line in text-trace.c's table:
 *
 *      NAME_text_probe()  what @line is while nobody knows what the text is; on TEXT_PROBE_CALL the
 *                         layout's members of the kind are set.
 *      NAME_text_shape()  whether @line is one of this kind, or the beginning of one that was broken.
 *      NAME_text_next()   what @line makes: 1 if @ret was filled, 0 if no step,
 *                         TEXT_TRACE_E_DAMAGED, -errno.
 *
 * graph_text_next() also sees the lines before the first one of which the kind is known, because
 * there may be what it needs later: changes of tasks, headings.
 */
typedef enum TextProbe {
        TEXT_PROBE_FOREIGN,
        TEXT_PROBE_HEADING, /* this kind's heading, of which its next() makes no step */
        TEXT_PROBE_CALL,    /* this kind's call or return: the text is of this kind */
} TextProbe;

typedef enum TextShape {
        TEXT_SHAPE_NONE,
        TEXT_SHAPE_HALF, /* less than a call, but some of one */
        TEXT_SHAPE_WHOLE,
} TextShape;

TextProbe graph_text_probe(TextTrace *t, const Line *line);
TextShape graph_text_shape(TextTrace *t, const Line *line);
int graph_text_next(TextTrace *t, const Line *line, Step *ret);
TextProbe event_text_probe(TextTrace *t, const Line *line);
TextProbe uftrace_text_probe(TextTrace *t, const Line *line);
TextShape uftrace_text_shape(TextTrace *t, const Line *line);
int uftrace_text_next(TextTrace *t, const Line *line, Step *ret);
TextShape event_text_shape(TextTrace *t, const Line *line);
int event_text_next(TextTrace *t, const Line *line, Step *ret);
TextProbe indent_text_probe(TextTrace *t, const Line *line);
TextShape indent_text_shape(TextTrace *t, const Line *line);
int indent_text_next(TextTrace *t, const Line *line, Step *ret);

/* What @line, out of its envelope, makes; as NAME_text_next(). */
int text_take_line(TextTrace *t, const Line *line, Step *ret);
/* @line is not of a trace as it stands: is it in an envelope, broken, or of another kind?  As
 * NAME_text_next(). */
int text_unwrap(TextTrace *t, const Line *line, Step *ret);
/* @line, out of its envelope, is of no kind: what it tells of a text that is no trace. */
void text_find_foreign(TextTrace *t, const Line *line);
/* Lines that were joined to the last one are read past.  0 or -errno. */
int text_skip(TextTrace *t, unsigned n);
/* Whether @line is of another kind than the lines before it. */
bool text_is_of_another_kind(TextTrace *t, const Line *line);
/* Another trace begins with @line, of which nothing is known yet. */
int text_another(TextTrace *t, const Line *line);
/* What @line is of a kind of text, or of the one that is known. */
TextShape text_shape(TextTrace *t, TextKind kind, const Line *line);

/* 0 or -ENOMEM, like text_note_frame(). */
int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text);
/* A damaged line: 0, TEXT_TRACE_E_DAMAGED if that is the end, -ENOMEM. */
int text_damaged(TextTrace *t, const Line *line, const char *problem);
/* What was open and has ended unseen. */
int text_note_frame(TextTrace *t, const Frame *frame);
/* What a return from @frame tells; NULL: it has no call. */
int text_note_return(TextTrace *t, const Stack *stack, const Frame *frame, const Step *step,
                     uint64_t line);
/* Takes off @stack the call that @step, a return, ends, and what has lost its return below it; @step
 * gets its function.  1: @ret is that call; 0: it is missing; -errno. */
int text_end_call(TextTrace *t, Stack *stack, Step *step, Frame *ret);
/* What ends unseen before a call at the step's depth, and what is odd about that depth. */
int text_make_way(TextTrace *t, Stack *stack, const Line *line, const Step *step);
/* Whether a call at that time is of another trace; for texts in the order of time. */
bool text_has_gone_back(TextTrace *t, uint64_t timestamp_ns);
#define TEXT_UNTIMED UINT64_MAX
/* A call or return whose line tells the depth, and the duration or TEXT_UNTIMED; @ret has all that it tells but for the function and,
 * without times, the time.  @label: NULL: a return without a name.  Like a kind's next(). */
int text_call(TextTrace *t, const Line *line, const char *label, size_t n_label,
              uint64_t duration_ns, Step *ret);
/* A new frame for @step, at @line. */
int text_push(Stack *stack, const Step *step, uint64_t line);
