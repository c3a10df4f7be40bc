/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Instance: the ring buffer that a session records into
 *
 * An instance of its own (instances/ftraced-SESSION) where function_graph may
 * run in one, which is since linux 6.11 (kernel/trace/trace_functions_graph.c, .allow_instances);
 * the top-level buffer before.  Both are programmed by the same table; for the top level
 * every old value goes into the ledger first.
 */

#include <inttypes.h>
#include <systemd/sd-event.h>

#include "daemon/admission/admission.h"
#include "daemon/tracefs/plan.h"
#include "meta/meta.h"
#include "types/members.h"
#include "wire/refusal.h"

#define INSTANCE_PREFIX "ftraced-"

/* The kernel's counters of one CPU, in the order of TracefsStat: what they showed last, and what they have come to since
 * the session began.  Somebody who clears the buffer sets the kernel's back to 0. */
enum { INSTANCE_N_COUNTERS = STAT_READ + 1 };
typedef struct InstanceCounters {
        uint64_t last[INSTANCE_N_COUNTERS], sum[INSTANCE_N_COUNTERS];
} InstanceCounters;

typedef struct InstanceCpu {
        uint32_t cpu;
        InstanceCounters counters;
        uint64_t n_waiting; /* events in the buffer at the last look */
        uint64_t n_least;   /* no fewer were in it, read and overrun by then */
} InstanceCpu;

typedef struct Instance {
        const Tracefs *fs;
        char *dir;         /* "instances/ftraced-x/", or "" */
        char *name;        /* "ftraced-x"; NULL: the top level */
        bool is_kept;      /* nobody made it, and nobody removes it */
        InstanceCpu *cpus; /* ascending */
        size_t n_cpus;
} Instance;

/* Whether function_graph may run in an instance: asks an existing one, or makes one, looks and
 * removes it; never by arming.  1, 0, -errno. */
int instance_probe(Ledger *l);

/* @name: NULL: the top level.  @is_kept: it is there, and stays when the session ends: as at the top level, every old value
 * goes into the ledger, and its size is what it is.  @fs: borrowed.  Touches nothing. */
int instance_init(Instance *ret, const Tracefs *fs, const char *name, bool is_kept);
void instance_done(Instance *i); /* the memory only: the ledger removes the directory */
#define _cleanup_instance_ _cleanup_(instance_done)
/* Adds the words of one of its lists. */
int instance_read_list(const Instance *i, const char *file, Strv *ret);
/* Ledger, then mkdir(); nothing at the top level. */
int instance_create(const Instance *i, Plan *p);
/* @file of it is to say @value, which it does once @text (NULL: the same) was written. */
int instance_plan_file(const Instance *i, Plan *p, const char *file, const char *value,
                       const char *text);

/* What a file of the top level says goes into the ledger, even if that is what is wanted at first. */
int instance_keep_old(Plan *p, const char *file);

/* Functions that are hooked; none: all. */
typedef struct Hooks {
        Strv names;
        Strv lines; /* theirs (daemon/admission/admission.h), in no order; none: the names are written */
} Hooks;
void hooks_done(Hooks *h);

/* What differs from session to session. */
typedef struct InstanceSettings {
        uint64_t buffer_bytes; /* for each CPU */
        unsigned percent;      /* of it full: poll() on trace_pipe_raw returns */
        const char *clock;     /* one of trace_clock's */
        const Strv *cpus;      /* ranges: what happens on these is recorded; none: on all */
        const Strv *threads;   /* that are recorded; none: all */
        bool threads_change;   /* while it records */
        bool no_irqs, no_sleep_time;
        const Hooks *hooks,
                *not_hooked; /* what set_ftrace_filter and set_ftrace_notrace are to hold */
        bool args;           /* are recorded; the kernel can */
} InstanceSettings;

/* True if options/funcgraph-irqs and options/sleep-time have one value for all instances. */
bool instance_shares_options(const Tracefs *fs);
/*
 * Everything that is this buffer's own: recording off, clock, sizes, options, pids; all but the
 * tracer.  What older kernels keep once for all instances goes to the ledger as shared.
 */
int instance_plan(const Instance *i, Plan *p, const InstanceSettings *s);
/* What set_ftrace_filter (other functions are hooked from now on) or set_ftrace_notrace is to hold; the tracer may be on. */
int instance_plan_hooks(const Instance *i, Plan *p, const char *file, const Hooks *hooks);
/* current_tracer = function_graph, and the counters' starting point.  -EBUSY: a pipe is open. */
int instance_start(Instance *i, Plan *p, const char **ret_file);

