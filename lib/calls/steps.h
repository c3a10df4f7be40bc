/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What stands between the events of a recording and who asks for its steps
 *
 *      stream -> Steps, Values -> Filter: TailSampler -> Reorder -> who asked
 */

#include "calls/stacks.h"
#include "decode/cursor.h"
#include "decode/foreign.h"
#include "decode/names.h"
#include "programs/programs.h"

/*
 * Tail sampler: trees that wait until it is known whether they are kept
 *
 * Steps go in in their order and come out in it.  A tree that is dropped takes all its steps along;
 * one that is open holds back what came after its first step.  Only so many wait: then the tree that
 * is first in the line is kept whatever becomes of it, if it has lasted long enough.
 */
typedef struct WaitingStep WaitingStep;

/* One of zeroes, from malloc(), has begun. */
typedef struct SampledTree {
        WaitingStep *first, *last;
        bool is_kept;        /* decided before its end */
        uint64_t n_left_out; /* the caller's: left out before it, which its first step says */
} SampledTree;

/* One of zeroes but for the first two is empty. */
typedef struct TailSampler {
        size_t n_max;    /* steps that wait */
        uint64_t min_ns; /* how old the first must be to go before it is decided */
        size_t n_waiting;
        WaitingStep *first, *last;
        WaitingStep *handed; /* what tail_sampler_pop() gave last */
} TailSampler;

/* Takes a copy of @step (step_copy()).  @tree: NULL: it is in none, and stays.  @ret_copy: may be NULL.  0 or -ENOMEM. */
int tail_sampler_push(TailSampler *t, SampledTree *tree, const Step *step, Step **ret_copy);
/* Frees @tree.  Whether it was kept, perhaps before its end. */
bool tail_sampler_end(TailSampler *t, SampledTree *tree, bool is_kept);
/* The next that may go; valid until the next call.  False: none yet. */
bool tail_sampler_pop(TailSampler *t, uint64_t now_ns, Step *ret);
/* All trees must have ended. */
void tail_sampler_done(TailSampler *t);

/*
 * Reorder: calls in the order of their steps, until it is known how long they took
 *
 * The entry of a call comes before its duration, and the steps behind it must not overtake it.  So
 * each entry is a tree of its own, kept if the call turns out to be long enough.  Whatever is open for as long as
 * that is long enough.
 */
typedef struct Reorder {
        TailSampler line; /* line.min_ns: what is long enough */
        uint64_t now_ns, n_lost;
        Stacks tasks;
} Reorder;

/* Takes a copy.  0 or -ENOMEM. */
int reorder_push(Reorder *h, const Step *step);
/* No more will come: what is still open is as long as was seen of it. */
void reorder_finish(Reorder *h);
void reorder_done(Reorder *h);

/*
 * Values: what calls were given and what they return, told by events of their own
 *
 * Where function_graph does not record it, a probe of a function does (daemon/instances/instance.h): an event
 * "ftraced:ftraced_SESSION_f0" (of an fprobe) or "..._r0" (of a kretprobe) with the fields __probe_func, __probe_ret_ip
 * and ret; or "..._e0" (of an fprobe) or "..._p0" (of a kprobe) with __probe_ip and a0 to a5, the registers that hold
 * arguments.  Graph and probe are called one after the other when a function begins, and both put their own return
 * address on the stack; whoever came last is returned to first.  So the event is directly before the call's entry or
 * exit, or directly behind it:
 *
 *      entry F                                       entry F
 *      event F ret=-90, to return_to_handler         exit F
 *      exit F                                        event F ret=-90, to the caller
 *
 * An fprobe knows its function's types, and what it records has the sign of what is returned.  A kretprobe records the
 * register, of which an int fills a half: that is cut by the recording's own types (types/prototypes.h).
 *
 * Directly: in the same task, with nothing in between but what interrupts it.  A value is missing rather than of another
 * call:
 *
 *   - An interrupt may come in between and call the same function: events and calls of one context (task,
 *     softirq, interrupt, NMI) belong together, the innermost first.
 *   - A probe may be of a call that the graph does not have (too deep, too quick): its value is dropped at
 *     the next step of its context; where there are no entries, it is of no exit whose call began later.
 *   - Of a recursion, what returns into the function itself is of a call that the function has made, and what returns
 *     to its caller is not.
 *   - A return address tells its side, but for linux 7.2's fprobes, whose is always the caller's; and an entry has
 *     none.  Then, if the event could be of the entry or exit before it, it is, unless most of the recording's were
 *     before theirs.
 *
 * "..._c0" (of an fprobe) and "..._k0" (of a kprobe) of a root have no arguments.  Directly behind such an event comes a
 * user_stack, if those were asked for, and then a kernel_stack, likewise.  They tell who called the root.  What the kernel
 * calls to take the latter is left out.  In an interrupt the program's stack is of whoever was interrupted, and left out.
 *
 * On arm64 a kprobe is a breakpoint, whose handling function_graph records beside the call: that is left out
 * (linux 6.12 arch/arm64/mm/fault.c, do_debug_exception(); do_el1_brk64() since Debian's 6.12.117).
 *
 * Sources: linux 6.12 kernel/trace/rethook.c, fgraph.c, trace_fprobe.c; linux 7.2 kernel/trace/fprobe.c, whose
 * users are function_graph's, called in the order of their numbers; seen on 5.10, 6.1, 6.12 and 7.2.
 */

