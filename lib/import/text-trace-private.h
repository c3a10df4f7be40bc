/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What text-trace.c shares with the kinds of text, graph-text.c and indent-text.c. */

#include "calls/stacks.h"
#include "import/labels.h"
#include "import/lines.h"
#include "import/text-trace.h"

#define N_PENDING 64
#define TEXT_CHANGE_BYTES 128

/* What a text says of a CPU. */
typedef struct TextCpu {
        bool known; /* pid and comm are */
        int32_t pid;
        char comm[17];
        uint64_t clock_ns; /* without times of day: where its next step is put */
} TextCpu;

struct TextTrace {
        Lines *lines;
        Labels *labels;
        Stacks *stacks;
        TextLayout layout;
        TextCount count;
        bool has_layout, stops_at_damage;
        uint64_t n_line; /* of the step */
        TextCpu *cpus;
        size_t n_cpus;
        uint64_t now_ns;                /* INDENT: the latest step's */
        bool irq_begin;                 /* GRAPH: the next call is an interrupt */
        bool after_rule;                /* GRAPH: the last line was one around a change of tasks */
        char comm[17];                  /* INDENT: of the step */
        char change[TEXT_CHANGE_BYTES]; /* GRAPH: the last change of tasks, that no step has had */
        uint32_t n_change;
        StepText said;
        char event[LINES_MAX_BYTES + 1]; /* the step's text */
        Step pending[N_PENDING];         /* found while looking for the layout */
        size_t i_pending, n_pending;
        TextNote *notes;
        size_t n_notes;
        uint32_t n_noted[TEXT_N_REMARKS];
};

/*
 * A kind of text is two functions, and a line in text-trace.c's table:
 *
 *      NAME_text_probe()  whether @line is a call or a return of this kind, in which case the
 *                         layout's members of the kind are set.  Nobody knows yet what the text is.
 *      NAME_text_next()   what @line makes: 1 if @ret was filled, 0 if no step,
 *                         TEXT_TRACE_E_DAMAGED, -errno.
 *
 * graph_text_next() also sees the lines before the first one of which the kind is known, because
 * there may be what it needs later: changes of tasks, headings.
 */
bool graph_text_probe(TextTrace *t, const Line *line);
int graph_text_next(TextTrace *t, const Line *line, Step *ret);
bool indent_text_probe(TextTrace *t, const Line *line);
int indent_text_next(TextTrace *t, const Line *line, Step *ret);

/* 0 or -ENOMEM, like text_note_frame(). */
int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text);
/* A damaged line: 0, TEXT_TRACE_E_DAMAGED if that is the end, -ENOMEM. */
int text_damaged(TextTrace *t, const Line *line, const char *problem);
/* What was open and has ended unseen. */
int text_note_frame(TextTrace *t, const Frame *frame);
/* What a return from @frame tells; NULL: it has no call. */
int text_note_return(TextTrace *t, const Stack *stack, const Frame *frame, const Step *step,
                     uint64_t line);
/* A new frame for @step, at @line. */
int text_push(Stack *stack, const Step *step, uint64_t line);
