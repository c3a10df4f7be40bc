/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Lean: which functions are hooked for a session
 *
 * function_graph hooks every function that can be traced, whatever its roots are, and everybody
 * pays.  Lean hooks what the roots call: what was seen below them here and what is shipped of
 * them (daemon/lean/trees), and besides the functions where tasks wait.  What others then pay is
 * measured, and what costs too much is left out.  For roots that nobody knows there is a lesson:
 * everything is hooked for a moment (daemon/session/session-lean.c).
 */

#include <systemd/sd-event.h>

#include "daemon/instances/instance.h"

/*
 * LeanTree: what some roots call
 *
 * The text of what was learned here:
 *
 *      root udp_sendmsg                    what follows was seen below it, itself included
 *      ip_make_skb 0 41000                 FUNCTION LEAF SHARE_PPM
 *       udp_sendmsg                        who calls the function above; some of them
 *
 * LEAF: 1 if it was seen to call nothing, else 0.  SHARE_PPM: its time with all that it calls, of the root's
 * [millionths].  daemon/lean/trees, which is shipped, says itself what it consists of.
 */

#define LEAN_MAX_FUNCTIONS 16384
#define LEAN_MAX_CALLERS 4   /* of a function */
#define LEAN_PART_PPM 10000U /* a leaf with less of the roots' time has no part in it */

typedef struct LeanFunction {
        char *name;
        bool leaf;
        uint32_t share_ppm;
        Strv callers;
        uint64_t n_calls, n_own, total_ns; /* as a worker counted them (learner_read()) */
} LeanFunction;

typedef struct LeanTree {
        LeanFunction *functions; /* n of them, sorted by name and unique after lean_tree_sort() */
        size_t n;
} LeanTree;

/* Adds a function, not a root of its own.  0 or -ENOMEM. */
int lean_tree_add(LeanTree *t, const char *name, bool leaf, uint64_t share_ppm);
/* Adds a caller to the function that was added last, unless it has enough.  0 or -ENOMEM. */
int lean_tree_add_caller(LeanTree *t, const char *name);
/* Adds all of @other.  0 or -ENOMEM. */
int lean_tree_join(LeanTree *t, const LeanTree *other);
/* Puts the functions in order; of those of one name the larger share stays and the other numbers add up, and a leaf is what all
 * say is one. */
void lean_tree_sort(LeanTree *t);
LeanFunction *lean_tree_find(const LeanTree *t, const char *name);
void lean_tree_done(LeanTree *t);
#define _cleanup_lean_tree_ _cleanup_(lean_tree_done)
/* Keeps those that @keeps, in their order. */
void lean_tree_keep(LeanTree *t, bool (*keeps)(const LeanFunction *f, const void *userdata),
                    const void *userdata);
/* Keeps those of the names that this kernel has, without what is only called because somebody traces, as function_graph
 * does each change of tasks; sorts. */
void lean_tree_keep_present(LeanTree *t, const Functions *f);
/* Adds what is shipped of @root.  1: something is; 0: nothing; -ENOMEM; -EINVAL: the shipped text is damaged. */
int lean_tree_ship(LeanTree *t, const char *root);

/*
 * LeanCache: what was learned about some roots, as a file
 *
 * STORE/lean/KEY, KEY being the XXH3-128 of the kernel's release, its build id, the set of modules
 * and the roots.  Text:
 *
 *      ftraced lean 3
 *      kernel 6.12.117+deb12-amd64
 *      roots udp_sendmsg
 *      learned 1795267200000000000         when, on the real time clock [ns]
 *      calls 600                           of the roots, that it was learned from
 *      ...                                 their tree (above)
 *
 * The kernel and the roots are for people.  Names, not addresses: they hold for the whole boot
 * and for the next one.  Whoever uses them checks each against the kernel's own list.
 */
#define LEAN_DIR "lean"
#define LEAN_KEY_CHARS 32
#define LEAN_MAX_FILES 512 /* of the newest, and of so many bytes: the rest is forgotten */
#define LEAN_MAX_BYTES (32U << 20)

