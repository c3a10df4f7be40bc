/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Controller: function_graph, programmed safely
 *
 * The one door to tracefs.  It knows what this kernel can do, who holds what
 * exists only once per kernel, and writes every change into the ledger before
 * it makes it.  One per daemon; the daemon's loop and its tasks (daemon/process/background.h).
 *
 * Order of arming:
 *
 *      validate every name -> current_tracer nop? -> ledger -> clock, size, options, pids
 *      -> tracing_on 0 -> graph filters, read back, compared -> current_tracer
 *      -> [trace_pipe_raw opened by the caller] -> tracing_on 1
 *
 * and back in reverse.  "set_graph_function is empty" implies "no tracer is
 * on" at every instant.
 */

#include "base/array.h"
#include "daemon/lean/lean.h"
#include "daemon/process/background.h"
#include "meta/config.h"

typedef struct Controller Controller;
typedef struct Tracer Tracer;       /* function_graph, programmed for one session */
typedef struct Admission Admission; /* that something may be armed, and what it comes to */

/*
 * controller_new()
 * @tracefs: where tracefs is; NULL: find it
 * @store_fd: the store, dup()ed; -EBADF: nothing will be armed
 * @ledger_fd: ledger_open()'s directory
 * @root_fd: a directory in the place of "/" for what is read in /proc and /sys (dup()ed), for tests; -EBADF: "/"
 *
 * Does not fail for want of tracefs: arming is then refused, and controller_check() says why.
 * If the ledger holds changes of a dead predecessor on this boot they are undone first; with @keeps
 * they stay until controller_settle(), so that controller_adopt() may take them up.
 * Return: 0 or -errno.
 */
int controller_new(Controller **ret, const char *tracefs, int store_fd, int ledger_fd, bool keeps,
                   int root_fd);
/* What all buffers together may take of the memory that is available; half of it unless said. */
void controller_set_memory_limit(Controller *c, ConfigShare limit);
/* The loop's tasks, which arm and disarm; NULL, as at first: there are none.  Whoever calls anything
 * below that writes, and is no task, waits until these have ended. */
void controller_set_aside(Controller *c, Background *background);
/* The buffer that survives a reboot: black_box_find(), and -errno without tracefs. */
int controller_find_black_box(Controller *c, BlackBox *ret);
/* Sets in_memory of those CPUs of @m that have events there and had none; whether there were any. */
bool controller_note_in_memory(Controller *c, SessionMeta *m);
void controller_settle(Controller *c); /* undoes what nobody took up */
/* True if something of sessions that ended could not be put back, and no end of another will try again; tries again. */
bool controller_owes(const Controller *c);
void controller_retry(Controller *c);
/* Why not, at the last try; NULL: all is put back. */
const char *controller_debt(const Controller *c);
/* From now on what is programmed stays, also in controller_free(): another daemon takes it up. */
void controller_leave(Controller *c);
void controller_end(Controller *c); /* undoes whatever is still programmed */
/* What is in the kernel after that, or after controller_settle(), in sentences; and commands that give what
 * sessions override, and nobody can be named for, the kernel's own values (daemon/tracer/leftovers.c).
 * -ENOENT: tracefs was never found, and nothing looked at; other -errno. */
int controller_find_left(const Controller *c, Strv *ret);
int controller_find_values(Controller *c, Strv *ret_commands);
Controller *controller_free(Controller *c); /* ends it first */
DEFINE_CLEANUP(Controller *, controller_free);

const char *controller_tracefs(const Controller *c); /* path, or NULL */
bool controller_is_real(const Controller *c);        /* it is the kernel's */
bool controller_has_instances(Controller *c);        /* function_graph may run in an instance */
/* True if names that can be traced are known, so that the next has no more to do than to hand them out. */
bool controller_has_functions(const Controller *c);
/* These names: a memfd, sorted, one a line, sealed; the caller owns it; or -errno. */
int controller_list_functions(Controller *c, size_t *ret_n);
/* JSON array of CheckResult (org.ftraced.varlink); NULL without memory. */
json_t *controller_check(Controller *c);
/* REFUSED if @error is that of writing the ledger, which else looks like one of tracefs; 0: it is not. */
int controller_refuse_ledger(const Controller *c, int error, Refusal *refusal);
size_t
controller_n_restored(const Controller *c); /* changes of an earlier daemon that were undone */

