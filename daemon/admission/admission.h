/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Functions: what can be traced here
 *
 * available_filter_functions as a sorted list.  Reading it costs the kernel
 * hundreds of milliseconds, so it is kept for as long as the list of modules
 * stays the same.  Modules' functions are shown there as "name [module]";
 * filters match the name alone.
 */

#include <sys/types.h>

#include "base/array.h"
#include "daemon/tracefs/ledger.h"
#include "daemon/tracefs/plan.h"
#include "daemon/tracefs/tracefs.h"
#include "meta/config.h"
#include "meta/spec.h"
#include "wire/refusal.h"

typedef struct FunctionLine {
        const char *name; /* in Functions.text */
        uint32_t line;    /* of available_filter_functions, from 1 */
} FunctionLine;

typedef struct Functions {
        char *text; /* all names, each with its NUL, and its "[module]" after that */
        size_t n_text;
        const char **names; /* n of them, sorted, unique, in text */
        size_t n;
        FunctionLine *lines; /* n_lines of them, sorted by name, then line; names may repeat */
        size_t n_lines;
        char *modules; /* kernel_modules_read() when it was read */
        int list_fd;   /* functions_open_list(); of meaning if n > 0 */
        int root_fd;   /* borrowed: where that was */
} Functions;

/* Reads the list if there is none or the modules have changed.  0 or -errno. */
int functions_load(Functions *f, const Tracefs *fs);
/* True if there is nothing to read. */
bool functions_are_current(const Functions *f, const Tracefs *fs);
void functions_done(Functions *f);

bool functions_contain(const Functions *f, const char *name);
/* "[module]", borrowed, or NULL: it is the kernel's own, or not there. */
const char *functions_find_module(const Functions *f, const char *name);
/*
 * functions_expand() - every function that @patterns stand for
 * @ret:   they are added, sorted, each once; none if there are more than @max
 * @ret_n: how many there are, or which pattern it was
 *
 * Globs have the kernel's meaning (linux 6.1 lib/glob.c, glob_match()): '*', '?', "[a-z]", and a
 * '[' that is never closed stands for itself.  Names, and globs that begin with some letters, are found
 * quickly; of others there may be so many, and so much in each, that it would take more than about a
 * quarter of a second.
 * Return: 0, FUNCTIONS_E_NOTHING (a pattern stands for none), FUNCTIONS_E_COSTLY, -ENOMEM.
 */
enum { FUNCTIONS_E_NOTHING = 1, FUNCTIONS_E_COSTLY = 2 };
int functions_expand(const Functions *f, const Strv *patterns, size_t max, Strv *ret,
                     size_t *ret_n);
/*
 * functions_shorten() - the same functions in fewer words
 * @names: each once
 * @globs: of which some may stand for many of them; NULL: none
 * @ret:   names, and globs that stand for nothing but @names
 *
 * For each word that is written to set_graph_function the kernel compares all of its functions, so that
 * "vfs_*" takes it a 78th of the time of the 78 names.  Nothing is shortened by less than a few words.
 * Return: 0 or -ENOMEM.
 */
int functions_shorten(const Functions *f, const Strv *names, const Strv *globs, Strv *ret);
/*
 * functions_find_lines() - where @names are in available_filter_functions
 * @ret: decimal line numbers are added; a name that occurs several times has several, and one that
 *       does not occur has none
 *
 * set_ftrace_filter takes such a number in the place of a name and then finds the function without
 * comparing it with all others (linux 6.1 kernel/trace/ftrace.c, add_rec_by_index()).
 * Return: 0 or -ENOMEM.
 */
int functions_find_lines(const Functions *f, const Strv *names, Strv *ret);
/* A sealed memfd with all functions, "name" or "name [module]", one a line: a descriptor of it with its
 * own place, which the caller owns, or -errno.  It was written when they were loaded. */
int functions_open_list(const Functions *f);

/* One glob against one name, as the kernel would.  *@n_steps: characters compared are added. */
bool function_glob_matches(const char *pattern, const char *name, uint64_t *n_steps);

