/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the readers of texts share, from the ground floor up
 *
 *      lines.c         a file's lines, one after the other, whatever the file is; what stands at a place in one
 *      envelope.c      what a text was put into on its way, taken off again
 *      graph-line.c    what one line of the kernel's text says
 *      text-calls.c    calls and returns become steps; what is odd about them is remarked; functions by label
 *      NAME-text.c     the steps of a kind of text; but for graph-text.c also what its lines say
 *      text-kinds.c    which kind of text a line is of, or is not; where another trace begins
 *      text-trace.c    all of it
 */

#include "base/buf.h"
#include "base/hash.h"
#include "calls/stacks.h"
#include "import/text-trace.h"

/* --- lines ------------------------------------------------------------------------------------- */

/* A line ends with "\n", and "\r" before that.  What it has beyond this is read and forgotten, piece by piece, so that
 * whoever reads a line without an end can stop. */
#define LINES_MAX_BYTES ((size_t) 64 * 1024)
#define LINES_AHEAD_BYTES 1024

typedef struct Line {
        const char *text; /* not ended; valid until the next line is asked for */
        size_t n_text;    /* without the line's end, "\n" or "\r\n" */
        uint64_t number;  /* from 1 */
        bool is_long;     /* there is more than text holds */
        bool is_rest;     /* it is some of that, which is not handed out */
        bool is_binary;   /* it holds bytes that text does not: below a space, but for a tab */
        bool is_last;     /* no "\n" ended it */
        bool is_tabbed;   /* some of its blanks were tabs: who knows how wide */
        const char *next; /* what follows it, LINES_AHEAD_BYTES at least unless the file ends */
        size_t n_next;
} Line;

typedef struct Lines {
        int fd;
        bool at_end;
        bool in_rest;      /* of a line that is too long */
        size_t begin, end; /* of what has been read and not handed out */
        uint64_t number;
        uint64_t n_bytes; /* handed out, or forgotten */
        char *data;
} Lines;

/* @fd: consumed, also on failure.  0 or -ENOMEM. */
int lines_init_take_fd(Lines *l, int fd);
/* 1: @ret is filled; 0: there are no more; -errno. */
int lines_next(Lines *l, Line *ret);
/* True if there are bytes that text does not hold: below a space, but for a tab. */
bool lines_is_binary(const char *s, size_t n);
void lines_done(Lines *l);

/* --- scan -------------------------------------------------------------------------------------- */

/* A place in a piece of text.  Each scan_x() moves the place behind what it has found, and leaves it alone where that
 * is not. */
typedef struct Scan {
        const char *p, *end;
} Scan;

static inline Scan scan_of(const Line *line) {
        return (Scan){ line->text, line->text + line->n_text };
}

static inline size_t scan_left(const Scan *s) {
        return (size_t) (s->end - s->p);
}

static inline size_t scan_blanks(Scan *s) {
        const char *begin = s->p;

        while (s->p < s->end && *s->p == ' ')
                s->p++;
        return (size_t) (s->p - begin);
}

static inline bool scan_text(Scan *s, const char *text) {
        size_t n = strlen(text);

        if (scan_left(s) < n || memcmp(s->p, text, n) != 0)
                return false;
        s->p += n;
        return true;
}

static inline bool scan_has_suffix(const Scan *s, const char *text) {
        size_t n = strlen(text);

        return scan_left(s) >= n && memcmp(s->end - n, text, n) == 0;
}

/* Decimal digits, not more than @max; how many there were, 0: none, or too large. */
static inline size_t scan_number(Scan *s, uint64_t max, uint64_t *ret) {
        const char *p = s->p;
        uint64_t v = 0;

        for (; p < s->end && *p >= '0' && *p <= '9'; p++) {
                uint64_t digit = (uint64_t) (*p - '0');

                if (v > (max - digit) / 10)
                        return 0;
                v = v * 10 + digit;
        }
        if (p == s->p)
                return 0;
        *ret = v;
        v = (uint64_t) (p - s->p);
        s->p = p;
        return (size_t) v;
}

/* Where @text is next; NULL: nowhere. */
static inline const char *scan_find(const Scan *s, const char *text) {
        return memmem(s->p, scan_left(s), text, strlen(text));
}

static inline bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

