/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stacks: for each task the calls that are open
 *
 * Frames are found by depth and name, not by the order of braces.  A call at the
 * depth of an open one does not end it: the kernel takes a function off the
 * task's stack before it writes its return, and an interrupt in between is
 * recorded at the same depth (linux 6.1 kernel/trace/fgraph.c,
 * ftrace_pop_return_trace()).  Both are open then, and siblings.
 *
 *      depth 18   _raw_spin_unlock_bh
 *      depth 19   __local_bh_enable_ip            has ended, its record follows
 *      depth 19   smp_reschedule_interrupt        top
 *
 * Memory is in proportion to the tasks with open calls or data, and bounded by PID_MAX_LIMIT.
 */

#include "base/array.h"
#include "calls/step.h"

/*
 * Trace contexts: whose request a task works at, as it has said itself
 *
 * A program that is traced by OpenTelemetry, or by anything else that speaks W3C Trace Context, says so in
 * a marker (trace_marker) or in an event that it emits and the recording has (a uprobe, a user event):
 *
 *      traceparent=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01     anywhere in its text
 *                  |  trace id                         span id          flags
 *                  version
 *      traceparent=        or  traceparent=-                                   no request any more
 *
 * The value may stand in double quotes, as the kernel prints a string of a uprobe.  It is read by the letter, and what
 * is not read ends the context: no request is better than a wrong one.  The first of several in a text counts.
 *
 * A context is its thread's alone, and holds until the thread says another one, or exits (if the recording
 * has sched:sched_process_exit), or until events are lost, on whatever CPU: it may have said another one there.  Events in an interrupt do not count, nor does what stands behind "comm=": a
 * task's name, which another task's event may show.
 *
 * Source: W3C Recommendation "Trace Context", 3.2 traceparent header; linux 6.12 kernel/trace/trace.c,
 * tracing_mark_write().
 */

#define TRACE_ID_CHARS 32

/* A trace id, whose first digits are the high ones; zeroes, which none has: there is no context. */
typedef struct TraceContext {
        uint64_t high, low;
} TraceContext;

/* True if the step says whose request its task works at, or that it does at none.  Its text is hostile. */
bool trace_context_is_said(const Step *step);
/* What it says. */
TraceContext trace_context_of(const Step *step);
static inline bool trace_context_is_set(const TraceContext *c) {
        return c->high != 0 || c->low != 0;
}

#define STACK_SIBLINGS_MAX 8 /* open at one depth */

typedef struct Frame {
        const Function *function;
        const CallWay *way; /* from where it was called; NULL: nobody asked, or nobody called it */
        const Callers *callers; /* of a root, who had called it; NULL: not recorded */
        const Callers *program; /* likewise, of the program */
        const Owner *owner;     /* whose the task was when it began; NULL: not recorded */
        int32_t depth;
        uint64_t start_ns;
        uint64_t below_ns;    /* durations of the calls directly below that have ended */
        uint64_t blocked_ns;  /* waited anywhere below */
        uint64_t away_ns;     /* off the CPU, and not below; where switches were recorded */
        uint64_t input_ns;    /* of what it waited, itself or below: for its caller's input */
        uint64_t irq_ns;      /* of interrupts anywhere below */
        uint64_t softirq_ns;  /* of softirqs */
        uint64_t wake_ns;     /* of waking others */
        uint64_t aside_ns;    /* of any of these three, once */
        uint64_t n_below;     /* calls anywhere below that have ended */
        uint64_t n_children;  /* calls directly below that have ended */
        uint64_t n_left_out;  /* of both, calls that a filter has not passed on */
        uint64_t n_line;      /* where a text has it */
        uint64_t number;      /* in the order of beginnings, from 1; the caller's, like the next */
        uint64_t parent;      /* of who called it; 0: nobody that was seen */
        uint64_t tree;        /* its tree, in the order in which these began, from 1 */
        const Function *root; /* of the outermost of its callers that was seen, itself perhaps */
        bool in_irq;          /* it is an interrupt, or below one */
        bool has_waited;      /* it or a call below it is one that waits */
        bool is_nested;       /* it is below another one that is counted with it */
        bool is_root;         /* nobody was seen who called it */
        uint8_t role, input;  /* the caller's, like all that follows */
        uint32_t user;
        uint32_t cpu;         /* where it began */
        uint32_t index;       /* of what it was made of */
        const char *args;     /* NULL: none */
        const Object *object; /* likewise */
        uint64_t begin_ns,
                end_ns;     /* within its caller's, and behind its elder siblings'; on demand */
        uint64_t next_ns;   /* when the next call below it begins at the earliest */
        uint64_t left_ns;   /* what those take that are still to come */
        uint64_t offset_ns; /* of an outermost one: from clock readings to times */
        uint64_t shift_ns;  /* likewise: how much later its tree was put */
        int64_t task;       /* likewise: its stack's key when it was put there */
        bool has_offset;
        bool is_cut;     /* its duration is not known */
        bool is_endless; /* it was told of before its end was known */
        void *data;
        void *more; /* as data, of another one */
        void *row;  /* likewise */
} Frame;

