/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Stopwatch: the kernel measures how long functions take, and makes an event of it
 *
 * A kprobe and a kretprobe on each function, the difference of their times by thread (a hist
 * trigger's variables, linux 6.1 Documentation/trace/histogram.rst, section 2.2), and a synthetic
 * event with the difference, for whose value an ordinary event trigger can have a filter.  Probes and
 * events exist once for all instances; what computes is in the notifier's (daemon/instances/notifier.h).
 *
 * Seen are the first STOPWATCH_THREADS threads that call the functions.
 */

#include "daemon/instances/notifier.h"

#define STOPWATCH_FUNCTIONS_MAX 16
#define STOPWATCH_THREADS 8192

/* @t, which is slower:TIME, as a trigger on the event that this makes.  0 or -ENOMEM. */
int stopwatch_event(const NotifierPlace *place, const Trigger *t, Trigger *ret);
/* Before the notifier: makes probes and the event, for the ledger to remove.  The steps are in @p, and are
 * made unless it is dry.  0, REFUSED, -errno. */
int stopwatch_make(const NotifierPlace *place, Plan *p, const Strv *functions, Refusal *refusal);
/* In the notifier's instance, once there is one: begins to measure.  The same. */
int stopwatch_begin(const NotifierPlace *place, Plan *p, const Strv *functions, Refusal *refusal);
