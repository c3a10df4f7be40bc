/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Value probe: what a function returns, where function_graph does not record it
 *
 * A dynamic event of each function, which exists once for all instances and is on in the session's own buffer:
 *
 *      f1024:ftraced/ftraced_af63f54c86021707_f0 udp_sendmsg%return ret=$retval      fprobe, linux 6.5 on
 *      f:ftraced/...                                                                 fprobes without a number, seen on 7.2
 *      r1024:ftraced/ftraced_af63f54c86021707_r0 udp_sendmsg ret=$retval             kretprobe
 *
 * The number is how many calls at the same time are seen; of more the values are not known.  An fprobe comes
 * first because nothing of it can be traced itself; what handles kretprobes can, and is left out by
 * value_probe_find_handlers().  Whoever reads the recording joins events and calls (calls/returns.h).  The
 * letter in the name says how the event is to be understood there.
 *
 * Sources: linux 6.12 Documentation/trace/fprobetrace.rst, kprobetrace.rst; kernel/trace/trace_fprobe.c.
 */

#include "daemon/admission/functions.h"
#include "daemon/instances/instance.h"
#include "store/spec.h"
#include "wire/refusal.h"

#define VALUE_PROBES_MAX 64 /* of a session */

/* Whether the spec asks for values that take probes here. */
bool value_probes_are_wanted(const Tracefs *fs, const Spec *spec);
/*
 * value_probe_choose() - the functions that the spec asks for
 * @roots: of the session, sorted
 * @ret:   sorted; none: no probes are needed
 *
 * 0, REFUSED (there is no such function, or there are too many), -errno.
 */
int value_probe_choose(const Functions *f, const Tracefs *fs, const Spec *spec, const Strv *roots,
                       Strv *ret, Refusal *refusal);
/* Adds what would be recorded of the probes themselves in a tree, where they are kretprobes.  0 or -ENOMEM. */
int value_probe_find_handlers(const Functions *f, const Tracefs *fs, Strv *ret);

/*
 * value_probe_make() - make the events of @functions
 * @p:          gets the steps if it is dry; else they are made at once
 * @named:      functions without whose values nothing is recorded; of others a sentence in @warnings tells
 * @ret_events: "ftraced:NAME:FUNCTION" of each that was made
 *
 * Each is in the ledger before it is there.  0, REFUSED, -errno.
 */
int value_probe_make(Plan *p, const Tracefs *fs, Ledger *l, const char *session,
                     const Strv *functions, const Strv *named, Strv *ret_events, Strv *warnings,
                     Refusal *refusal);
/* They are on in the buffer of @i from now on; the ledger switches them off before it removes them. */
int value_probe_plan(Plan *p, Ledger *l, const char *session, const Instance *i,
                     const Strv *events);