/* NULL if there is no such CPU.  Setting makes the account go on from there. */
InstanceCounters *instance_counters(const Instance *i, uint32_t cpu);
/* per_cpu/cpuN/trace_pipe_raw of a possible CPU, non-blocking; the caller owns it; -ENOENT, -errno. */
int instance_open_raw(const Instance *i, uint32_t cpu);
int instance_plan_recording(const Instance *i, Plan *p, bool on);
int instance_set_recording(const Instance *i, bool on); /* at once */
/*
 * Fills the kernel's counters of ret->cpu (entry "overrun", ...), as deltas since arming; the other members stay.
 * Return: 0, INSTANCE_E_EMPTIED (the same, and somebody has emptied the CPU's buffer since the last call: the counters
 * went backwards), -errno.
 */
enum { INSTANCE_E_EMPTIED = 1 };
int instance_read_account(Instance *i, CpuAccount *ret);
/* Events that waited in the buffer of all CPUs when their accounts were read last. */
uint64_t instance_n_waiting(const Instance *i);
/* One moment on all clocks, the trace clock @clock among them. */
int instance_read_clocks(const Instance *i, const char *clock, ClockTuple *ret);
/* A file of the instance if it is events/header_page, else of the top level.  The caller frees. */
int instance_read_file(const Instance *i, const char *path, char **ret, size_t *ret_n);

/*
 * Black box: the tracing instance whose buffer survives a warm reboot
 *
 * The kernel's command line makes it, in memory that is set aside, and nobody can make or remove one later:
 *
 *      reserve_mem=16M:4096:trace trace_instance=boot_mapped^traceoff@trace
 *
 * What is in it after a reboot are the pages of the kernel before, with that kernel's addresses; text that the
 * kernel prints of them may be translated, trace_pipe_raw is not.  Its size is the memory's, for each possible
 * CPU the same part; buffer_size_kb refuses to be written (-EBUSY).  A kernel that finds there what it does not
 * understand begins with an empty buffer.
 * Source: linux 6.12 Documentation/trace/debugging.rst, kernel/trace/trace.c (enable_instances()),
 * kernel/trace/ring_buffer.c (rb_range_meta_init()).
 */

typedef struct BlackBox {
        Instance instance;   /* with how much waits in the buffer of each CPU */
        uint64_t cpu_bytes;  /* of its buffer, for each CPU */
        uint32_t page_bytes; /* sub-buffer size */
} BlackBox;

/*
 * black_box_find() - the first that the command line names and that is there
 * @ret: instance_done() its instance
 *
 * A copy that the kernel made of one ("trace_instance=backup=boot_mapped") is none.  Reads only.
 * Return: 0, BLACK_BOX_E_NONE, -errno.
 */
enum { BLACK_BOX_E_NONE = 1 };
int black_box_find(const Tracefs *fs, BlackBox *ret);

/* Not while somebody records there, nor, without @force, while it holds what nobody has rescued.  @ours: directories
 * ("instances/x/") of live sessions.  0, REFUSED, -errno. */
int black_box_admit(const Tracefs *fs, const Strv *ours, bool force, Refusal *refusal);

/*
 * Task filter: whose calls are recorded, when who they are changes
 *
 * Forked children follow their parents into set_ftrace_pid by themselves (options/function-fork), and
 * leave it when they end.  Who gets a name or joins a control group does not: an instance of its own
 * ("instances/ftraced.tasks-SESSION") records the events of that, so that its trace_pipe wakes the
 * daemon, which then looks who is who.  What the pipe says is not read.
 */

/* True if somebody may join those whom @spec is about. */
bool task_filter_follows(const Spec *spec);
/* The instance, and what it records.  0 or -errno. */
int task_filter_plan(Plan *p, const Spec *spec);
/* Its trace_pipe, not blocking; the caller owns it; -errno. */
int task_filter_open(const Tracefs *fs, const char *session);
/*
 * task_filter_set() - make the buffer in @dir record the tasks in @wanted
 * @has_events: it records events beside the graph, of which the same holds
 * @wanted:     sorted (daemon/admission/admission.h)
 *
 * Writes the difference: a list that is written anew is empty for a moment, which means everybody.
 * Who is wanted no more is added to set_ftrace_notrace_pid (set_event_notrace_pid).
 * Return: whether anything had to be changed; -errno.
 */
