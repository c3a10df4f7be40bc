/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Controller: function_graph, programmed safely
 *
 * The one door to tracefs.  It knows what this kernel can do, who holds what
 * exists only once per kernel, and writes every change into the ledger before
 * it makes it.  One per daemon; the daemon's loop and its tasks (daemon/aside.h).
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

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "daemon/aside.h"
#include "daemon/bell.h"
#include "daemon/instance.h"
#include "daemon/lean-cache.h"
#include "daemon/weigh.h"
#include "store/config.h"
#include "store/meta.h"
#include "store/spec.h"
#include "wire/refusal.h"

typedef struct Controller Controller;
typedef struct Tracer Tracer; /* function_graph, programmed for one session */

/*
 * controller_new()
 * @tracefs: where tracefs is; NULL: find it
 * @ledger_dir_fd: directory that holds the file "ledger" (the store), dup()ed
 * @keeps: see below
 *
 * Does not fail for want of tracefs: arming is then refused, and controller_check() says why.
 * If the ledger holds changes of a dead predecessor on this boot they are undone first; with @keeps
 * they stay until controller_settle(), so that controller_adopt() may take them up.
 * Return: 0 or -errno.
 */
int controller_new(Controller **ret, const char *tracefs, int ledger_dir_fd, bool keeps);
/* The same with another directory in the place of "/" for what is read in /proc and /sys (dup()ed):
 * for tests. */
int controller_new_at(Controller **ret, const char *tracefs, int ledger_dir_fd, bool keeps,
                      int root_fd);
/* What all buffers together may take of the memory that is available; half of it unless said. */
void controller_set_memory_limit(Controller *c, ConfigShare limit);
/* The loop's tasks, which arm and disarm; NULL, as at first: there are none.  Whoever calls anything
 * below that writes, and is no task, waits until these have ended. */
void controller_set_aside(Controller *c, Aside *aside);
/* Undoes what nobody took up. */
void controller_settle(Controller *c);
/* From now on what is programmed stays, also in controller_free(): another daemon takes it up. */
void controller_leave(Controller *c);
/* Undoes whatever is still programmed; NULL is fine. */
Controller *controller_free(Controller *c);
DEFINE_CLEANUP(Controller *, controller_free);

const char *controller_tracefs(const Controller *c); /* path, or NULL */
int controller_tracefs_fd(const Controller *c);      /* borrowed, or -EBADF */
bool controller_has_instances(Controller *c);        /* function_graph may run in an instance */
/* Names that can be traced: a memfd, sorted, one a line, sealed; the caller owns it; or -errno. */
/* Whether they are known, so that the next has no more to do than to hand them out. */
bool controller_has_functions(const Controller *c);
int controller_list_functions(Controller *c, size_t *ret_n);
/* JSON array of CheckResult (org.ftraced.varlink); NULL without memory. */
json_t *controller_check(Controller *c);
/* How many changes an earlier daemon had left behind and this one undid, for the journal. */
size_t controller_n_restored(const Controller *c);

/*
 * controller_look() - what controller_arm() would refuse before it writes anything
 * @ret_is_learning: what its roots call is learned at this moment: soon less will be hooked; may be NULL
 * @m:               not changed
 *
 * 0, REFUSED, -errno.
 */
int controller_look(Controller *c, bool *ret_is_learning, const SessionMeta *m, bool force,
                    Refusal *refusal);
/*
 * controller_arm() - program everything; nothing is recorded yet
 * @ret:   tracer_disarm() it
 * @m:     name, spec and owner are read; roots, notrace, neighbours, warnings, instance, clock,
 *         page_bytes, n_possible_cpus and what lean came to are filled
 * @force: switch tracers of others off that are in the way (daemon/override.h)
 *
 * Return: 0, REFUSED (nothing was changed, or all is undone), -errno (the same).
 */
int controller_arm(Controller *c, Tracer **ret, SessionMeta *m, bool force, Refusal *refusal);
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
 * Writes nothing.  The kernel's counters are to be set (tracer_set_counters()).
 * Return: 0, CONTROLLER_E_GONE (there is nothing to go on with: *@ret_why; what is left of it
 * controller_settle() undoes), -errno.
 */
enum { CONTROLLER_E_GONE = 2 };
int controller_adopt(Controller *c, Tracer **ret, const SessionMeta *m, const char **ret_why);
/* Frees @t and touches nothing: controller_settle() finds what it stood for in the ledger. */
void tracer_forget(Tracer *t);
/*
 * controller_narrow() - hook only what is known of the roots meanwhile (daemon/lean.h)
 * @m: n_hooked, left_out and learned_ns are filled
 *
 * Return: 1; 0: too little is known, nothing was changed; -errno.
 */
int controller_narrow(Controller *c, Tracer *t, SessionMeta *m);
/* daemon/weigh.h, for functions by name. */
int controller_weigh(Controller *c, Weighing *ret, const Strv *names);
/* Between the two what @roots call is being learned (daemon/lesson.h); borrowed meanwhile.
 * 0 or -ENOMEM. */
int controller_begin_lesson(Controller *c, const Strv *roots);
void controller_end_lesson(Controller *c, const Strv *roots);
bool controller_is_learning(const Controller *c); /* of any roots */
/* daemon/lean.h, lean_learn(). */
int controller_learn(Controller *c, const Strv *roots, const char *kernel, const LeanCache *new);