/*
 * clock_reader_find() - functions with which the kernel reads the trace clock, of the clock source in use
 *
 * read_tsc() and the hypervisors' clocks cannot be traced, but read_hpet() and acpi_pm_read() can: each event's time
 * stamp is then an event of its own, and where an interrupt meets one the protection against recursion drops others,
 * which no kernel counts as lost (seen on 7.2 with the HPET).  So they go into the session's set_ftrace_notrace.
 *
 * Source: linux 6.12 arch/x86/kernel/hpet.c, drivers/clocksource/acpi_pm.c, kernel/time/jiffies.c.
 * Adds those that can be traced here; none is the rule.  0 or -errno.
 */
int clock_reader_find(const Tracefs *fs, const Functions *f, Strv *ret);

/*
 * Arbiter: who uses what exists once per kernel
 *
 * set_graph_function, set_graph_notrace, max_graph_depth and tracing_thresh are one for all
 * instances, in every kernel version (linux 6.12 kernel/trace/ftrace.c,
 * ftrace_graph_hash; trace_functions_graph.c, max_depth; trace.c, tracing_thresh), some options of
 * function_graph in some.  Roots can be united; the others must be equal.  And a depth unites only
 * the same roots: it counts from the outermost function that any user of function_graph has entered
 * (linux 6.12 kernel/trace/fgraph.c, curr_ret_depth), so that somebody else's root above ours would
 * use it up.  The arbiter only counts: it never writes.
 */

/* Values that cannot be united. */
typedef struct ClaimValues {
        uint64_t depth;
        uint64_t thresh_us; /* then no calls are recorded, only returns: whose tree one is in, only
                             * `flat` tells */
        bool flat;
        bool no_irqs, no_sleep_time, args; /* false where each instance has its own */
} ClaimValues;

/* What one live session holds. */
typedef struct Claim {
        char *session;
        uid_t uid;
        uint64_t since_ns; /* CLOCK_REALTIME */
        Strv roots, notrace;
        ClaimValues values;
} Claim;

typedef struct Arbiter {
        Claim **claims;
        size_t n;
} Arbiter;

enum { ARBITER_E_HELD = 1 };
/* Whether arbiter_join() would succeed: 0 or ARBITER_E_HELD. */
int arbiter_look(const Arbiter *a, const Strv *roots, const Strv *notrace,
                 const ClaimValues *values, const Claim **ret_holder, const char **ret_what);
/*
 * arbiter_join() - take a claim
 * @ret:        borrowed until arbiter_leave()
 * @ret_holder: on ARBITER_E_HELD the claim in the way; *@ret_what names the file
 */
int arbiter_join(Arbiter *a, Claim **ret, const char *session, uid_t uid, const Strv *roots,
                 const Strv *notrace, const ClaimValues *values, const Claim **ret_holder,
                 const char **ret_what);
void arbiter_leave(Arbiter *a, Claim *claim);
void arbiter_done(Arbiter *a);

/* Roots of @claim that no other claim has: to add when it joins, to remove when it leaves. */
int arbiter_own_roots(const Arbiter *a, const Claim *claim, Strv *ret);
/* All roots of all claims, sorted. */
int arbiter_all_roots(const Arbiter *a, Strv *ret);
/* The sessions other than @claim. */
int arbiter_neighbours(const Arbiter *a, const Claim *claim, Strv *ret);

/*
 * Admission: may this session be armed?
 *
 * The questions that are asked before anything is written, each answered with
 * 0, REFUSED and a sentence, or -errno.  None of them changes anything.
 */

/* The functions that the spec's names and globs stand for, sorted. */
int admit_names(const Functions *f, const Spec *spec, Strv *ret_roots, Strv *ret_notrace,
                Refusal *refusal);
