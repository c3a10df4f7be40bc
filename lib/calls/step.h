/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Steps: what renderers and counters are fed with
 *
 * The events of a stream, with a function's entry and its exit joined into a
 * LEAF where the kernel's own drawing joins them: if the exit is the very next
 * event of the same CPU, with the same task and function, and nothing was lost
 * in between (linux 6.1 kernel/trace/trace_functions_graph.c,
 * get_return_for_leaf()).
 */

#include "calls/function.h"
#include "decode/foreign.h"
#include "decode/object.h"
#include "owner/owners.h"

typedef enum StepKind {
        STEP_ENTER, /* a function begins */
        STEP_LEAF,  /* a function begins and ends, calling nothing that was recorded */
        STEP_LEAVE, /* a function ends */
        STEP_LOST,  /* here events of this CPU are missing */
        STEP_OTHER, /* an event of another kind */
        STEP_TASK,  /* what ran on this CPU under STEP_PID_UNKNOWN is, and was, this task */
} StepKind;

/* Levels that a kernel may have: 50 in 6.1, as many as 4 KiB hold since 6.11. */
#define STEP_DEPTH_MAX 1023

/* A text of the kernel's names a CPU's task when another one follows it. */
#define STEP_PID_UNKNOWN(cpu) ((int32_t) (INT32_MIN + 1 + (int32_t) (cpu)))

typedef enum Closing {
        CLOSING_COMPUTED, /* with a name if the kernel would print it */
        CLOSING_PLAIN,
        CLOSING_NAMED,
} Closing;

/* What only a text says of a step, for drawing it again as it was; valid until the next step. */
typedef struct StepText {
        const char *args;   /* of a call: what stands in its parentheses, or behind it; not ended */
        const char *note;   /* what stands in a comment behind it, without a name in front */
        const char *change; /* the lines above it that say that tasks change, with their ends */
        const char *begin_marker; /* likewise of an interrupt */
        const char *end_marker;   /* of irq_end, without its end */
        const char *text; /* the whole line, out of what it was wrapped in; NULL: not kept */
        uint32_t n_args, n_note, n_change, n_begin_marker, n_end_marker, n_text;
        uint64_t line;      /* where it is, from 1 */
        Closing closing;    /* LEAVE: whether the brace has its function's name */
        bool untimed;       /* it has no duration, the step's is a guess */
        bool has_time;      /* the step's time is its own, and not added up from durations */
        bool irq_begin;     /* before it "==========>" */
        bool irq_end;       /* behind it "<==========" */
        bool change_odd;    /* `change` is there although its task ran on this CPU before */
        bool change_untold; /* it is not there although another one did */
        bool has_overrun;
        bool cpu_untold;  /* its line says the task and not the CPU: changes are not computed */
        bool is_indented; /* not drawn as a graph */
} StepText;

/*
 * Who had called a root, by a stack: the functions above it, the innermost first.  The same for the same functions, for as
 * long as the steps' source lives.  The kernel's are those that called the root; the program's those that called the
 * kernel.
 *
 *      callers: do_syscall_64 < __x64_sys_sendto < __sys_sendto
 *      stack: __libc_start_call_main [libc.so.6] < main [client] < even < send_one
 *
 * The last one called.  "..." stands for a caller that is not on the stack, since what it called keeps no frame pointer.
 */
typedef struct Callers {
        const Function *root;
        char *text;
        bool is_program;
        uint32_t n;
        const Function *functions[];
} Callers;

static inline const char *callers_word(const Callers *c) {
        return c->is_program ? "stack: " : "callers: ";
}

/* The text without that. */
static inline const char *callers_names(const Callers *c) {
        return c->text + strlen(callers_word(c));
}

/* Those of a source, by what they are; {} is empty. */
typedef struct CallersSet {
        Callers **items;
        size_t n;
        Hash by_key; /* index + 1 */
} CallersSet;

/* @functions: @n above @root, the innermost first.  0 or -ENOMEM. */
int callers_get(CallersSet *c, const Function *root, const Function *const *functions, size_t n,
                bool is_program, const Callers **ret);
void callers_done(CallersSet *c);

/* Of an event of the scheduler the text, which costs more than all else, is made if somebody asks for it. */
typedef struct StepLate {
        SchedEvent sched; /* as sched_parse() would read it in the text */
        Foreign *foreign;
        const Event *event;
        const char *text; /* NULL: nobody has asked */
} StepLate;