int task_filter_set(const Tracefs *fs, const char *dir, bool has_events, const Strv *wanted);

/*
 * EventSet: what a session records beside bare calls
 *
 * Events of other kinds (meta/event-choice.h) are switched on in the session's buffer, each with
 * its filter or none.  A session that records some tasks' calls records these tasks' events
 * (set_event_pid, event-fork); of sched_switch and sched_wakeup those that concern one of them, as the
 * kernel has it (linux 6.1 kernel/trace/trace_events.c, event_filter_pid_sched_switch_probe_pre()).
 * Who joins them later is added as to set_ftrace_pid.
 *
 * Markers (ftrace:print) are no event that is switched on: those of the top level's trace_marker come into an
 * instance by options/copy_trace_marker.
 *
 * Arguments and return values depend on how the kernel was built.  Arguments are recorded while the
 * option funcgraph-args is on; what calls return is recorded by every kernel that can, and the
 * option funcgraph-retval is about its `trace` file alone.
 */

/* Refuses unless the kernel has the spec's events: 0, REFUSED, -errno. */
int admit_events(const Tracefs *fs, const Spec *spec, Refusal *refusal);

/* True if events that are told apart by tasks are recorded beside the calls, or may be: values, too. */
bool event_set_is_used(const Spec *spec);

/* Whether markers that the spec asks for can come into the buffer of @session, which is the top level's without
 * @has_instances.  The same. */
int admit_markers(const Tracefs *fs, const Spec *spec, const char *session, bool has_instances,
                  Refusal *refusal);
/* @threads: that are recorded; none: all. */
int event_set_plan(const Spec *spec, const Strv *threads, const Instance *i, Plan *p);
/* What became of a filter that the kernel does not take, in its own words.  @file: where it was
 * written, and still stands; @field: of the spec, in which it is. */
int refuse_event_filter(const Tracefs *fs, const char *file, const char *field, Refusal *refusal);
/* There is no such event here; names like it are suggested. */
int refuse_no_event(const Tracefs *fs, const char *system, const char *event, Refusal *refusal);

/*
 * Value probe: what a function is given and what it returns, where function_graph does not record it
 *
 * A dynamic event of each function, which exists once for all instances and is on in the session's own buffer:
 *
 *      f1024:ftraced/ftraced_af63f54c86021707_f0 udp_sendmsg%return ret=$retval      fprobe, linux 6.5 on
 *      f:ftraced/...                                                                 fprobes without a number, seen on 7.2
 *      r1024:ftraced/ftraced_af63f54c86021707_r0 udp_sendmsg ret=$retval             kretprobe
 *      f:ftraced/ftraced_af63f54c86021707_e0 udp_sendmsg a0=$arg1:x64 ...            fprobe: registers of six arguments
 *      p:ftraced/ftraced_af63f54c86021707_p0 udp_sendmsg a0=$arg1:x64 ...            kprobe; or fields, or both
 *      f:ftraced/ftraced_af63f54c86021707_c0 udp_sendmsg      fprobe, behind which the trigger "stacktrace" records
 *      p:ftraced/ftraced_af63f54c86021707_k0 udp_sendmsg      the kernel's stack; likewise a kprobe
 *                                             the option "userstacktrace" records the program's behind each event
 *
 * The number is how many calls at the same time are seen; of more the values are not known.  An fprobe comes
 * first because nothing of it can be traced itself; what handles kprobes can, and is left out by
 * value_probe_find_handlers().  Whoever reads the recording joins events and calls (calls/steps.h).  The
 * letter in the name says how the event is to be understood there.
 *
 * Sources: linux 6.12 Documentation/trace/fprobetrace.rst, kprobetrace.rst; kernel/trace/trace_fprobe.c.
 */

/* Event names have no room for a session's. */
uint64_t value_probe_hash(const char *session);

#define VALUE_PROBES_MAX SPEC_MAX_VALUES /* of each kind in a session */

typedef enum ValueKind {
        VALUE_ARGUMENTS,
        VALUE_RETURNED,
        VALUE_CALLERS,
        _VALUE_KIND_N,
} ValueKind;

/* The functions whose values the spec asks for, sorted; none: no probes are needed, for nobody asks or function_graph does
 * it.  Of arguments each is "NAME WHAT", with what its probe takes.  @roots: sorted.  0, REFUSED (there is no such function
 * or field, or there are too many), -errno. */
