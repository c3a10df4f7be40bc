/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

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

#include <inttypes.h>
#include <systemd/sd-event.h>

#include "daemon/admission/functions.h"
#include "daemon/tracefs/plan.h"
#include "meta/trigger.h"
#include "wire/refusal.h"

/* Of the session and the trigger's number in it; no session's instance: theirs begin with "ftraced-". */
#define NOTIFIER_DIR_FORMAT "instances/ftraced.bell-%s-%zu"
/* Event names have no room for a session's: notifier_hash(), number. */
#define NOTIFIER_EVENT_FORMAT "ftraced_%016" PRIx64 "_%zu"
uint64_t notifier_hash(const char *session);
/* @t as a trigger on an event of its own, called as above and @suffix; @filter may be NULL.  0 or -ENOMEM. */
int notifier_event(const char *session, size_t number, const Trigger *t, const char *system,
                   const char *suffix, const char *filter, Trigger *ret);

/* Whether there is what @t waits for; events that a dry plan would make are taken to be.  0, REFUSED, -errno. */
int notifier_admit(const Tracefs *fs, const Trigger *t, const Functions *functions, bool is_dry,
                   Refusal *refusal);
/*
 * notifier_attach() - make the instance and program it
 * @p:         has the steps; they are made, unless it is dry
 * @number:    of the trigger in the session
 * @t:         function, event or count
 * @functions: what can be traced
 * @roots:     of the session: what count counts
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
 * Stopwatch: the kernel measures how long functions take, and makes an event of it
 *
 * A kprobe and a kretprobe on each function, the difference of their times by thread (a hist
 * trigger's variables, linux 6.1 Documentation/trace/histogram.rst, section 2.2), and a synthetic
 * event with the difference, for whose value an ordinary event trigger can have a filter.  Probes and
 * events exist once for all instances; what computes is in the notifier's.
 *
 * Seen are the first STOPWATCH_THREADS threads that call the functions.
 */
#define STOPWATCH_FUNCTIONS_MAX 16
#define STOPWATCH_THREADS 8192
/* What events made of several others belong to (linux 6.1 kernel/trace/trace_synth.h). */
#define STOPWATCH_SYSTEM "synthetic"

/* @t, which is slower:TIME, as a trigger on the event that this makes.  0 or -ENOMEM. */
int stopwatch_event(const char *session, size_t number, const Trigger *t, Trigger *ret);
/* Before the notifier: makes probes and the event, for the ledger to remove.  They are made unless @p is dry.  0,
 * REFUSED, -errno. */
int stopwatch_make(Plan *p, size_t number, const Strv *functions, Refusal *refusal);
/* In the notifier's instance, once there is one: begins to measure.  The same. */
int stopwatch_begin(Plan *p, size_t number, const Strv *functions, Refusal *refusal);