/*
 * Triggers (daemon/bell.h) of a session: rule @i of m->spec.triggers.  controller_arm() hangs the bells
 * of those that the kernel can tell of.
 */
bool tracer_can_ring(const Trigger *t);   /* by a bell */
bool tracer_can_switch(const Trigger *t); /* the kernel by itself */
int tracer_open_bell(Tracer *t, Bell **ret, size_t i, sd_event *event, BellRung rung,
                     void *userdata);
/* What the kernel can do of it by itself: 1: switch recording on, 0: off, -1: nothing. */
int tracer_switch_of(const Spec *spec, const Trigger *t);
/* Whether a session begins with waiting. */
bool controller_waits_for_start(const Spec *spec);
/* The kernel switches recording on or off by itself when it happens next.  0 or -errno. */
int tracer_put_switch(Tracer *t, size_t i, const Trigger *trigger, bool on);
int tracer_take_switch(Tracer *t, size_t i, const Trigger *trigger, bool on);
/*
 * tracer_waits() - whether a session that is armed has nothing but its roots hooked
 *
 * So it is if every function would be, which costs everybody while nothing is recorded.
 */
bool tracer_waits(const Tracer *t);
/* Whether that could begin. */
bool tracer_can_wait(const Tracer *t, const SessionMeta *m);
/* Tasks (daemon/aside.h) that end and begin it: hook what a recording needs, or the roots alone.  Until
 * the one is through, and as soon as the other begins, tracer_waits().  0 or -errno. */
int tracer_hook_all(Tracer *t);
int tracer_hook_roots(Tracer *t, const SessionMeta *m);

/*
 * tracer_renew_roots() - after modules came or went
 * @ret_gone: roots that are not there any more
 * @ret_back: those that were away and are roots again from now on
 *
 * Return: 0 or -errno.
 */
int tracer_renew_roots(Tracer *t, const SessionMeta *m, Strv *ret_gone, Strv *ret_back);

/* Adds what explains that nothing was recorded (store/silence.h).  0 or -errno. */
int tracer_find_silence(const Tracer *t, const SessionMeta *m, Strv *ret);
/* Where it is programmed; all borrowed.  The directory is "" or "instances/x/". */
const char *tracer_tracefs(const Tracer *t);
int tracer_tracefs_fd(const Tracer *t);
const char *tracer_dir(const Tracer *t);
/* What set_graph_function holds as long as nobody else writes it: the roots of all sessions, but
 * perhaps for those whose module has gone.  Takes out what became of their addresses.  -EBUSY: a task
 * is about to write it. */
int tracer_get_roots(const Tracer *t, Strv *ret, Strv *ret_gone);
/* Adds directories of buffers in which somebody else has function_graph on.  0 or -errno. */
int tracer_find_strangers(const Tracer *t, Strv *ret);
/* per_cpu/cpuN/trace_pipe_raw of a possible CPU, non-blocking; the caller owns it; -ENOENT, -errno.
 */
int tracer_open_raw(Tracer *t, uint32_t cpu);
/*
 * For a moment, in the trace's clock, @t recorded no call, since set_graph_function was changed for
 * others (daemon/hush.h).  Called by the loop or a task.
 */
typedef void (*TracerHushed)(uint64_t from_ns, uint64_t to_ns, void *userdata);
void tracer_on_hushed(Tracer *t, TracerHushed on_hushed, void *userdata);
/* Whether an earlier daemon died in such a moment. */
bool tracer_was_hushed(const Tracer *t);
int tracer_set_recording(Tracer *t, bool on);
/* What wakes whoever follows tasks (daemon/task-filter.h); not blocking; the caller owns it; -errno. */
int tracer_open_tasks(const Tracer *t);
/* Looks who the tasks of @spec are by now, and records these.  Whether any is new; -errno. */
int tracer_follow(Tracer *t, const Spec *spec);
/* How long ordinary work took before this was armed; NULL: nobody looked. */
const Touchstone *tracer_quiet(const Tracer *t);
/*
 * Fills the kernel's counters of ret->cpu (entry "overrun", ...), as deltas since arming; the other
 * members stay.  Return: 0, TRACER_E_EMPTIED (the same, and somebody has emptied the CPU's buffer
 * since the last call: the counters went backwards), -errno.
 */
enum { TRACER_E_EMPTIED = 1 };
int tracer_read_account(Tracer *t, CpuAccount *ret);
/* Events that were in the kernel's buffers at the last calls of it. */
uint64_t tracer_n_waiting(const Tracer *t);
/* Where the account of a CPU goes on (daemon/instance.h). */
int tracer_get_counters(const Tracer *t, uint32_t cpu, InstanceCounters *ret);
int tracer_set_counters(Tracer *t, uint32_t cpu, const InstanceCounters *counters);
/* One moment on all clocks. */
int tracer_read_clocks(Tracer *t, ClockTuple *ret);
/* Text of a file of tracefs's top level ("events/header_page", "saved_cmdlines"); the instance's
 * own header_page where it has one.  The caller frees. */
int tracer_read_file(Tracer *t, const char *path, char **ret, size_t *ret_n);
/*
 * tracer_disarm() - put everything back
 *
 * The caller has closed every trace_pipe_raw.  Frees @t in any case; what could not be put back
 * stays in the ledger, is tried again at the next disarm and start, and makes this return -errno.
 */
int tracer_disarm(Tracer *t);
