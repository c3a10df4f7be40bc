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
 * A kind of text is three functions, NAME_text in NAME-text.c and text-trace.c's table:
 *
 *      parse()    @line, taken apart
 *      probe()    what @l is while nobody knows what the text is; on TEXT_PROBE_CALL the layout's
 *                 members of the kind are set.
 *      next()     what @l, which is of the kind and not damaged, makes: 1 if @ret was filled, 0 if no
 *                 step, TEXT_TRACE_E_DAMAGED, -errno.
 *
 * graph_text.next() also sees the lines before the first one of which the kind is known, because
 * there may be what it needs later: changes of tasks, headings.
 */
typedef enum TextProbe {
        TEXT_PROBE_FOREIGN,
        TEXT_PROBE_HEADING, /* this kind's heading, of which its next() makes no step */
        TEXT_PROBE_TORN, /* this kind's call, whose beginning the lines behind it show to be lost */
        TEXT_PROBE_CALL, /* this kind's call or return: the text is of this kind */
} TextProbe;

/* Times that follow from durations stop, so that those of one trace behind another still fit an int64_t. */
static inline uint64_t text_time(uint64_t ns) {
        return MIN(ns, (uint64_t) INT64_MAX / 2);
}

typedef enum TextShape {
        TEXT_SHAPE_NONE,
        TEXT_SHAPE_HALF, /* less than a call, but some of one */
        TEXT_SHAPE_WHOLE,
} TextShape;

typedef struct TextKindOps {
        void (*parse)(TextTrace *t, const Line *line, TextLine *ret);
        TextProbe (*probe)(TextTrace *t, const Line *line, const TextLine *l);
        int (*next)(TextTrace *t, const Line *line, TextLine *l, Step *ret);
} TextKindOps;

struct TextTrace {
        const TextKindOps *const *kinds; /* TEXT_N_KINDS of them */
        Lines *lines;
        Labels labels;
        Stacks stacks;
        TextLayout layout;
        TextCount count;
        bool has_layout, stops_at_damage;
        Envelope envelope;
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
        size_t width; /* of the longest line of this trace, out of its envelope */
        TextCpu *cpus;
        size_t n_cpus;
        uint64_t now_ns;    /* the latest step's */
        uint64_t latest_ns; /* the latest time of day of this trace */
        bool irq_begin;     /* GRAPH: the next call is an interrupt */
        bool is_bare;       /* GRAPH: the heading has no columns */
        bool after_rule;    /* GRAPH: this line was one around a change of tasks */
        bool is_below_rule; /* GRAPH: the last one was */
        char comm[17];      /* of the step */
        int32_t level;      /* INDENT: the first line's depth; negative: there is none yet */
        bool is_indented;   /* INDENT: another line's differs */
        bool is_cut;        /* EVENTS: calls do not say their task */
        uint32_t cpu;       /* EVENTS: of the line before, like the next */
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

extern const TextKindOps graph_text, event_text, indent_text;

/* What @line, out of its envelope, makes; as a kind's next(). */
int text_take_line(TextTrace *t, const Line *line, Step *ret);
/* @line is not of a trace as it stands: is it in an envelope, or of another kind?  As a kind's next(). */
int text_unwrap(TextTrace *t, const Line *line, Step *ret);
/* Whether @line, out of its envelope, which is as long as any and whole as it stands, was cut in a name
 * where a window ended, so that the next line has the rest. */
bool text_is_cut(TextTrace *t, const Line *line);
/* @line, out of its envelope, is of no kind: what it tells of a text that is no trace. */
void text_find_foreign(TextTrace *t, const Line *line);
/* The next line that is of @kind and at least @least, if it is near; whether there is one. */
bool text_look_ahead(TextTrace *t, TextKind kind, const Line *line, TextLineKind least,
                     TextLine *ret);
/* Whether @line is of another kind than the lines before it. */
bool text_is_of_another_kind(TextTrace *t, const Line *line);
/* Another trace begins with @line: what that makes, as a kind's next(). */
int text_another(TextTrace *t, const Line *line, Step *ret);
/* Whether @line is one of this kind of text, or the beginning of one that was broken.  Once the kind
 * is known, nothing is of another. */
TextShape text_shape(TextTrace *t, TextKind kind, const Line *line);

/* All that is wanted of this text was read. */
void text_finish(TextTrace *t);

/* Whether the trace that is being read is. */
static inline bool text_is_wanted(const TextTrace *t) {
        return t->wanted == TEXT_TRACE_ALL || t->nth == t->wanted;
}

/* 0 or -ENOMEM, like text_note_frame(). */
int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text);
#define TEXT_IS_BINARY "it holds bytes that are not text"
#define TEXT_IS_BROKEN "it is broken, as mailers and terminals break long lines"
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
/*
 * Whether @l, a call, a return or an event, is of another trace than the lines before it; of texts
 * without times these can tell
 * @cpu, @pid: whose it is
 */
bool text_begins_another(const TextTrace *t, const TextLine *l, uint32_t cpu, int32_t pid);
/* For texts in the order of time: its last one. */
void text_note_time(TextTrace *t, uint64_t timestamp_ns);
/* The function that @l names; NULL: see text_no_function(). */
const Function *text_function(TextTrace *t, const TextLine *l);
/* As a kind's next(). */
int text_no_function(TextTrace *t, const Line *line);
/*
 * text_call() - the call or return that @l is
 * @cpu:  whose clock it moves, where the text has no times; NULL: there is one for all
 * @ret:  has its place, and its time or that of the CPU's clock
 *
 * As a kind's next().
 */
int text_call(TextTrace *t, const Line *line, const TextLine *l, TextCpu *cpu, Step *ret);
/* The event that @l is, whose @n bytes are in t->event; @ret has its place and its time.  1. */
int text_event(TextTrace *t, const TextLine *l, size_t n, Step *ret);
/* A new frame for @step, at @line. */
int text_push(Stack *stack, const Step *step, uint64_t line);