/*
 * controller_admit() - whether controller_arm() may begin: all that can be asked before anything is written
 * @ret:   what arming goes by; admission_free() it
 * @m:     not changed
 * @force: switch tracers of others off that are in the way (daemon/admission/admission.h)
 * @is_dry: nothing at all is written, which otherwise asking for instances may do
 *
 * 0, REFUSED, -errno.
 */
int controller_admit(Controller *c, Admission **ret, const SessionMeta *m, bool force, bool is_dry,
                     Refusal *refusal);
Admission *admission_free(Admission *a);
DEFINE_CLEANUP(Admission *, admission_free);
/*
 * controller_arm() - program everything; nothing is recorded yet
 * @ret: tracer_disarm() it
 * @m:   name, spec and owner are read, which are those that were admitted; roots, notrace, neighbours,
 *       warnings, instance, clock, page_bytes, n_possible_cpus and what lean came to are filled
 * @a:   used once; what it depends on is asked again if it has changed since, or after 0.2 s
 *
 * Return: 0, REFUSED (nothing was changed, or all is undone), -errno (the same).
 */
int controller_arm(Controller *c, Tracer **ret, SessionMeta *m, Admission *a, Refusal *refusal);
/*
 * controller_rehearse() - what controller_arm() would do, and the end of the session after it
 * @ret:       a dry plan; plan_done() it
 * @ret_n_arm: its first steps, of arming; the others put everything back
 * @m:         as for controller_arm()
 *
 * Refused as arming is.  Writes nothing, also no ledger.
 */
int controller_rehearse(Controller *c, Plan *ret, size_t *ret_n_arm, SessionMeta *m, bool force,
                        Refusal *refusal);
/*
 * controller_adopt() - go on with what an earlier daemon of this boot armed
 * @m:       as session.json says
 * @ret_why: NULL, or why the session should end now, although its buffer can still be drained
 *
 * Writes nothing.  The kernel's counters are to be set (instance_counters()).
 * Return: 0, CONTROLLER_E_GONE (there is nothing to go on with: *@ret_why; what is left of it
 * controller_settle() undoes), -errno.
 */
enum { CONTROLLER_E_GONE = 2 };
int controller_adopt(Controller *c, Tracer **ret, const SessionMeta *m, const char **ret_why);
/*
 * controller_rehook() - hook what is known of the roots and of others meanwhile (daemon/lean/lean.h)
 * @load: of others; NULL: not known
 * @m: what it says of what is hooked is filled
 *
 * Return: 1; 0: the same is hooked as before; -errno.
 */
int controller_rehook(Controller *c, Tracer *t, SessionMeta *m, LeanScope scope, const Load *load);
/*
 * controller_sample_calls() - what is called of what is hooked for @t (daemon/lean/lean.h)
 * @ret_names:   of that
 * @ret_hook_ns: what a hook takes of a call's time, about
 *
 * A task.  0; -EBUSY: a tracer of somebody else is on; -ENODATA: all is hooked; -errno as of call_sample_take().
 */
int controller_sample_calls(Controller *c, CallSample *ret, const Tracer *t, const SessionMeta *m,
                            Strv *ret_names, uint64_t *ret_hook_ns);
/* Reads what can be traced, unless it is known; waits for tasks then.  0 or -errno. */
int controller_load_functions(Controller *c);
/* One more (1) or less (-1) learns what some roots call (daemon/watch/watch.h); whether any does. */
void controller_count_learning(Controller *c, int change);
bool controller_is_learning(const Controller *c);
/* daemon/lean/lean.h, lean_learn(). */
int controller_learn(Controller *c, const Strv *roots, const char *kernel, const LeanCache *new);

/* Of what is being armed, how many of the words that name its functions the kernel has compared; false: it is through. */
bool controller_progress(const Controller *c, uint64_t *ret_done, uint64_t *ret_total);
bool controller_waits_for_start(const Spec *spec); /* a session begins with waiting */

/* --- of a tracer that is armed, until tracer_disarm() ------------------------------------------- */