typedef struct LeanCache {
        uint64_t learned_ns;
        uint64_t n_calls;
        LeanTree tree;
} LeanCache;

/* @root_fd: where proc/ and sys/ are.  0 or -errno. */
int lean_cache_make_key(int root_fd, const Functions *f, const Strv *roots,
                        char ret[static LEAN_KEY_CHARS + 1]);

enum { LEAN_CACHE_E_INVALID = 1 };
/* @ret: lean_cache_done() it; @ret_key: set unless that fails.  0, LEAN_CACHE_E_INVALID, -ENOENT, other -errno. */
int lean_cache_load(LeanCache *ret, int store_fd, int root_fd, const Functions *f,
                    const Strv *roots, char ret_key[static LEAN_KEY_CHARS + 1]);
int lean_cache_parse(LeanCache *ret, const char *text);
/* Replaces the file as a whole, making the directory if need be, and forgets the oldest of too many.  0 or
 * -errno. */
int lean_cache_write(const LeanCache *c, int store_fd, const char *key, const char *kernel,
                     const Strv *roots);
void lean_cache_done(LeanCache *c);
#define _cleanup_lean_cache_ _cleanup_(lean_cache_done)

/*
 * Thinning: what is not hooked, so that others pay no more than they may
 *
 * Each call of a hooked function outside the roots costs whoever makes it a hook.  Over the budget go, of each of these
 * classes the most called first, until the rest costs less:
 *
 *      leaves without a part in the roots' time, and where tasks wait if the roots are not known to call it
 *      what only the scheduler calls
 *      other leaves
 *      what calls others, as long as there is one more at its depth below the roots
 *      where tasks wait below the roots, and where interrupts begin
 */

/*
 * Calls of others, counted for a moment.  Each call of a hooked function outside the roots costs whoever calls it a hook, about
 * as long as the cheapest system call, and brings nothing: function_graph needs some 200 instructions for a call that it
 * does not record (linux 6.12), such a system call some more.
 */
typedef struct Load {
        LeanTree rates; /* of which n_calls count; none: nobody has counted */
        Strv counted;   /* whose calls were, sorted */
        Strv out;       /* what was counted before, and is not hooked any more, sorted */
        uint64_t window_ns, hook_ns; /* in which; what a hook takes */
        bool is_work; /* while the roots are called: what counts is this, and not what other work might call */
} Load;

/* What was counted @before but not @now is out; how often it would be called now nobody knows.  0 or -ENOMEM. */
int load_keep(Load *now, const Load *before);
/* What is in @own, too, was called below the roots: what is left are others' calls. */
void load_subtract(Load *l, const LeanTree *own);
/* Returns what @n calls cost in millionths of a CPU's time. */
double load_cost_ppm(const Load *l, double n);
void load_done(Load *l);

/* What would be hooked, by class and depth; names are borrowed. */
typedef struct Rank Rank;
typedef struct Ranks {
        Rank *items;
        size_t n;
} Ranks;

/* @hooked, @roots: sorted; roots stay.  0 or -ENOMEM. */
int thinning_rank(Ranks *ret, const LeanTree *tree, const Strv *hooked, const Strv *roots);
void ranks_done(Ranks *r);
/* @ret: what is left out already, and what is to be besides, sorted.  0 or -ENOMEM. */
int thinning_choose(const Ranks *ranks, const Load *load, uint64_t budget_ppm, Strv *ret);
/*
 * As thinning_choose(), so that none of the usual kinds of work (daemon/lean/loads) pays more: where thinning begins while
 * nobody has looked at what this host does, for work may come at any moment, and is over before it is looked at.  Those that
 * call a root walk the roots' own way, and do not count.
 */
int usual_loads_thin(const Ranks *ranks, const Strv *roots, uint64_t budget_ppm, Strv *ret);

/*
 * The functions where tasks wait or spin, and those of interrupts: whatever is asked for, they are hooked, as long as others
 * do not call them often, for they are the answer.  daemon/lean/waiting-functions has them by subsystem, each with its
 * reason.
 */