int value_probe_choose(ValueKind kind, const Functions *f, const Tracefs *fs, const Spec *spec,
                       const Strv *roots, Strv *ret, Strv *warnings, Refusal *refusal);
/*
 * value_fields_choose() - what the probes of arguments take
 * @given:     functions of which that is all arguments, sorted
 * @arguments: how they are taken
 * @ret:       "NAME WHAT" of each of @given, and of those of which the spec asks for fields; sorted
 *
 * A field is found in the kernel's own types below @f->root_fd, and is written as the kernel's probes take it since
 * 5.10, by offsets: its name is that of its kind and its own, "be_dport" (decode/formats.h says how they are read).
 *
 *      ... at_0=$arg1:x64 be_dport=+12($arg1):u16
 *
 * Of numbers that cannot be read the kernel records what was in its buffer, so that the pointers that they are read
 * through come first, "at_N".  0, REFUSED, -errno.
 */
int value_fields_choose(const Functions *f, const Tracefs *fs, const Spec *spec, const Strv *roots,
                        const Strv *given, const char *arguments, Strv *ret, Strv *warnings,
                        Refusal *refusal);
/* The same of @fields ("NAME=EXPRESSION:TYPE"), behind a blank each.  0, MEMBER_E_NONE, MEMBER_E_REFUSED, -ENOMEM. */
int value_fields_of(const Prototypes *types_of, const char *function, const char *const *fields,
                    size_t n, char **ret, char why[static MEMBER_WHY_MAX]);
/* The kernel's and its modules' types, below @root_fd.  0; positive: there are none that can be read; -errno. */
int value_types_read(int root_fd, Prototypes **ret);
/* Adds what would be recorded of the probes themselves in a tree, where they are kprobes.  0 or -ENOMEM. */
int value_probe_find_handlers(const Functions *f, const Tracefs *fs, Strv *ret);

/* What tells whose tasks are (owner/owners.h), if @spec asks for it; why not all of it is, in @warnings.  0 or -errno. */
int value_probe_make_owners(Plan *p, const Functions *f, const Spec *spec, Strv *ret_events,
                            Strv *warnings);
/* What tells which files programs map from now on (spaces/spaces.h), likewise. */
int value_probe_make_maps(Plan *p, const Functions *f, const Spec *spec, Strv *ret_events,
                          Strv *warnings);
/*
 * value_probe_make() - make the events of @functions
 * @p:          as for plan_put_line()
 * @spec:       functions that it names and that cannot be probed are refused; of others a sentence in @warnings tells,
 *              and of modules that do not say what their functions' arguments are
 * @ret_events: "ftraced:NAME:FUNCTION" of each that was made is added
 *
 * Each is in the ledger before it is there.  0, REFUSED, -errno.
 */
int value_probe_make(ValueKind kind, Plan *p, const Functions *f, const Strv *functions,
                     const Spec *spec, Strv *ret_events, Strv *warnings, Refusal *refusal);
/* One event "ftraced:@name" for the kernel's own filters, whose field `ret` has the sign of what @function returns; where the
 * kernel does not know types it is an int.  As value_probe_make(). */
int value_probe_make_event(Plan *p, const char *function, const char *name, Refusal *refusal);
/* They are on in the buffer of @i from now on; the ledger switches them off before it removes them. */
int value_probe_plan(Plan *p, const Instance *i, const Spec *spec, const Strv *events);

/*
 * Notifier: the kernel tells the daemon that something happened
 *
 * A small tracing instance of its own (instances/ftraced.bell-SESSION-N), in which one function or
 * one event is recorded.  What is recorded is never read: that there is something wakes the daemon,
 * and how much there is is how often it happened.  Instances can do that on every kernel since 6.1,
 * also where function_graph cannot run in one.
 *
 * The notifier only tells.  What must happen at the speed of the kernel a switch does: the kernel's own
 * traceon and traceoff, which act on the buffer in whose directory they are written (linux 6.1
 * kernel/trace/trace_events_trigger.c, traceon_trigger(); kernel/trace/trace_functions.c,
 * ftrace_traceon()).
 */

/* @t as a function, or an event (of its own if it is slower: or return:), on which a switch can be.  @number: of the trigger
 * in the session.  0 or -ENOMEM. */
int notifier_event(const char *session, size_t number, const Trigger *t, Trigger *ret);
/* Refuses unless there is what @t waits for.  0, REFUSED, -errno. */
int notifier_admit(const Tracefs *fs, const Trigger *t, const Functions *functions,
                   Refusal *refusal);