/*
 * Triggers (daemon/instances/instance.h) of a session: rule @i of m->spec.triggers.  controller_arm() hangs the notifiers
 * of those that the kernel can tell of.
 */
bool tracer_can_ring(const Trigger *t); /* by a notifier */
/* What the kernel can do of it by itself: 1: switch recording on, 0: off, -1: nothing. */
int tracer_switch_of(const Spec *spec, const Trigger *t);
/* The kernel switches recording on or off by itself when it happens next.  0 or -errno. */
int tracer_put_switch(Tracer *t, size_t i, const Trigger *trigger, bool on);
int tracer_take_switch(Tracer *t, size_t i, const Trigger *trigger, bool on);
/* True if a session that is armed has nothing but its roots hooked, as it has if every function would be, which costs
 * everybody while nothing is recorded; whether that could begin. */
bool tracer_waits(const Tracer *t);
bool tracer_can_wait(const Tracer *t, const SessionMeta *m);
/* Tasks (daemon/process/background.h) that end and begin it: hook what a recording needs, or the roots alone.  Until
 * the one is through, and as soon as the other begins, tracer_waits().  0 or -errno. */
int tracer_hook_all(Tracer *t);
int tracer_hook_roots(Tracer *t, const SessionMeta *m);

/* After modules came or went.  @ret_gone: roots that are not there any more; @ret_back: those that were away and are roots
 * again from now on.  0 or -errno. */
int tracer_renew_roots(Tracer *t, const SessionMeta *m, Strv *ret_gone, Strv *ret_back);

/* Adds what explains that nothing was recorded (meta/brief.h).  0 or -errno. */
int tracer_find_silence(const Tracer *t, const SessionMeta *m, Strv *ret);
/* True if a task of the daemon is at the kernel, of whichever session: then whoever opens a control file may wait for
 * as long (linux 6.12 kernel/trace/trace.c, trace_types_lock).  So who has to is a task, too. */
bool tracer_is_held_up(const Tracer *t);
Instance *tracer_instance(const Tracer *t);
/* What set_graph_function holds as long as nobody else writes it: the roots of all sessions, but
 * perhaps for those whose module has gone.  Takes out what became of their addresses.  -EBUSY: a task
 * is about to write it. */
int tracer_get_roots(const Tracer *t, Strv *ret, Strv *ret_gone);
/* What set_ftrace_filter or set_ftrace_notrace says as long as nobody else writes it; borrowed until it is changed;
 * NULL: it has to be read. */
const char *tracer_get_hooks(const Tracer *t, const char *file);
/* Adds directories of buffers in which somebody else has function_graph on.  0 or -errno. */
int tracer_find_strangers(const Tracer *t, Strv *ret);
/*
 * For a moment, in the trace's clock, @t recorded no call, since set_graph_function was changed for
 * others (daemon/instances/instance.h).  Called by the loop or a task.
 */
typedef void (*TracerQuiesced)(uint64_t from_ns, uint64_t to_ns, void *userdata);
void tracer_set_handler(Tracer *t, TracerQuiesced on_quiesced, void *userdata);
/* True if an earlier daemon died in such a moment. */
bool tracer_was_quiesced(const Tracer *t);
int tracer_set_recording(Tracer *t, bool on);
/* Somebody else has switched off what session @m records: so it stays when the rest is put back. */
void tracer_leave_off(Tracer *t, const SessionMeta *m);
/* Looks who the tasks of @spec are by now, and records these.  Whether any is new; -errno. */
int tracer_follow(Tracer *t, const Spec *spec);
/* One moment on all clocks. */
int tracer_read_clocks(Tracer *t, ClockTuple *ret);
/* On the trace clock alone, of which each has its own; @otherwise: it cannot be read. */
uint64_t tracer_now_ns(Tracer *t, uint64_t otherwise);
/* Frees the memory and the claim only: controller_settle() finds what it stood for in the ledger. */
void tracer_free(Tracer *t);
/*
 * tracer_disarm() - put everything back
 *
 * The caller has closed every trace_pipe_raw.  Frees @t in any case; what could not be put back
 * stays in the ledger, is tried again at the next disarm and start, and makes this return -errno.
 */
int tracer_disarm(Tracer *t);
