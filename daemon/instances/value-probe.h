/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Value probe: what a function is given and what it returns, where function_graph does not record it
 *
 * A dynamic event of each function, which exists once for all instances and is on in the session's own buffer:
 *
 *      f1024:ftraced/ftraced_af63f54c86021707_f0 udp_sendmsg%return ret=$retval      fprobe, linux 6.5 on
 *      f:ftraced/...                                                                 fprobes without a number, seen on 7.2
 *      r1024:ftraced/ftraced_af63f54c86021707_r0 udp_sendmsg ret=$retval             kretprobe
 *      f:ftraced/ftraced_af63f54c86021707_e0 udp_sendmsg a0=$arg1:x64 ...            fprobe: registers of six arguments
 *      p:ftraced/ftraced_af63f54c86021707_p0 udp_sendmsg a0=$arg1:x64 ...            kprobe
 *
 * The number is how many calls at the same time are seen; of more the values are not known.  An fprobe comes
 * first because nothing of it can be traced itself; what handles kprobes can, and is left out by
 * value_probe_find_handlers().  Whoever reads the recording joins events and calls (calls/values.h).  The
 * letter in the name says how the event is to be understood there.
 *
 * Sources: linux 6.12 Documentation/trace/fprobetrace.rst, kprobetrace.rst; kernel/trace/trace_fprobe.c.
 */

#include "daemon/admission/functions.h"
#include "daemon/instances/instance.h"
#include "meta/spec.h"
#include "wire/refusal.h"

#define VALUE_PROBES_MAX SPEC_MAX_VALUES /* of each kind in a session */

typedef enum ValueKind {
        VALUE_ARGUMENTS,
        VALUE_RETURNED,
        _VALUE_KIND_N,
} ValueKind;

/*
 * value_probe_choose() - the functions whose values the spec asks for
 * @roots: of the session, sorted
 * @ret:   sorted; none: no probes are needed, for nobody asks or function_graph does it
 *
 * 0, REFUSED (there is no such function, or there are too many), -errno.
 */
int value_probe_choose(ValueKind kind, const Functions *f, const Tracefs *fs, const Spec *spec,
                       const Strv *roots, Strv *ret, Refusal *refusal);
/* Adds what would be recorded of the probes themselves in a tree, where they are kprobes.  0 or -ENOMEM. */
int value_probe_find_handlers(const Functions *f, const Tracefs *fs, Strv *ret);

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
/*
 * value_probe_make_event() - one event "ftraced:@name", whose field `ret` has the sign of what @function returns
 *
 * For the kernel's own filters.  Where the kernel does not know types it is an int.  As value_probe_make().
 */
int value_probe_make_event(Plan *p, const char *function, const char *name, Refusal *refusal);
/* They are on in the buffer of @i from now on; the ledger switches them off before it removes them. */
int value_probe_plan(Plan *p, const Instance *i, const Strv *events);