/* The functions that spec->hooked stands for, sorted. */
int admit_hooked(const Functions *f, const Spec *spec, Strv *ret, Refusal *refusal);
/* Whether the spec's members contradict one another. */
int admit_together(const Spec *spec, const Strv *roots, const Strv *notrace, Refusal *refusal);
/* Whether all of spec->cpus exist and are online. */
int admit_cpus(const Tracefs *fs, const Spec *spec, Refusal *refusal);
/* Whether this kernel has the trace clock. */
int admit_clock(const Tracefs *fs, const Spec *spec, Refusal *refusal);
/* Copies of stacks are only of tasks that are recorded, with times that can be compared, and on the disk. */
int admit_stack_copies(const Spec *spec, Refusal *refusal);
/*
 * All threads that the spec's processes have now, sorted: set_ftrace_pid takes threads, by the numbers that they have
 * outside of all containers, so REFUSED in one.  Where others
 * may join them TASK_NOBODY is one of them (below), so that there always is one; that
 * there is nobody else adds a sentence to @warnings.
 */
int admit_processes(const Tracefs *fs, const Spec *spec, Strv *ret_threads, Strv *warnings,
                    Refusal *refusal);
/* Those of the tasks who may join.  @refusal: NULL: nothing is refused any more, and a control group that was removed
 * meanwhile may be made again. */
int find_followed(const Tracefs *fs, const Spec *spec, Strv *ret_threads, Refusal *refusal);
/*
 * Whether somebody else uses the tracer
 * @instances: function_graph may run in instances: only function_graph itself is in the way then,
 *             wherever it is, since the graph filters are global.  Otherwise any tracer of the
 *             top level is, and any open trace_pipe, whose data arming would erase.
 * @ours:      directories ("instances/ftraced-x/") of live sessions
 * @ledger:    tells a tracer that an earlier ftraced left on from somebody else's
 */
int admit_tracer(const Tracefs *fs, const Ledger *ledger, bool instances, const Strv *ours,
                 Refusal *refusal);
/* No function @name can be traced; names some like it. */
int refuse_no_function(const Functions *f, const char *name, Refusal *refusal);
/* REFUSAL_BUSY for what setting the tracer met: an open pipe in @dir. */
int refuse_held_pipe(const Tracefs *fs, const char *dir, Refusal *refusal);

/* REFUSAL_BUSY naming the session.  @what: a file that exists once per kernel and cannot be shared
 * with it, or NULL: the tracer itself.  @depth: what the new session asks for. */
int refuse_held(const Claim *holder, const char *what, uint64_t depth, Refusal *refusal);
/* Why @name is not among the functions that can be traced, read below @root_fd (or where kernel_symbols_path() says):
 * ": REASON", or "" if that is not known; the caller frees.  0 or -ENOMEM. */
int untraced_explain(char **ret, int root_fd, const char *name);

/* --- what the kernel's buffers take of memory, and may take ------------------------------------- */

typedef struct MemoryUse {
        ConfigShare limit;   /* of the memory that is available, or bytes; all 0: none */
        uint64_t held_bytes; /* of all live sessions, for each CPU */
} MemoryUse;

/* MemAvailable of /proc/meminfo [bytes]: 0, -EBADMSG, -errno. */
int memory_available(int root_fd, uint64_t *ret);
/* Returns what a session's buffers take of @n_cpus CPUs; UINT64_MAX beyond that. */
uint64_t memory_of_buffers(const Spec *spec, uint64_t n_cpus);
/* Whether the buffers of all possible CPUs fit, with those of all other sessions: 0, REFUSED, -errno. */
int memory_admit(const Tracefs *fs, const Spec *spec, const MemoryUse *use, Refusal *refusal);

/* --- capability.c ------------------------------------------------------------------------------- */

/*
 * Capability: what some kernels can record and others cannot
 *
 * Whether this one can is read from the files of tracefs that it takes, not from its version.  The same table
 * answers `ftracectl doctor` and refuses a session.
 */

typedef struct Capability {
        const char *name;   /* "args" */
        const char *option; /* "--args"; NULL: none asks for it */
        const char *what;   /* "the calls' arguments" */
        const char *
                files; /* in tracefs, separated by spaces: all of them exist; NULL: no file tells */
        const char *word;         /* stands in the one file, too */
        const char *since;        /* the first version of Linux, and what it is configured with */
        const char *instead;      /* in tracefs, files that do as well; NULL: none */
        const char *instead_what; /* what they can */
} Capability;

