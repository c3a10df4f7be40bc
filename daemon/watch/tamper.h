/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Tamper: notices what others do to the tracing of a session
 *
 * Root may write any control file while we record: only current_tracer and the
 * instance itself are busy while its pipes are open (linux 6.1
 * kernel/trace/trace.c, tr->trace_ref).  inotify tells of every write to a file of
 * tracefs and to a sysctl, so nothing is polled for that and
 * a quiet system wakes nobody; and as it tells of writes, also what was changed and put back
 * before anybody could look is known.  Two things it does not see, which tamper_poll() looks at:
 * the kernel switching tracing_on off by itself (traceoff triggers, traceoff_on_warning),
 * and a sysctl that is written through another mount of procfs, whose inodes are its own
 * (a container's).  These are found if they last until the look.
 *
 * What is found is reported, never undone: who did it may have had a reason.
 */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "daemon/tracer/tracer.h"
#include "meta/gap.h"

typedef struct Tamper Tamper;

typedef enum TamperKind {
        TAMPER_BEGAN,   /* from now on the session lacks something, or is not what was asked for */
        TAMPER_ENDED,   /* all is again as it was programmed */
        TAMPER_FLICKED, /* it was written, and no look has seen a change */
        TAMPER_EMPTIED, /* what the kernel's buffer held is gone */
        TAMPER_NOTED,   /* worth a sentence, nothing is missing */
} TamperKind;

typedef struct TamperReport {
        TamperKind kind;
        GapCause cause; /* not of TAMPER_NOTED */
        uint32_t cpu;   /* GAP_ALL_CPUS, or of TAMPER_EMPTIED one */
        bool is_late; /* found by tamper_poll(), or put off: it may have been so since the one before */
        const char *sentence; /* NULL with TAMPER_ENDED; names the file and the way out */
} TamperReport;

typedef void (*TamperHandler)(const TamperReport *report, void *userdata);

typedef struct TamperConfig {
        sd_event *event;
        const char *tracefs; /* its path */
        int tracefs_fd;
        const char *dir;            /* of the buffer: "" or "instances/x/" */
        const char *clock;          /* trace_clock of the session */
        const char *ftrace_enabled; /* path of the sysctl */
        const uint32_t *cpus;
        size_t n_cpus;
        const Strv *events; /* that are recorded beside the graph, as a spec has them */
        const Strv *probes; /* likewise, as SessionMeta.probe_events has them */
        /* What set_graph_function should hold now, as daemons change it for other sessions; of those
         * in @ret_gone it does not matter. */
        int (*get_roots)(const Tracer *t, Strv *ret, Strv *ret_gone);
        /* What a list of functions should hold now, where that is known; borrowed.  NULL: it is read. */
        const char *(*get_hooks)(const Tracer *t, const char *file);
        /* How often the daemon has closed that file so far, counted before it does. */
        uint64_t (*count_own_closes)(const Tracer *t);
        /* Whether a look would wait for the daemon itself: then it is put off, for some seconds at most. */
        bool (*is_held_up)(const Tracer *t);
        const Tracer *tracer; /* for these */
        TamperHandler handler;
        void *userdata;
} TamperConfig;

/*
 * tamper_new() - begin to watch, after everything is programmed
 *
 * What the files say now is what they should say, but for those of which only one value records.
 * A file that cannot be watched is looked at by
 * tamper_poll() only.  Everything in @config is borrowed.
 * Return: 0 or -errno.
 */
int tamper_new(Tamper **ret, const TamperConfig *config);
/* The daemon itself has written a file ("set_ftrace_pid") until now, closed it @n_closes times, and left
 * it as it was: that is no tampering. */
void tamper_excuse(Tamper *t, const char *file, unsigned n_closes);
/*
 * tamper_hold_hooks(), tamper_release_hooks()
 *
 * In between the daemon writes which functions are hooked, and whoever else does is not noticed; after
 * it what these files say is what they should say.
 */
void tamper_hold_hooks(Tamper *t);
void tamper_release_hooks(Tamper *t);
/* Looks at what inotify does not tell; calls the handler for what is new. */
void tamper_poll(Tamper *t);
/* Tells what the writes so far come to, of which one would wait for the last otherwise. */
void tamper_settle(Tamper *t);
/* Whether there are no such writes: all is as the handler was told. */
bool tamper_is_settled(const Tamper *t);
Tamper *tamper_free(Tamper *t);
DEFINE_CLEANUP(Tamper *, tamper_free);