typedef struct Stack {
        int64_t key; /* step_task_key() */
        Frame *frames;
        uint32_t n, n_room;
        uint64_t last_ns; /* of its last step */
        int32_t floor;    /* the lowest depth it was seen at; INT32_MAX: at none */
        int32_t counter;  /* the caller's, 0 at first, like the next two */
        uint64_t base_ns;
        void *data;    /* the caller's, from malloc() */
        char comm[16]; /* cut; empty: not known */
        int32_t pid;
        const Function *last_root; /* of the outermost call that began last; NULL: of none */
        TraceContext context, former_context; /* the caller's, like the next */
        uint64_t context_ns, former_ns;       /* since when each holds, or held */
        /* Likewise: of a root that is to begin, as probes are recorded before it up to Linux 5.10. */
        const struct Callers *callers, *program;
        uint32_t callers_epoch; /* when they came */
} Stack;

/* One of zeroes has none. */
typedef struct Stacks {
        Stack *items; /* in no order */
        size_t n, n_room;
        Hash by_key; /* index + 1 */
        size_t i_last;
} Stacks;

/* stacks_get() where another task's step came last. */
Stack *stacks_look_up(Stacks *s, const Step *step);

/* The step's task's; valid until the next call.  NULL without memory. */
static inline Stack *stacks_get(Stacks *s, const Step *step) {
        if (_likely_(s->i_last < s->n && s->items[s->i_last].key == step_task_key(step)))
                return &s->items[s->i_last];
        return stacks_look_up(s, step);
}
/* The data of the step's task: if it has none yet, @n bytes of zeroes.  NULL without memory. */
void *stacks_data(Stacks *s, const Step *step, size_t n);
/* The same as stacks_get(), of a task that has none yet NULL. */
Stack *stacks_find(const Stacks *s, const Step *step);
/* A STEP_TASK: the nameless task's stack is the named one's.  0 or -ENOMEM. */
int stacks_name_task(Stacks *s, const Step *step);
/* Frees all with their data, of which nothing else may hang then. */
void stacks_done(Stacks *s);

/* The top frame if a step at @depth proves that it has ended unseen; it is taken off, and stays where it is until
 * another is pushed.  NULL: nothing has. */
static inline Frame *stack_pop_deeper(Stack *s, int32_t depth) {
        return s->n > 0 && s->frames[s->n - 1].depth > depth ? &s->frames[--s->n] : NULL;
}
Frame *stack_pop_or_sibling(Stack *s, int32_t depth);
/* The same before a call at @depth, which spares STACK_SIBLINGS_MAX - 1 of its siblings. */
static inline Frame *stack_pop_before_call(Stack *s, int32_t depth) {
        if (s->n == 0 || s->frames[s->n - 1].depth < depth)
                return NULL;
        return stack_pop_or_sibling(s, depth);
}
/* Room for a frame behind the top one, of which nothing is known; NULL without memory. */
static inline Frame *stack_next(Stack *s) {
        return ARRAY_ROOM(s->frames, s->n_room, s->n + 1) ? &s->frames[s->n] : NULL;
}
/* A new top frame, zeroed but for function and depth; NULL without memory.  Valid until the next
 * call of this. */
Frame *stack_push(Stack *s, const Function *function, int32_t depth);
/* Returns what a return at @depth ends, after stack_pop_deeper(): @function, or, if that is NULL, what was
 * opened last.  NULL: nothing that is open there. */
Frame *stack_find(Stack *s, int32_t depth, const Function *function);
/* Who called what is or would be at @depth; NULL: nobody that was seen. */
Frame *stack_caller(Stack *s, int32_t depth);
/* Takes @frame off, from amid its siblings if it must be. */
void stack_remove(Stack *s, Frame *frame);