typedef enum WaitingKind {
        WAITING_OTHER,
        WAITING_INTERRUPT, /* what a timer or a device brings into the task that it meets */
        WAITING_SCHEDULER, /* below these is the scheduler's inside */
} WaitingKind;

/* Adds those that this kernel has, sorted.  0 or -ENOMEM. */
int waiting_find(const Functions *f, Strv *ret);
/* True if it is one, and of that kind. */
bool waiting_is(const char *name, WaitingKind kind);
bool waiting_is_interrupt(const char *name);

/* --- choosing ---------------------------------------------------------------------------------- */

#define LEAN_MIN_CALLS 100 /* of the roots; less says too little of what they call */

/* How much is hooked. */
typedef enum LeanScope {
        LEAN_TREE, /* what is known of the roots; while that is nothing, as much as the spec asks for */
        LEAN_CALLERS, /* of that only what calls others: a guard wants less */
        LEAN_LESSON,  /* everything, whatever is known */
        LEAN_ROOTS,   /* the roots, and where tasks wait */
} LeanScope;

typedef struct LeanChoice {
        Hooks hooks; /* none: everything */
        /* As in SessionMeta. */
        Strv left_out, left_out_in, left_out_why, callees_unknown_of;
        uint32_t n_known;
        TreeOrigin tree_from;
        bool callees_unknown;
        uint64_t learned_ns;    /* when, on the real time clock; 0: nothing was learned here */
        uint64_t learned_calls; /* of the roots, from which */
        bool learns;            /* what is seen is to be learned */
} LeanChoice;

/* True if what the roots call decides what is hooked. */
bool lean_asks(const Spec *spec);
/* Whether less may be hooked for others' sake: not while somebody watches. */
bool lean_thins(const Spec *spec);

/*
 * True if what others call is counted while it records.  That is what was called less what was recorded, so both have
 * to be known: not of what stays in the kernel's buffer, by another clock, or of slow calls alone.
 */
bool lean_watches(const Spec *spec);
/* Whether a notifier counts the roots' calls, since programs that begin are in the buffer, too.  Events that somebody asked
 * for count as calls.  Its number is the one behind the triggers', and it counts all tasks', as some may join later. */
bool lean_counts_calls(const Spec *spec);

/* What a choice depends on; all borrowed. */
typedef struct LeanQuestion {
        int store_fd, root_fd; /* the store's directory; where proc/ and sys/ are */
        const Functions *functions;
        const Spec *spec;
        const Strv *roots, *notrace; /* sorted; what is left out with all below it */
        LeanScope scope;
        const Load *load; /* of others; NULL: nobody looks at it yet */
} LeanQuestion;

/*
 * lean_choose()
 * @warnings: what is to be said of it
 *
 * A flat spec hooks the roots alone, one with a list that list, whatever lean is.  With lean off all is
 * hooked, and what is seen is learned unless it is known.
 * Return: 0; REFUSED (a function in spec->hooked that there is not); -errno.
 */
int lean_choose(LeanChoice *ret, const LeanQuestion *q, Strv *warnings, Refusal *refusal);
void lean_choice_done(LeanChoice *c);
/* Fills what @m says of it.  0 or -ENOMEM. */
int lean_choice_tell(const LeanChoice *c, SessionMeta *m);
#define _cleanup_lean_choice_ _cleanup_(lean_choice_done)

/* Adds what was seen to what is known; names that this kernel does not have are left out.  0 or -errno. */
int lean_learn(int store_fd, int root_fd, const Functions *f, const Strv *roots, const char *kernel,
               const LeanCache *new);

/*
 * Call sample: who calls which functions, recorded for a moment
 *
 * The function tracer runs in an instance of its own, with these functions.  What it recorded is handed out
 * as pages: counting is for whoever may look into them (below).
 *
 * All tasks' calls are recorded: with set_ftrace_pid the function tracer leaves out what is called between
 * the decision to switch tasks and the switch, switch_mm_irqs_off() for one (linux 6.1 to 7.2
 * kernel/trace/ftrace.c, ftrace_pid_func()).
 */

