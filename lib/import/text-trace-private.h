/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the readers of texts share, from the ground floor up: text-notes.c, text-kinds.c, text-calls.c,
 * graph-text.c and the other kinds, unwrap.c, text-trace.c
 */

#include "calls/stacks.h"
#include "import/envelope.h"
#include "import/labels.h"
#include "import/lines.h"
#include "import/text-trace.h"
#include "import/uftrace-line.h"

#define N_PENDING 64
#define TEXT_PROBE_LINES 8 /* so many behind the first one are looked at */
#define TEXT_ABOVE_BYTES 512
#define TEXT_HEADING_BYTES 2048
#define TEXT_BACK_NS UINT64_C(1000000)     /* a clock that goes back so far is another one's */
#define TEXT_APART_NS UINT64_C(1000000000) /* clocks of two CPUs that are so far apart, too */
#define TEXT_LEAP_NS UINT64_C(60000000000) /* and one that goes on so far, inside a call */
#define TEXT_TRY 100 /* what a line makes in a trial, if it is not of a trace, or damaged */

/* What a text says of a CPU. */
typedef struct TextCpu {
        bool known; /* pid and comm are */
        int32_t pid;
        char comm[17];
        uint64_t clock_ns; /* without times of day: where its next step is put */
        uint64_t last_ns;  /* with them: of its last step */
        bool has_step;     /* the next is its last step's */
        int32_t step_pid;
} TextCpu;

/* Lines that no step has had yet. */
typedef struct TextAbove {
        char text[TEXT_ABOVE_BYTES];
        uint32_t n;
} TextAbove;

/*
 * A kind of text is three functions, in text-trace.c's table:
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
        TEXT_PROBE_TORN, /* this kind's call, whose beginning the lines behind it show to be lost */
        TEXT_PROBE_CALL, /* this kind's call or return: the text is of this kind */
} TextProbe;

typedef enum TextShape {
        TEXT_SHAPE_NONE,
        TEXT_SHAPE_HALF, /* less than a call, but some of one */
        TEXT_SHAPE_WHOLE,
} TextShape;

typedef struct TextKindOps {
        TextProbe (*probe)(TextTrace *t, const Line *line);
        TextShape (*shape)(TextTrace *t, const Line *line);
        int (*next)(TextTrace *t, const Line *line, Step *ret);
} TextKindOps;

