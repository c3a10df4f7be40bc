/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Returns: what calls return, told by events of their own
 *
 * Where function_graph does not record it, a probe of a function does (daemon/instances/value-probe.h): an event
 * "ftraced:ftraced_SESSION_f0" (an fprobe's) or "..._r0" (a kretprobe's) with the fields __probe_func,
 * __probe_ret_ip and ret.  Both the graph and the probe have put their own return address on the stack, and
 * whoever came last is returned to first, so that the event is directly before the call's exit or directly
 * behind it.
 *
 *      before                                        behind
 *
 *      entry F                                       entry F
 *      event F ret=-90, to return_to_handler         exit F
 *      exit F                                        event F ret=-90, to the caller
 *
 * Directly: in the same task, with nothing in between but what interrupts it.  What cannot be told is not
 * joined: a value is missing rather than of another call.
 *
 *   - An interrupt may come in between and call the same function: events and exits of one context (task,
 *     softirq, interrupt, NMI) belong together, the innermost first.
 *   - A probe may be of a call that the graph does not have (too deep, too quick): its value is dropped at
 *     the next step of its context, and is of no exit whose call began later.
 *   - A kretprobe's return address tells its side.  A linux 7.2 fprobe's is always the caller's: if one could be of the
 *     exit before it, it is, unless most of the recording's were before theirs.
 *
 * An exit that may still get its value waits, and all steps behind it, until its task goes on.
 *
 * Sources: linux 6.12 kernel/trace/rethook.c, fgraph.c, trace_fprobe.c; linux 7.2 kernel/trace/fprobe.c, whose
 * users are function_graph's, called in the order of their numbers; seen on 5.10, 6.1, 6.12 and 7.2.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "calls/function.h"
#include "calls/step.h"
#include "decode/formats.h"

typedef struct Returns Returns;

/* @formats, @functions: borrowed. */
int returns_new(Returns **ret, const Formats *formats, Functions *functions);
/* Whether an event is one of these, by its names. */
bool returns_takes(const char *system, const char *name);
/* @name: the event's; @function: whose values it has, NULL: not known before the first; @format: text of its
 * format file, hostile.  0, FORMATS_E_INVALID, -ENOMEM. */
int returns_add(Returns *r, const char *name, const char *function, const char *format);
size_t returns_n(const Returns *r);

/* --- what comes in, in the stream's order ------------------------------------------------------- */

bool returns_knows(const Returns *r, const Event *e); /* an EVENT_OTHER: it is no step */
/* One of those.  0 or -ENOMEM. */
int returns_note(Returns *r, const Event *e);
/* A call.  0 or -ENOMEM. */
int returns_enter(Returns *r, const Event *e);
/* The end of one, whose value goes into @step if it is known.  0 or -ENOMEM. */
int returns_leave(Returns *r, const Event *e, Step *step);
/* Events were lost: whatever waits has no value. */
void returns_forget(Returns *r);

/* --- what goes out ------------------------------------------------------------------------------ */

/* @step, which may be what returns_leave() was told of last.  1: it may go on; 0: a copy waits; -ENOMEM. */
int returns_push(Returns *r, const Step *step);
/* The next that has waited for long enough; valid until the next call. */
bool returns_pop(Returns *r, Step *ret);
/* Nothing more comes: nothing need wait. */
void returns_flush(Returns *r);
Returns *returns_free(Returns *r);
DEFINE_CLEANUP(Returns *, returns_free);