static inline bool is_letter(char c) {
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* What is like @pattern, whose signs are "9" digits, "8" two digits, "%" hexadecimal ones, "^" blanks or none, "~" a
 * word, "!" letters, "&" a function's name, "*" anything, "$" the end; all others are themselves.  @values: what each "9" and
 * "%" is, or NULL. */
bool scan_read(Scan *s, const char *pattern, uint64_t *values);
static inline bool scan_like(Scan *s, const char *pattern) {
        return scan_read(s, pattern, NULL);
}
/* True if @n bytes are a task's name of @max at most, made plain or not. */
bool scan_is_comm(const char *comm, size_t n, size_t max);
/* Hexadecimal digits, without "0x". */
bool scan_hex(Scan *s, uint64_t *ret);
/* "1.302 us", "15ms", "2.1  s" */
bool scan_duration(Scan *s, uint64_t *ret_ns);
/* "64", "-11", "0x40" */
bool scan_value(Scan *s, uint64_t *ret);
/* The value in what stands behind a call: "ret=0x40", " = -11".  False: there is none. */
bool scan_retval(Scan s, uint64_t *ret);

/* --- envelope ---------------------------------------------------------------------------------- */

/*
 *      > > [  210.412454]  0)   0.890 us    |  }      a mail that quotes a kernel's log
 *      Nov 22 18:30:01 host kernel:  0)   0.890 us    |  }
 *
 * There are prefixes (quoting, logs, lists, line numbers), blanks and signs of other alphabets, and a terminal's
 * colours.  What a line is inside of them only its reader can tell, so that guesses are made, the likely ones first,
 * and the reader says which one was right.  A line that is right as it stands is looked at for one byte; a prefix that
 * was right is skipped at once from then on.
 */
typedef struct Envelope {
        bool is_prefixed;              /* lines before were */
        bool has_prefix;               /* the last guess took one off */
        bool is_weak;                  /* and that was weak */
        bool is_guessing;              /* the last line was not opened, but guessed */
        char room[2][LINES_MAX_BYTES]; /* of the line, and of the one behind it */
} Envelope;

/* Prefixes, one behind the other, each with one blank where its writer sets one.  Whether there was any. */
bool prefix_skip(Scan *s);

/* @line without what was taken off lines before it: itself, or @room, which then is it. */
const Line *envelope_open(Envelope *e, const Line *line, Line *room);
/* What @line may be, without what is surely none of a trace; @weak: also without a prefix that may be some.  False:
 * nothing that it is not already.  @ret is valid until the next line is asked for, or the next guess. */
bool envelope_guess(Envelope *e, bool weak, const Line *line, Line *ret);
/* @line with the codes of HTML, or whatever text is refused, undone, and without its prefix; which one that is, or
 * NULL: there are none.  @ret is valid as with envelope_guess(). */
const ForeignText *envelope_decode(Envelope *e, const Line *line, Line *ret);
/* The line behind @line, opened as that was, or was guessed to be.  False: there is none. */
bool envelope_peek(Envelope *e, const Line *line, Line *ret);
/* True if @line is a command behind a prompt, "# cat trace", whose output follows, or a tracer's last
 * word: what comes next was recorded another time. */
bool envelope_is_command(const Line *line);

/* --- what a line says -------------------------------------------------------------------------- */

#define LINE_CPU_MAX 8191         /* NR_CPUS is 8192 where it is largest */
#define LINE_PID_MAX 4194304      /* PID_MAX_LIMIT, include/linux/threads.h */
#define LINE_PID_UNTOLD INT32_MIN /* GRAPH: it cannot be read */
#define LINE_LABEL_MAX 1023       /* KSYM_NAME_LEN is 512 (linux 6.1), a module's name 56 */

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

/* Texts are not ended, and lie in the line. */
typedef struct TextLine {
        TextLineKind kind;
        const char *problem;  /* DAMAGED: what is wrong, half a sentence */
        GraphColumns columns; /* GRAPH: that it has */
        GraphHeading heading; /* GRAPH: HEADING */
        TextTask task;        /* of a SWITCH the former */
        uint8_t flags, preempt_depth; /* as a Step has them */
        TextTask next;        /* SWITCH */
        uint32_t cpu;
        bool has_time;
        uint64_t timestamp_ns; /* INDENT: since the thread's outermost call */
        bool has_duration;
        uint64_t duration_ns;
        int32_t depth;
        bool is_depth_untold; /* blanks that would tell it are lost: depth is 0 */
        const char *label;    /* OPEN, LEAF, and CLOSE if it has a name; NULL: it has none */
        uint32_t n_label, n_name;
        const char *text; /* EVENT: between the signs; EVENTS: "NAME: FIELDS" */
        uint32_t n_text;
        uint64_t
                number; /* LOST: how many, 0 is not said; OVERRUNS; EVENTS: HEADING: CPUs, likewise */
        bool has_retval;
        uint64_t retval;
        bool is_remark; /* GRAPH: the comment behind it is somebody's: CLOSE: perhaps, and its name then none */
        bool is_spelled; /* EVENTS: in words: no call is a LEAF, whatever follows */
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
/* A duration, a bar, and a call or a return, or a comment, in the line of another kind. */
void graph_drawn_parse(Scan s, TextLine *l);
/* "udp_sendmsg", "ovl_open [overlay]"; up to what cannot be in it. */
bool graph_label_parse(Scan *s, TextLine *l);

static inline void line_damaged(TextLine *l, const char *problem) {
        l->kind = LINE_DAMAGED;
        l->problem = problem;
}

static inline bool graph_columns_equal(const GraphColumns *a, const GraphColumns *b) {
        return a->abstime == b->abstime && a->cpu == b->cpu && a->proc == b->proc &&
               a->latency == b->latency && a->duration == b->duration;
}

/* NULL: @text, a line, is of nothing that is known. */
const ForeignText *foreign_text_find(const char *text, size_t n_text);

/* --- labels ------------------------------------------------------------------------------------ */

#define LABELS_MAX ((size_t) 1 << 20) /* a kernel with all its modules has a fourth of that */

/* A text's functions are known by what is printed, the name and, in brackets, the module.  They stay where they are
 * for the table's life; their address is a number that counts them, from 1.  One of zeroes is empty. */
typedef struct Labels {
        Hash functions; /* by label */
} Labels;

/* @n_label: of it the first @n_name are the name.  NULL without memory, or beyond LABELS_MAX. */
const Function *labels_get(Labels *l, const char *label, size_t n_label, size_t n_name);
/* What a return belongs to whose call nobody saw, and that has no name; it is not counted. */
extern const Function labels_unknown;
void labels_done(Labels *l);

/* --- the text ---------------------------------------------------------------------------------- */

#define N_PENDING 64
#define TEXT_PROBE_LINES 8 /* so many behind the first one are looked at */
#define TEXT_ABOVE_BYTES 512
#define TEXT_HEADING_BYTES 2048
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

typedef enum TextProbe {
        TEXT_PROBE_FOREIGN,
        TEXT_PROBE_HEADING, /* this kind's heading, of which its next() makes no step */
        TEXT_PROBE_TORN, /* this kind's call, whose beginning the lines behind it show to be lost */
        TEXT_PROBE_CALL, /* this kind's call or return: the text is of this kind */
} TextProbe;

/*
 * A kind of text is what readers know of it and three functions, NAME_text in NAME-text.c and text-trace.c's table:
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
typedef struct TextKindOps {
        TextForm form;
        void (*parse)(TextTrace *t, const Line *line, TextLine *ret);
        TextProbe (*probe)(TextTrace *t, const Line *line, const TextLine *l);
        int (*next)(TextTrace *t, const Line *line, TextLine *l, Step *ret);
} TextKindOps;

extern const TextKindOps graph_text, event_text, indent_text;

struct TextTrace {
        const TextKindOps *const *kinds; /* TEXT_N_KINDS of them */
        Lines lines;
        Labels labels;
        Stacks stacks;
        TextLayout layout;
        TextCount count;
        bool has_layout, stops_at_damage;
        Envelope envelope;
        bool is_trial;      /* a line is only tried as something: see TEXT_TRY */
        bool after_talk;    /* there were lines between the last step and this one */
        bool after_command; /* of which one has ended the trace */
        bool after_gap; /* there were some that are not of a trace, or empty ones that tell of one */
        bool is_dense;  /* two steps of this trace had lines next to each other */
        uint64_t n_last_line; /* of this trace's last call or event; 0: there was none */
        const StepText *cut;  /* all that was open was, before the step; NULL: it was not */
        bool has_held;
        Step held;            /* which is the next one */
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
        bool has_remarks;   /* GRAPH: somebody has written comments behind calls */
        bool is_numbered;   /* GRAPH: its CPUs are the numbers of a list: all are list_cpu */
        uint32_t list_cpu;
        bool after_rule;          /* GRAPH: this line was one around a change of tasks */
        bool is_below_rule;       /* GRAPH: the last one was */
        char comm[17];            /* of the step */
        int32_t level;            /* INDENT: the first line's depth; negative: there is none yet */
        bool is_indented;         /* INDENT: another line's differs */
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

/* True if the trace that is being read is. */
static inline bool text_is_wanted(const TextTrace *t) {
        return t->wanted == TEXT_TRACE_ALL || t->nth == t->wanted;
}

/* Times that follow from durations stop, so that those of one trace behind another still fit an int64_t. */
static inline uint64_t text_time(uint64_t ns) {
        return MIN(ns, (uint64_t) INT64_MAX / 2);
}

/* What a step_cuts_all() says: one amid a trace, which is drawn, and one between two that are read as if they were one. */
extern const StepText text_gap, text_joint;

/* --- text-calls.c ------------------------------------------------------------------------------ */

#define TEXT_IS_BINARY "it holds bytes that are not text"
#define TEXT_IS_BROKEN "it is broken, as mailers and terminals break long lines"

/* 0 or -ENOMEM, like text_note_frame(). */
int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text);
/* What was open and has ended unseen. */
int text_note_frame(TextTrace *t, const Frame *frame);
/* What a return from @frame tells; NULL: it has no call. */
int text_note_return(TextTrace *t, const Stack *stack, const Frame *frame, const Step *step,
                     uint64_t line);
/* Whatever is open now has lost its end: to the end, to a gap, or before another call. */
void text_cut_open(TextTrace *t);
/* @line is a call or an event of this trace: what was open is cut if there is a gap before it.  0 or -ENOMEM. */
int text_go_on(TextTrace *t, const Line *line);
/* A damaged line: 0, TEXT_TRACE_E_DAMAGED if that is the end, -ENOMEM. */
int text_damaged(TextTrace *t, const Line *line, const char *problem);
/* @line says that @n events were lost, 0: it does not say how many.  1 and a step, or -ENOMEM. */
int text_lost(TextTrace *t, const Line *line, uint32_t cpu, uint64_t timestamp_ns, uint64_t n,
              Step *ret);
/*
 * True if @l, a call, a return or an event, is of another trace than the lines before it; of texts
 * without times these can tell
 * @cpu, @pid: whose it is
 */
bool text_begins_another(const TextTrace *t, const TextLine *l, uint32_t cpu, int32_t pid);
/* For texts in the order of time: its last one. */
static inline void text_note_time(TextTrace *t, uint64_t timestamp_ns) {
        t->latest_ns = MAX(t->latest_ns, timestamp_ns);
}
/* The function that @l names; NULL: see text_no_function(). */
static inline const Function *text_function(TextTrace *t, const TextLine *l) {
        return labels_get(&t->labels, l->label, l->n_label, l->n_name ?: l->n_label);
}
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

/* --- text-kinds.c ------------------------------------------------------------------------------ */

/* True if @line is of another kind than the lines before it. */
bool text_is_of_another_kind(TextTrace *t, const Line *line);
/* What @line, out of its envelope, makes; as a kind's next(). */
int text_take_line(TextTrace *t, const Line *line, Step *ret);
/* Another trace begins with @line: what that makes, as a kind's next(). */
int text_another(TextTrace *t, const Line *line, Step *ret);
/* All that is wanted of this text was read. */
void text_finish(TextTrace *t);
/* @line is not of a trace as it stands: is it in an envelope, or of another kind?  As a kind's next(). */
int text_unwrap(TextTrace *t, const Line *line, Step *ret);
/* True if @line, out of its envelope, which is as long as any and whole as it stands, was cut in a name
 * where a window ended, so that the next line has the rest. */
bool text_is_cut(TextTrace *t, const Line *line);