struct TextTrace {
        const TextKindOps *kinds; /* TEXT_N_KINDS of them */
        Lines *lines;
        Labels *labels;
        Stacks *stacks;
        TextLayout layout;
        TextCount count;
        bool has_layout, stops_at_damage;
        Envelope *envelope;
        bool is_trial;        /* a line is only tried as something: see TEXT_TRY */
        bool after_talk;      /* there were lines between the last step and this one */
        bool after_command;   /* of which one has ended the trace */
        uint64_t nth, wanted; /* trace, from 1; TEXT_TRACE_ALL */
        bool keeps_times;     /* of all traces */
        bool is_joint;        /* the next step is another trace's first */
        uint64_t shift_ns;    /* of the times of this trace */
        uint64_t end_ns;      /* of all that was read, shifted */
        TextLayout shown;     /* of the first one that is wanted, once has_shown */
        TextCount read;       /* of what was wanted, once is_done */
        bool has_shown, is_done;
        char heading[TEXT_HEADING_BYTES]; /* shown.heading */
        uint32_t n_heading;
        uint64_t n_binary_bytes;
        size_t width;     /* of the longest line of this trace, out of its envelope */
        size_t n_wrapped; /* lines so long that end in the middle of a word, and go on in the next */
        TextCpu *cpus;
        size_t n_cpus;
        uint64_t now_ns;      /* the latest step's */
        uint64_t latest_ns;   /* the latest time of day of this trace */
        bool irq_begin;       /* GRAPH: the next call is an interrupt */
        bool is_bare;         /* GRAPH: the heading has no columns */
        bool after_rule;      /* GRAPH: the last line was one around a change of tasks */
        char comm[17];        /* of the step */
        int32_t level;        /* INDENT: the first line's depth; negative: there is none yet */
        bool is_indented;     /* INDENT: another line's differs */
        UftraceFields fields; /* UFTRACE: the heading's */
        bool is_cut;          /* EVENTS: calls do not say their task */
        uint32_t cpu;         /* EVENTS: of the line before, like the next */
        int32_t pid;
        char value[32];           /* EVENTS: what the step returns */
        uint64_t n_joined;        /* EVENTS: the line that is the return of a step before it */
        TextAbove change, marker; /* GRAPH: changes of tasks and marks of interrupts */
        TextAbove rest;           /* GRAPH: of what was wanted, once is_done */
        uint64_t n_marked;        /* GRAPH: the line that a step before it has had */
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
/* @line, out of its envelope, is as long as any: is it whole as it stands, and yet cut where a window
 * ended?  As NAME_text_next(); TEXT_TRY: no. */
int text_rejoin(TextTrace *t, const Line *line, Step *ret);
/* @line, out of its envelope, is of no kind: what it tells of a text that is no trace. */
void text_find_foreign(TextTrace *t, const Line *line);
/* Lines that were joined to the last one are read past.  0 or -errno. */
int text_skip(TextTrace *t, unsigned n);
/* Whether @line is of another kind than the lines before it. */
bool text_is_of_another_kind(TextTrace *t, const Line *line);
/* Another trace begins with @line: what that makes, as NAME_text_next(). */
int text_another(TextTrace *t, const Line *line, Step *ret);
/* What @line is of a kind of text, or of the one that is known. */
TextShape text_shape(TextTrace *t, TextKind kind, const Line *line);

/* All that is wanted of this text was read. */
void text_finish(TextTrace *t);

/* Whether the trace that is being read is. */
static inline bool text_is_wanted(const TextTrace *t) {
        return t->wanted == TEXT_TRACE_ALL || t->nth == t->wanted;
}

/* 0 or -ENOMEM, like text_note_frame(). */
int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text);
/* A damaged line: 0, TEXT_TRACE_E_DAMAGED if that is the end, -ENOMEM. */
int text_damaged(TextTrace *t, const Line *line, const char *problem);
/* @line says that @n events were lost, 0: it does not say how many.  1 and a step, or -ENOMEM. */
int text_lost(TextTrace *t, const Line *line, uint32_t cpu, uint64_t timestamp_ns, uint64_t n,
              Step *ret);
/* What was open and has ended unseen. */
int text_note_frame(TextTrace *t, const Frame *frame);
/* What a return from @frame tells; NULL: it has no call. */
int text_note_return(TextTrace *t, const Stack *stack, const Frame *frame, const Step *step,
                     uint64_t line);
/* Takes off @stack the call that @step, a return, ends, and what has lost its return below it; @step
 * gets its function.  1: @ret is that call; 0: it is missing; -errno. */
int text_end_call(TextTrace *t, Stack *stack, Step *step, Frame *ret);
/* Where blanks are lost, calls nest as their braces do. */
int32_t text_depth_of_braces(const Stack *stack, bool is_close);
/* What ends unseen before a call at the step's depth, and what is odd about that depth. */
int text_make_way(TextTrace *t, Stack *stack, const Line *line, const Step *step);
/*
 * Whether @step, a call or a return, is of another trace than the ones before it
 * @step:        its kind, CPU, task, depth and time; of a return also calltime and rettime, equal if
 *               it has no duration
 * @disorder_ns: so far back may the time of a line be behind that of another one
 */
bool text_begins_another(TextTrace *t, const Step *step, uint64_t disorder_ns);
/* The same where only the lines before it can tell; for texts without times. */
bool text_was_ended(const TextTrace *t);
/* For texts in the order of time: its last one. */
void text_note_time(TextTrace *t, uint64_t timestamp_ns);
#define TEXT_UNTIMED UINT64_MAX
/* A call or return whose line tells the depth, and the duration or TEXT_UNTIMED; @ret has all that it tells but for the function and,
 * without times, the time.  @label: NULL: a return without a name.  Like a kind's next(). */
int text_call(TextTrace *t, const Line *line, const char *label, size_t n_label,
              uint64_t duration_ns, Step *ret);
/* A new frame for @step, at @line. */
int text_push(Stack *stack, const Step *step, uint64_t line);
