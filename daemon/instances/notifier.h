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
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/admission/functions.h"
#include "daemon/tracefs/ledger.h"
#include "daemon/tracefs/plan.h"
#include "daemon/tracefs/tracefs.h"
#include "meta/trigger.h"
#include "wire/refusal.h"

/* Of the session and the number; no session's instance: theirs begin with "ftraced-". */
#define NOTIFIER_DIR_FORMAT "instances/ftraced.bell-%s-%zu"

/* What events made of several others belong to (linux 6.1 kernel/trace/trace_synth.h). */
#define STOPWATCH_SYSTEM "synthetic"

typedef struct Notifier Notifier;

typedef void (*NotifierRung)(void *userdata);

typedef struct NotifierPlace {
        const Tracefs *fs; /* borrowed, like the next */
        Ledger *ledger;
        const char *session;
        size_t number; /* of the trigger in the session */
} NotifierPlace;

/* Event names have no room for a session's: notifier_hash(), NotifierPlace.number. */
#define NOTIFIER_EVENT_FORMAT "ftraced_%016" PRIx64 "_%zu"
uint64_t notifier_hash(const NotifierPlace *p);
/* @t as a trigger on an event of its own, called as above and @suffix; @filter may be NULL.  0 or -ENOMEM. */
int notifier_event(const NotifierPlace *p, const Trigger *t, const char *system, const char *suffix,
                   const char *filter, Trigger *ret);

/* Whether there is what @t waits for.  0, REFUSED, -errno. */
int notifier_admit(const Tracefs *fs, const Trigger *t, const Functions *functions,
                   Refusal *refusal);
/*
 * notifier_attach() - make the instance and program it
 * @p:         has the steps; they are made, unless it is dry
 * @t:         function, event or count
 * @functions: what can be traced
 * @roots:     of the session: what count counts
 * @threads:   that count counts; none: all
 *
 * The directory is in the session's part of the ledger, which takes it down again.
 * Return: 0, REFUSED, -errno.
 */
int notifier_attach(const NotifierPlace *place, Plan *p, const Trigger *t,
                    const Functions *functions, const Strv *roots, const Strv *threads,
                    Refusal *refusal);
/* Opens one that hangs, to listen to it: not yet.  -ENOENT: there is none; -errno. */
int notifier_open(Notifier **ret, const NotifierPlace *place, sd_event *event, NotifierRung rung,
                  void *userdata);
/* From now on @rung is called, once, when anything is recorded or has been since notifier_clear(). */
int notifier_listen(Notifier *b, bool listen);
/* How often it rang since notifier_clear(). */
int notifier_count(Notifier *b, uint64_t *ret);
int notifier_clear(Notifier *b);
Notifier *notifier_free(Notifier *b);
DEFINE_CLEANUP(Notifier *, notifier_free);

/*
 * Switches: function and event triggers that the kernel carries out by itself, in the buffer below
 * @dir ("" or "instances/x/"), once.  They are in @session's part of the ledger.
 * Taking one out that has gone is fine.  0 or -errno; -EEXIST: somebody else has the same there.
 */
int switch_plan(Plan *p, Ledger *l, const char *session, const char *dir, const Trigger *t,
                bool on);
int switch_put(const Tracefs *fs, Ledger *l, const char *session, const char *dir, const Trigger *t,
               bool on);
int switch_take(const Tracefs *fs, const char *dir, const Trigger *t, bool on);