typedef struct Step {
        /* As an Event begins, up to the depth. */
        uint64_t timestamp_ns; /* trace clock; a leaf's is its entry's */
        uint16_t event_id;     /* OTHER */
        uint8_t flags, preempt_count;
        int32_t pid;
        uint32_t cpu;
        int32_t depth; /* 0: the first function that any user of function_graph saw in this task */
        StepKind kind;
        uint32_t overrun;           /* LEAF, LEAVE */
        const Function *function;   /* ENTER, LEAF, LEAVE */
        const char *comm;           /* the task's name; valid until the steps are freed, or, of a
                                     * text, until the next one */
        const Owner *owner; /* whose the task is, for as long as the steps' source lives; NULL: not recorded */
        uint64_t calltime, rettime; /* LEAF, LEAVE: local clock [ns] */
        uint64_t retval;            /* LEAF, LEAVE, if has_retval */
        bool has_retval;
        uint32_t n_args;      /* ENTER, LEAF: 0 unless they were recorded */
        const uint64_t *args; /* in the order of the machine's registers; until the next step */
        /* Nearly always none of the next five is there: */
        const CallWay *
                way; /* ENTER, LEAF: from where it was called; NULL: nobody asked, or nobody called it */
        const Object
                *object; /* ENTER, LEAF: NULL: its fields were not recorded; until the next step */
        const char *text;  /* OTHER: "NAME: FIELDS", until the next step; NULL: it is late, or its format is
                            * not there */
        const StepText *said; /* NULL: it is not of a text; LOST: see step_cuts_all() */
        uint64_t
                n_left_out; /* calls of the task that a filter left out since the last step that it passed on */
        StepLate *late;     /* OTHER: NULL: it is not late; until the next step */
        const Callers *callers; /* OTHER: of its root, which the task is in; or NULL */
        uint64_t n_lost;        /* LOST: how many events; 0: the kernel did not say */
} Step;

/* Tells tasks apart; the idle tasks are one for each CPU. */
static inline int64_t step_task_key(const Step *s) {
        return s->pid != 0 ? s->pid : -1 - (int64_t) INT32_MAX - (int64_t) s->cpu;
}

static inline bool step_is_call(const Step *s) {
        return s->kind <= STEP_LEAVE;
}

/* Of OTHER, until the next step; NULL: its format is not there. */
const char *step_text(const Step *s);

/* True if lines of a text are missing there, nobody knows which: what is open in any task has ended unseen. */
static inline bool step_cuts_all(const Step *s) {
        return s->kind == STEP_LOST && s->said;
}

static inline uint64_t step_duration_ns(const Step *s) {
        return s->rettime - s->calltime;
}

/* Wherever steps come from, a recording or a text. */
typedef struct StepSource {
        /* The next step not later than @until_ns: 1, 0 (there is none), negative as the source has
         * it.  A text does not mind @until_ns. */
        int (*next)(void *source, uint64_t until_ns, Step *ret);
        void *source;
} StepSource;

static inline int step_source_next(const StepSource *s, uint64_t until_ns, Step *ret) {
        return s->next(s->source, until_ns, ret);
}

/* A copy of @step and of all that it points at, but for its function, which stays where it is: one block behind
 * @n_before bytes of the caller's; free() its object, if it has one, and it.  @ret_step: where the step is in it.  NULL
 * without memory. */
void *step_copy(const Step *step, size_t n_before, Step **ret_step);

/*
 * Arguments: a call's arguments and return value as the kernel prints them
 *
 *      (sk=0xffff888003d5c000, msg=0xffffc900001bbd88, len=0x40)       arguments_append()
 *      (sk=0xffff888003d5c000, len=0x40, dport=53, daddr=127.0.0.1)    the same with an object
 *      ret=0x40, ret=-11                                                retval_append()
 *
 * What a function's parameters are called is in the recording if its types were stored
 * (types/prototypes.h); a function without a prototype has "()", as in the kernel's text.
 *
 * Source: linux 7.2 kernel/trace/trace_output.c, print_function_args(), and
 * kernel/trace/trace_functions_graph.c, print_graph_retval().
 */

/* How many bytes arguments_append() will write at most. */
size_t arguments_room(const Step *step);
/* "(NAME=VALUE, ...)" at @p; where it ends. */
char *arguments_append(char *p, const Step *step);

/* The next argument that is a number in "(sk=0x1, len=0x40, how=-1 [BAD])", from *@at on, which goes on behind
 * it; false: there is none.  The text is hostile. */
bool arguments_next(const char **at, const char **ret_name, size_t *ret_n_name, ValueNumber *ret);
/* Of what a function returned: as retval_append() has it, negative if it is in 32 bits. */
ValueNumber retval_number(uint64_t retval);

#define RETVAL_ROOM 24
/* The value at @p, at most RETVAL_ROOM bytes; where it ends.  @hex: errors, too. */
char *retval_append(char *p, uint64_t retval, bool hex);
