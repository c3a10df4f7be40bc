/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tamper: notices what others do to the tracing of a session
 *
 * Root may write any control file while we record: only current_tracer and the instance itself are
 * busy while its pipes are open (linux 6.1 kernel/trace/trace.c, tr->trace_ref).  The kernel itself may
 * switch tracing_on off (traceoff triggers, traceoff_on_warning).  So each look compares what the files say
 * with what they should say: whether anything is recorded, on which clock, and the lists of what is.
 * What is changed and put back between two looks is not noticed.
 *
 * What is found is reported, never undone: who did it may have had a reason.
 */

#include "base/array.h"
#include "daemon/tracer/controller.h"
#include "meta/gap.h"

/* From @since_ns on, at the earliest, it may have been so; @sentence names the file and the way out.  NULL: all
 * that stands for @cause is again as it was programmed. */
typedef void (*TamperHandler)(GapCause cause, uint64_t since_ns, const char *sentence,
                              void *userdata);

typedef struct Tamper {
        /* filled by its owner; borrowed */
        const char *tracefs; /* its path */
        int tracefs_fd;
        const char *dir;            /* of the buffer: "" or "instances/x/" */
        const char *clock;          /* trace_clock of the session */
        const char *ftrace_enabled; /* path of the sysctl */
        /* What set_graph_function should hold now, as daemons change it for other sessions; of those
         * in @ret_gone it does not matter.  -EBUSY: it is about to be written. */
        int (*get_roots)(const Tracer *t, Strv *ret, Strv *ret_gone);
        /* What a list of functions should hold now, where that is known; borrowed.  NULL: it is read. */
        const char *(*get_hooks)(const Tracer *t, const char *file);
        const Tracer *tracer; /* for these */
        TamperHandler handler;
        void *userdata;

        struct TamperWatch *watches; /* its own; NULL: nothing is watched */
        bool holds_hooks;            /* the lists of functions are being written by the daemon */
} Tamper;

/*
 * tamper_begin() - after everything is programmed
 * @at_ns: now, in the trace's clock, as below
 *
 * What the files say now is what they should say, but for those of which only one value records.  tamper_end() it.
 * Return: 0 or -errno.
 */
int tamper_begin(Tamper *t, uint64_t at_ns);
/* Compares all, and calls the handler for what is new; a long list only if it @is_last.  Nothing before it is begun. */
void tamper_look(Tamper *t, uint64_t at_ns, bool is_last);
/* From tamper_hold_hooks() on the daemon writes which functions are hooked, and whoever else does is not noticed; after
 * this what these files say is what they should say. */
void tamper_hold_hooks(Tamper *t);
void tamper_release_hooks(Tamper *t, uint64_t at_ns);
void tamper_end(Tamper *t);