#define CALL_SAMPLE_MS 100
#define CALL_SAMPLE_KB                                                                             \
        2048 /* of each CPU's buffer, or less on many: 80,000 calls; then the oldest go */

typedef struct CallSample {
        char *format; /* of the event ftrace/function, whose field "ip" is the function */
        int fd;       /* a memfd of whole pages */
        uint32_t page_bytes;
        uint64_t from_ns, to_ns; /* on the clock "mono": in between no call is missing */
        uint64_t n_calls;        /* with those that are missing; UINT64_MAX: not known */
        uint64_t n_own_events;   /* that came into the other buffer meanwhile */
} CallSample;

#define CALL_SAMPLE_INIT ((CallSample){ .fd = -EBADF })

/*
 * call_sample_take()
 * @hooks:   which functions; some
 * @own_dir: of the buffer whose events are counted meanwhile
 *
 * Everything is put back when it returns, or at the next start of a daemon.  A task.
 * Return: 0 or -errno: -EOPNOTSUPP (there is no function tracer), -EINVAL (no functions).
 */
int call_sample_take(CallSample *ret, Ledger *l, const Hooks *hooks, const char *own_dir);
void call_sample_done(CallSample *s);
#define _cleanup_call_sample_ _cleanup_(call_sample_done)

/*
 * Learner: has functions counted in pages, by a process without privileges
 *
 * The daemon never looks into pages; the worker (below) does, and what it
 * says is text to be checked.
 */

typedef struct Learner Learner;

/* What it found, which may be taken away; or NULL and -errno.  The learner may be freed meanwhile. */
typedef void (*LearnerDone)(LeanTree *counts, int error, void *userdata);

typedef struct LearnerJob {
        const int *fds; /* borrowed */
        size_t n_fds;
        uint32_t page_bytes; /* of files that are nothing but pages; 0: they are segments */
        const char *format, *field, *exit_format; /* as of FunctionCountsConfig */
        uint64_t from_ns, to_ns;                  /* the same */
} LearnerJob;

#define LEARNER_MAX_SECONDS 120

/* 0 or -errno; @done is called later, once. */
int learner_start(Learner **ret, sd_event *event, const LearnerJob *job, LearnerDone done,
                  void *userdata);
/* Ends the worker, if it runs: @done is then not called. */
Learner *learner_free(Learner *l);
DEFINE_CLEANUP(Learner *, learner_free);

/* The worker's answer, lines of function_counts_name(), sorted; what is no function's name is left out.  0;
 * LEARNER_E_INVALID: this is no answer; -ENOMEM. */
enum { LEARNER_E_INVALID = 1 };
int learner_read(LeanTree *ret, const char *answer);

/*
 * LearnWorker: the process that counts functions in pages
 *
 * The daemon runs its own program again, with this word as its argument and these descriptors:
 */

enum {
        LEARN_WORKER_FD_JOB = 0,     /* LearnWorkerJob, then the texts of format files */
        LEARN_WORKER_FD_OUT = 1,     /* lines of function_counts_name() */
        LEARN_WORKER_FD_NULL = 2,    /* what libraries print */
        LEARN_WORKER_FD_SYMBOLS = 3, /* kallsyms */
        LEARN_WORKER_FD_PAGES = 4,   /* and those behind it */
};

#define LEARN_WORKER_OPTION "--learn-worker"
#define LEARN_WORKER_MAX_OUT ((size_t) 8 << 20) /* more is no answer */

typedef struct LearnWorkerJob {
        uint32_t n_sources;  /* descriptors with pages */
        uint32_t page_bytes; /* of files that are nothing but pages; 0: they are segments */
        uint32_t
                n_format; /* bytes of the event's format, with its NUL; that of exits is behind it */
        char field[20];
        uint64_t from_ns, to_ns;
} LearnWorkerJob;

/* Locks itself up, counts, and gives the exit status: 0 if all could be read. */
int learn_worker(void);