typedef struct Values Values;
typedef struct ProgramStacks ProgramStacks;

/* @formats, @functions: borrowed. */
int values_new(Values **ret, const Formats *formats, Functions *functions);
/* True if an event is one of these, by its names. */
bool values_takes(const char *system, const char *name);
/* @name: the event's; @function: whose values it has, NULL: not known before the first; @format: text of its
 * format file, hostile.  0, FORMATS_E_INVALID, -ENOMEM. */
int values_add(Values *v, const char *name, const char *function, const char *format);
size_t values_n(const Values *v);
bool values_have_returns(const Values *v); /* and not only arguments */
/* Adds the names of objects' fields, each once.  0 or -ENOMEM. */
int values_fields(const Values *v, Strv *ret);

bool values_knows(const Values *v, const Event *e); /* an EVENT_OTHER: it is no step */
/* One of those.  @entry: the step that values_enter() was told of last, if it has not gone out; or NULL.  0 or
 * -ENOMEM. */
int values_note(Values *v, const Event *e, Step *entry);
/* 1 if @e, the entry or exit of @f, is of what handles probes, and no step, else 0; or -ENOMEM. */
int values_hide(Values *v, const Event *e, const Function *f);
/* A call, whose arguments go into @step if they are known; valid until the next.  0 or -ENOMEM. */
int values_enter(Values *v, const Event *e, Step *step);
/* The end of one, whose value goes into @step if it is known.  0 or -ENOMEM. */
int values_leave(Values *v, const Event *e, Step *step);
/* A user_stack is behind each event of the recording, and what the kernel calls to take it is left out; @has_kernel_stacks: and
 * then a kernel_stack is behind the probes of roots; @has_copies: and what the kernel calls to copy stacks is. */
void values_set_program_stacks(Values *v, bool has_kernel_stacks, bool has_copies);
#define CALLERS_MAX 256 /* more are not told */

/* The root directly behind whose probe @e comes, in its task and outside of interrupts; NULL: none.  Told once. */
const Function *values_take_root(Values *v, const Event *e);
/*
 * values_take_stack() - what a kernel_stack tells of the callers of the root whose probe the task has met last
 * @addresses: its, @n of them, at most CALLERS_MAX
 *
 * *@ret NULL: nobody waits for it, the root is not on it, or nothing is above it.  0 or -ENOMEM.
 */
int values_take_stack(Values *v, const Event *e, const uint64_t *addresses, size_t n,
                      const Callers **ret);
/* Events were lost, or no more come: whatever waits has no value. */
void values_forget(Values *v);

/* @step, which may be what values_enter() or values_leave() was told of last.  1: it may go on; 0: a copy
 * waits; -ENOMEM. */
int values_push(Values *v, const Step *step);
/* The next that has waited for long enough; valid until the next call. */
bool values_pop(Values *v, Step *ret);
Values *values_free(Values *v);
DEFINE_CLEANUP(Values *, values_free);

/*
 * The functions of a kernel's stack above @root; *@ret_is_there: whether that is on it.  How many are in @ret, which has room
 * for @n; -ENOMEM.
 */
int callers_above(Functions *functions, const Function *root, uint64_t timestamp_ns,
                  const uint64_t *addresses, size_t n, const Function **ret, bool *ret_is_there);