/*
 * notifier_attach() - make the instance and program it
 * @p:         has the steps; they are made, unless it is dry
 * @number:    of the trigger in the session
 * @functions: what can be traced
 * @roots:     of the session: what count counts and slower measures
 * @threads:   that count counts; none: all
 *
 * The directory is in the session's part of the ledger, which takes it down again.
 * Return: 0, REFUSED, -errno.
 */
int notifier_attach(Plan *p, size_t number, const Trigger *t, const Functions *functions,
                    const Strv *roots, const Strv *threads, Refusal *refusal);

typedef struct Notifier Notifier;
typedef void (*NotifierRung)(void *userdata);
/* Opens one that hangs, to listen to it: not yet.  @fs is borrowed.  -ENOENT: there is none; -errno. */
int notifier_open(Notifier **ret, const Tracefs *fs, const char *session, size_t number,
                  sd_event *event, NotifierRung rung, void *userdata);
/* From now on @rung is called, once, when anything is recorded or has been since notifier_clear(). */
int notifier_listen(Notifier *b, bool listen);
/* How often it rang since notifier_clear(). */
int notifier_count(Notifier *b, uint64_t *ret);
int notifier_clear(Notifier *b);
Notifier *notifier_free(Notifier *b);
DEFINE_CLEANUP(Notifier *, notifier_free);

/*
 * Switches: function and event triggers that the kernel carries out by itself, in the buffer below
 * @dir ("" or "instances/x/"), once.  They are in the ledger, and put there at once unless the plan is dry.
 * Taking one out that has gone is fine.  0 or -errno; -EEXIST: somebody else has the same there.
 */
int switch_put(Plan *p, const char *dir, const Trigger *t, bool on);
int switch_take(const Tracefs *fs, const char *dir, const Trigger *t, bool on);

/*
 * Quiesce: for a moment no tracer looks into the graph filter
 *
 * Kernels later than 6.12 free an old set_graph_function without waiting for the CPUs that are looking
 * into it, where CONFIG_ARCH_WANTS_NO_INSTR is set, as it is on x86 (linux 7.2 kernel/trace/ftrace.c,
 * ftrace_graph_release(), relies on synchronize_rcu_tasks_rude(), which does nothing there:
 * kernel/rcu/tasks.h; 6.12 waits).  Changing it beside a tracer makes them fault: 2 times in 254 changes
 * beside one that hooks all functions, on 7.2; never in 1038 that were quiesced.
 *
 * What a tracer is not to record at all it does not look up either (kernel/trace/fgraph.c,
 * fgraph_pid_func()).  So its list of processes is made to name nobody but the thread that makes the
 * change; a second write to it waits until every CPU has left what it was in before (ftrace.c,
 * pid_write(), synchronize_rcu()).  Calls that begin meanwhile are missing.
 */

/* True if this kernel wants it. */
bool quiesce_is_needed(const Tracefs *fs);

/* Whose records the ledger has meanwhile; no session has this name. */
#define LEDGER_QUIESCE "(hush)"

typedef struct Quiesce {
        Ledger *ledger;
        Strv files, olds; /* what they said */
} Quiesce;

/*
 * quiesce_prepare(), quiesce_begin(), quiesce_end()
 * @dirs: of the instances whose function_graph is on ("instances/x/"); those that went are passed by
 *
 * The first writes the ledger, and nothing is changed.  After the second, whatever it returns, the
 * third has to come; in between no task may leave (daemon/process/background.h) and nobody else may write these lists.
 * Then the ledger is to be committed.
 * Return: 0 or -errno; quiesce_begin(): -EBUSY: processes come faster than they can be named; quiesce_end():
 * what could not be put back stays in the ledger.
 */
int quiesce_prepare(Quiesce *h, Ledger *l, const Strv *dirs);
int quiesce_begin(Quiesce *h, const Strv *dirs);
int quiesce_end(Quiesce *h);
void quiesce_done(Quiesce *h); /* one that did not begin */
/* After a daemon that died meanwhile: puts everything back, adds whose lists these were to @ret. */
int quiesce_recover(Ledger *l, Strv *ret_dirs);
/* What quiesce_begin() or quiesce_end() would write now, as steps of a dry plan.  0 or -errno. */
int quiesce_plan(Plan *p, const Strv *dirs, bool begins);