/* The @i-th, or NULL. */
const Capability *capability_get(size_t i);
/* True if it is by what stands in `instead` that this kernel can. */
bool capability_is_instead(const Capability *c, const Tracefs *fs);
/* What is missing, which the caller frees; NULL: nothing.  0 or -errno. */
int capability_find_missing(const Capability *c, const Tracefs *fs, char **ret);
/* The first that @spec takes and this kernel does not have: 0, REFUSED, -errno. */
int admit_capabilities(const Tracefs *fs, const Spec *spec, Refusal *refusal);

/* --- task-finder.c ------------------------------------------------------------------------------ */

/*
 * Task finder: who has a name, or is in a control group
 *
 * What set_ftrace_pid takes are tasks: threads, each by its own number.  They come and go while
 * they are looked for; whoever has gone is left out.
 */

/* A number above all tasks', which end below PID_MAX_LIMIT (linux 6.1 include/linux/threads.h): a list
 * with it alone names nobody, where an empty one would name everybody.  PID_MAX_LIMIT itself would
 * read as "no pid" (kernel/trace/ftrace.c, FTRACE_NO_PIDS). */
#define TASK_NOBODY "4194305"
#define TASK_NUMBER_MAX 21

/*
 * task_find_nobody() - a number that is no task's
 *
 * TASK_NOBODY, and before linux 5.16, whose lists end at kernel.pid_max (5.10 kernel/trace/trace.c,
 * trace_pid_write()), the highest number that is free just now, which comes up last: should a task get it, the
 * next call returns another.
 * Return: 0, -ENOENT (all that it looked at are taken), -errno.
 */
int task_find_nobody(const Tracefs *fs, char ret[static TASK_NUMBER_MAX]);

/* Adds all threads of processes that are called one of @comms, and threads of others that are.  0 or
 * -errno. */
int task_find_by_comms(const Tracefs *fs, const Strv *comms, Strv *ret);
/*
 * task_find_by_cgroup() - add all threads of the processes in a control group and those below it
 * @path: below /sys/fs/cgroup, which may stand before it
 *
 * Return: 0, -ENOENT (there is no such group, or it is outside), -errno.
 */
int task_find_by_cgroup(const Tracefs *fs, const char *path, Strv *ret);
/* Its directory's descriptor, or as task_find_by_cgroup(). */
int task_group_open(const Tracefs *fs, const char *path);
/* Returns what of @path is below /sys/fs/cgroup. */
const char *task_group_below(const char *path);

/* --- caller.c ----------------------------------------------------------------------------------- */

/*
 * caller_translate() - what somebody in a container means by a process's number and a control group's path
 * @proc:         where procfs is
 * @caller:       the process that says them
 * @pids, @paths: become what they are for ftraced; NULL: the caller does not say them
 *
 * A number counts in the caller's PID namespace, a path below the caller's /sys/fs/cgroup.
 * Return: 0; REFUSED: that is not here, or cannot be told; -ENOMEM.
 */
int caller_translate(const char *proc, pid_t caller, Strv *pids, Strv *paths, Refusal *refusal);

/* --- override.c --------------------------------------------------------------------------------- */

/*
 * Override: a tracer of somebody else, switched off while a session records
 *
 * Only where the session's owner said --force.  The tracer's name is written into the ledger as
 * shared (LEDGER_TRACER), so it comes back when the last session has gone and all other files say
 * what they said.  What cannot be overridden is a pipe that is held open: its reader would lose
 * events that it waits for.
 */

/*
 * override_find() - the buffers whose tracer is in the way
 * @instances, @ours: as admit_tracer() has them
 * @dirs:     "" or "instances/x/" are added
 * @warnings: a sentence for each is added, with its tracer
 *
 * Writes nothing.  0, REFUSED (a pipe of one is held open), -errno.
 */
int override_find(const Tracefs *fs, bool instances, const Strv *ours, Strv *dirs, Strv *warnings,
                  Refusal *refusal);
/* Adds the steps that switch them off, and what they are to the ledger.  A step that meets an open
 * pipe fails with -EBUSY. */
int override_plan(Plan *p, const Strv *dirs);