/*
 * Program stacks: what called the kernel, by the events user_stack behind those of roots' probes
 *
 * A user_stack has at most 8 addresses, by frame pointers.  A function that keeps none hides its caller, and a
 * register that holds something else ends the stack.
 *
 * With copies of stacks (spaces/stack-copies.h) .eh_frame tells instead, if that tells more.  A copy is of a call if it was
 * taken by the same task on the same CPU between its user_stack, behind a kernel_stack if there is one, and the next event
 * of that CPU: the probe has both made before anything else happens there.
 */
#define PROGRAM_FRAMES_MAX 8 /* linux 6.12 kernel/trace/trace.h, FTRACE_STACK_ENTRIES of a user's */

/* What was met so far. */
typedef struct ProgramStacksTold {
        uint64_t n;
        uint64_t
                n_full; /* as many as the kernel records, and none of them is what a program begins with */
        uint64_t n_early;   /* fewer, likewise, and the last one is known */
        uint64_t n_unknown; /* likewise, and of no address it is known what was mapped there */
        uint64_t n_uncopied; /* there is no copy of it */
        uint64_t n_cut;      /* by a copy, which was too short, and has no more */
        const char
                *early_file; /* where the first of those that end early ends; NULL: there is none */
} ProgramStacksTold;

struct ProgramStacks {
        Spaces *spaces; /* borrowed */
        ProgramNaming naming;
        ProgramStacksTold told;
        Hash functions; /* by label */
        CallersSet set;
        struct KnownStack *known;
        size_t n_known;
        Hash known_at; /* index + 1 */
};

int program_stacks_new(ProgramStacks **ret, Spaces *spaces);
/* Who had called @root from outside of the kernel, by the addresses that the kernel found or, if that tells more, by @copy,
 * which is changed; NULL: there is none.  *@ret NULL: nobody.  0 or -ENOMEM. */
int program_stacks_get(ProgramStacks *p, int32_t tgid, const Function *root, uint64_t timestamp_ns,
                       const uint64_t *addresses, size_t n, StackCopy *copy, const Callers **ret);
ProgramStacks *program_stacks_free(ProgramStacks *p);
DEFINE_CLEANUP(ProgramStacks *, program_stacks_free);

/* --- steps ---------------------------------------------------------------------------------------- */

/* Another session shares the kernel's graph filter, so that its trees may be in this buffer too. */
typedef enum StepsKeep {
        STEPS_ALL,
        STEPS_IN_TREES, /* what is in a tree that begins at one of the roots */
        STEPS_OF_ROOTS, /* the roots' own, where no tree can be seen */
} StepsKeep;

/* Who runs on a CPU. */
typedef struct CpuTask {
        bool known;
        int32_t pid;
        const char *comm;
        const Owner *owner;
} CpuTask;

typedef struct Steps {
        Stream *stream; /* borrowed, like what follows */
        Functions *functions;
        const Tasks *tasks;
        Owners *owners;   /* NULL: whose tasks are was not recorded */
        Foreign *foreign; /* what prints events of other kinds; NULL: they have no text */
        Spaces *spaces;   /* NULL: programs' stacks were not recorded, as of the next */
        ProgramStacks *stacks;
        bool are_copied;     /* the stacks */
        StackCopies *copies; /* NULL: there are none to be read */
        Values *values; /* what tells of calls what they were given and return; NULL: only entries and exits do */
        StepsKeep
                keep; /* what is passed on; events of other kinds whose format is there were asked for, and stay */
        bool watches_trees; /* trees are told apart, as for STEPS_IN_TREES, which may be set later */
        bool has_retval;    /* exits have a return value */

        /* Its own: */
        uint64_t args[EVENT_ARGS_MAX]; /* of a step with values, which looks farther ahead */
        Stacks trees;
        bool is_usual; /* nothing but the next event makes the next step, and it is not asked whether it belongs to it */
        CpuTask *cpus;
        size_t n_cpus;
        const Event *kept; /* its LOST has been handed out */
        Event held;        /* a kernel_stack, to be handed out next, and what is on it */
        const Callers *held_callers;
        bool has_held;
        StepLate late; /* of the last step */
        uint64_t n_lost;
} Steps;

/* The next step not later than @until_ns.  1: @ret is filled; 0: there is none; -errno. */
int steps_next(Steps *s, uint64_t until_ns, Step *ret);
/* For a recording that goes on: when a neighbour has come.  Trees that were not watched cannot be told apart. */
void steps_set_keep(Steps *s, StepsKeep keep);
void steps_done(Steps *s);
