/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Instance: the ring buffer that a session records into
 *
 * An instance of its own (instances/ftraced-SESSION) where function_graph may
 * run in one, which is since linux 6.11 (kernel/trace/trace_functions_graph.c, .allow_instances);
 * the top-level buffer before.  Both are programmed by the same table; for the top level
 * every old value goes into the ledger first.
 */

#include "daemon/tracefs/plan.h"
#include "meta/meta.h"

#define INSTANCE_PREFIX "ftraced-"

/* The kernel's counters of one CPU, in the order of TracefsStat: what they showed last, and what they have come to since
 * the session began.  Somebody who clears the buffer sets the kernel's back to 0. */
enum { INSTANCE_N_COUNTERS = STAT_READ + 1 };
typedef struct InstanceCounters {
        uint64_t last[INSTANCE_N_COUNTERS], sum[INSTANCE_N_COUNTERS];
} InstanceCounters;

typedef struct InstanceCpu {
        uint32_t cpu;
        InstanceCounters counters;
        uint64_t n_waiting; /* events in the buffer at the last look */
        uint64_t n_least;   /* no fewer were in it, read and overrun by then */
} InstanceCpu;

typedef struct Instance {
        const Tracefs *fs;
        char *dir;         /* "instances/ftraced-x/", or "" */
        char *name;        /* "ftraced-x"; NULL: the top level */
        bool is_kept;      /* nobody made it, and nobody removes it */
        InstanceCpu *cpus; /* ascending */
        size_t n_cpus;
} Instance;

/* Whether function_graph may run in an instance: asks an existing one, or makes one, looks and
 * removes it; never by arming.  1, 0, -errno. */
int instance_probe(Ledger *l);

/* @session: for an instance of its own; NULL: the top level.  @fs: borrowed.  Touches nothing. */
int instance_init(Instance *ret, const Tracefs *fs, const char *session);
/* The same for one that is there, called @name, and stays when the session ends (daemon/instances/black-box.h):
 * as at the top level, every old value goes into the ledger.  Its size is what it is. */
int instance_init_kept(Instance *ret, const Tracefs *fs, const char *name);
void instance_done(Instance *i); /* the memory only: the ledger removes the directory */
/* Whose ledger record a change of a file in it becomes: the plan's session's, or NULL: it goes away with the instance. */
const char *instance_owner(const Instance *i, const Plan *p);
/* Adds the words of one of its lists. */
int instance_read_list(const Instance *i, const char *file, Strv *ret);
/* Ledger, then mkdir(); nothing at the top level. */
int instance_create(const Instance *i, Plan *p);
/* @file of it is to say @value, which it does once @text (NULL: the same) was written. */
int instance_plan_file(const Instance *i, Plan *p, const char *file, const char *value,
                       const char *text);

/* Functions that are hooked; none: all. */
typedef struct Hooks {
        Strv names;
        Strv lines; /* theirs (daemon/admission/functions.h), in no order; none: the names are written */
} Hooks;
void hooks_done(Hooks *h);

/* What differs from session to session. */
typedef struct InstanceSettings {
        uint64_t buffer_bytes; /* for each CPU */
        unsigned percent;      /* of it full: poll() on trace_pipe_raw returns */
        const char *clock;     /* one of trace_clock's */
        const Strv *cpus;      /* ranges: what happens on these is recorded; none: on all */
        const Strv *threads;   /* that are recorded; none: all */
        bool threads_change;   /* while it records */
        bool no_irqs, no_sleep_time;
        const Hooks *hooks,
                *not_hooked; /* what set_ftrace_filter and set_ftrace_notrace are to hold */
        bool args;           /* are recorded; the kernel can */
} InstanceSettings;

/* Whether options/funcgraph-irqs and options/sleep-time have one value for all instances. */
bool instance_shares_options(const Tracefs *fs);
/*
 * Everything that is this buffer's own: recording off, clock, sizes, options, pids; all but the
 * tracer.  What older kernels keep once for all instances goes to the ledger as shared.
 */
int instance_plan(const Instance *i, Plan *p, const InstanceSettings *s);
/* Other functions are hooked from now on, or not; the tracer may be on. */
int instance_plan_hooks(const Instance *i, Plan *p, const Hooks *hooks);
int instance_plan_not_hooked(const Instance *i, Plan *p, const Hooks *not_hooked);
/* current_tracer = function_graph, and the counters' starting point.  -EBUSY: a pipe is open. */
int instance_start(Instance *i, Plan *p, const char **ret_file);

/* NULL if there is no such CPU.  Setting makes the account go on from there. */
InstanceCounters *instance_counters(const Instance *i, uint32_t cpu);
/* per_cpu/cpuN/trace_pipe_raw of a possible CPU, non-blocking; the caller owns it; -ENOENT, -errno. */
int instance_open_raw(const Instance *i, uint32_t cpu);
/* tracing_on; the second makes it so. */
int instance_plan_recording(const Instance *i, Plan *p, bool on);
int instance_set_recording(const Instance *i, bool on);
/*
 * Fills the kernel's counters of ret->cpu (entry "overrun", ...), as deltas since arming; the other members stay.
 * Return: 0, INSTANCE_E_EMPTIED (the same, and somebody has emptied the CPU's buffer since the last call: the counters
 * went backwards), -errno.
 */
enum { INSTANCE_E_EMPTIED = 1 };
int instance_read_account(Instance *i, CpuAccount *ret);
/* Events that waited in the buffer of all CPUs when their accounts were read last. */
uint64_t instance_n_waiting(const Instance *i);
/* One moment on all clocks, the trace clock @clock among them. */
int instance_read_clocks(const Instance *i, const char *clock, ClockTuple *ret);
/* A file of the instance if it is events/header_page, else of the top level.  The caller frees. */
int instance_read_file(const Instance *i, const char *path, char **ret, size_t *ret_n);
