/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The controller's inside
 *
 * From the bottom up: tracer.c (what is asked of one that is armed), controller-filter.c (roots that come and go beside
 * live tracers), leftovers.c (what is in no ledger), host-check.c, controller.c (what is armed, and its undoing),
 * controller-hooks.c (what is hooked), controller-trigger.c, controller-admit.c (whether something may be armed),
 * controller-arm.c, controller-dry.c (what arming would write), controller-adopt.c (going on with what an earlier daemon
 * armed).
 */

#include "daemon/admission/admission.h"
#include "daemon/tracefs/control.h"
#include "daemon/tracer/controller.h"

#define GRAPH_FUNCTION "set_graph_function"

struct Controller {
        Tracefs fs;
        Background *background; /* whose tasks write, too */
        char *wanted_path;      /* where the caller says tracefs is, or NULL */
        Ledger *ledger;
        Arbiter arbiter;
        Functions functions;
        Tracer *tracers;   /* live ones, and those that could not be switched off */
        int has_instances; /* < 0: not known yet */
        size_t n_restored;
        int debt;         /* why what sessions that ended had changed is not put back yet; 0: it is */
        bool keeps;       /* what the ledger holds may be taken up: nothing of it is undone yet */
        bool leaving;     /* what is programmed stays when the controller goes */
        int store_fd;     /* where lean/ is */
        bool has_address; /* set_graph_function had one of a function that went (controller-filter.c) */
        Strv kept_roots; /* of sessions that ended, which could not be taken out (controller-filter.c) */
        Strv stale_roots; /* names of what is at addresses that went, as set_graph_function shows them */
        Strv recovered;           /* instances that a daemon which died had quiesced */
        int n_learning_passes;    /* that are under way */
        ConfigShare memory_limit;
        ControlPace pace; /* of the words that name the functions of what is being armed; no words: nothing is */
        uint64_t generation; /* of what admission depends on and the controller knows */
};

/*
 * What a list of functions says, as it was written and then read back: the kernel looks up each name once more for
 * whoever reads it, and begins anew at every page (linux 6.12 kernel/trace/ftrace.c, t_start()), a second for 40,000.
 */
enum { HOOKED, NOT_HOOKED, _HOOK_LIST_N };

struct Tracer {
        Controller *c;
        Tracer *next;
        Claim *claim;
        Instance instance;
        uint64_t buffer_bytes; /* for each CPU */
        uint64_t
                kept_bytes; /* the same of an instance that is no session's; 0: it is the session's */
        char *clock;        /* trace_clock */
        bool ended;         /* disarmed, and still on */
        bool waits;         /* armed, with the roots alone hooked */
        Strv gone;          /* roots whose module has gone */
        uint64_t quiesced_from_ns;  /* itself, the last time */
        TracerQuiesced on_quiesced; /* or NULL */
        void *userdata;
        char *hook_lists[_HOOK_LIST_N]; /* names; NULL: not known */
};

struct Admission {
        bool force, is_dry;
        uint64_t generation, asked_ns; /* CLOCK_MONOTONIC */

        /* what the spec comes to on this host */
        Strv roots, notrace;
        Strv root_words, notrace_words; /* the same, in as few words as possible */
        Strv threads;                   /* of the spec's processes */
        Strv overridden;                /* buffers whose tracer is somebody else's and in the way */
        Strv warnings;
        Strv values[_VALUE_KIND_N]; /* functions that are probed for them */
        Strv value_events;          /* and the events, when they are there */
        bool has_instances;

        /* what tracer_prepare() adds */
        LeanChoice lean;
        Hooks not_hooked;
        Hooks waiting; /* what is hooked instead while it only waits, if tracer_waits() */
};

/* --- tracer.c --------------------------------------------------------------------------------- */

void tracer_forget_hooks(Tracer *t); /* what is known of them */
/* Returns what of a spec exists once per kernel. */
ClaimValues controller_claim_values(const Controller *c, const Spec *spec);
/* The buffers that are ours, as Instance.dir. */
int controller_own_dirs(const Controller *c, Strv *ret);
/* The others in which @tracer is on; NULL: any but nop. */
int controller_find_others(const Controller *c, const char *tracer, Strv *ret);

/* --- controller-filter.c ---------------------------------------------------------------------- */

/* Nobody else has a word in set_graph_function beside sessions that record: before somebody's tracer is
 * overridden, or anything else is done for one more.  0, REFUSED, -errno. */
int controller_admit_filter(const Controller *c, Refusal *refusal);
/* Adds those of one more session to those of the live ones, and checks all.  In a dry plan: steps. */
int tracer_add_roots(Tracer *t, Plan *p);
/* Takes out those that only @t has there, or, unless that is NULL, adds this to a dry plan.  The tracer is off, and others'
 * are in the list. */
int tracer_remove_roots(const Tracer *t, Plan *dry);
/* The ledger has them before they are written, so that whoever comes after us knows whose they are. */
int controller_note_roots(Ledger *l, const Strv *words);
/* Those that the ledger has and no session that was taken up are taken out; without one, it forgets them. */
int controller_recover_roots(Controller *c);
void controller_forget_roots(Controller *c); /* there is no session any more */
void controller_drop_kept(Controller *c); /* tries again with those that could not be taken out */

/* --- leftovers.c ------------------------------------------------------------------------------ */

/*
 * A ledger may be lost.  What carries ftraced's name can be told without: instances
 * called "ftraced-..." and "ftraced....", and dynamic events "ftraced_...".  Those that another
 * store's ledger has are of the daemon there.  What there is one of in the kernel is ftraced's as well
 * if one of these instances was tracing, and goes to what the kernel begins with, for what it said
 * before is lost.  Of all else nobody can say whose it is.
 */

/* Adds to the ledger what is ours by its name, for ledger_undo(); each is logged.  What a process holds open, of a
 * daemon that is alive perhaps, is left alone.  0 or -errno. */
int leftovers_claim(Ledger *l);
/* Adds a sentence with a way out for each thing that has ftraced's name and is not in @l; with @all, also for what @l has,
 * and for a function_graph at the top level, which may be anybody's.  0 or -errno. */
int leftovers_find(const Ledger *l, bool all, Strv *ret);
/*
 * leftovers_find_values() - what sessions override and is not as the kernel begins with
 * @has_instances: what each instance has of its own is of no matter
 * @ret:           "max_graph_depth is 4"
 * @all:           also what people set for good: clocks, sizes
 * @ret_commands:  "echo 0 > /sys/kernel/tracing/max_graph_depth"
 */
int leftovers_find_values(const Tracefs *fs, bool has_instances, bool all, Strv *ret,
                          Strv *ret_commands);

/* --- host-check.c ----------------------------------------------------------------------------- */

typedef struct HostFacts {
        const Tracefs *fs;
        const Ledger *ledger;
        bool ledger_was_lost; /* somebody had removed its file, which was written anew */
        int has_instances;    /* 1, 0; < 0: not known */
        const Strv *ours;     /* directories of live sessions */
        size_t n_live;        /* sessions that are armed or recording */
        MemoryUse memory;
} HostFacts;

/* JSON array of CheckResult (org.ftraced.varlink); NULL without memory. */
json_t *host_check(const HostFacts *facts);
/* The first thing without which nothing can be armed at all: 0, REFUSED, -errno. */
int host_admit(const HostFacts *facts, Refusal *refusal);

/* --- controller.c ----------------------------------------------------------------------------- */

/* tracefs may appear after the daemon.  0 or -errno. */
int controller_attach(Controller *c);
/* controller_has_instances() as far as it can be told without making one. */
bool controller_guess_instances(Controller *c);
MemoryUse controller_memory_use(const Controller *c);
/* Puts everything back that @t changed, and frees it unless its tracer is still on.  0 or -errno. */
int tracer_end(Tracer *t);

/* --- controller-hooks.c ----------------------------------------------------------------------- */

/* Commits the ledger, applies @p, which has no other use then, and marks what was written.  0, or -errno, and *@ret_file
 * says of what (as long as @p lives). */
int tracer_apply(Tracer *t, Plan *p, const char **ret_file);
/* What the steps of @p from @from on have written, if it is hooks. */
void tracer_know_hooks(Tracer *t, const Plan *p, size_t from);
LeanQuestion controller_lean_question(const Controller *c, const Spec *spec, const Strv *roots,
                                      const Strv *notrace);
/* Adds the functions that read the trace clock, and a warning of it.  0 or -ENOMEM. */
int controller_leave_clock_readers_out(const Controller *c, Hooks *not_hooked, Strv *warnings);

/* --- controller-trigger.c --------------------------------------------------------------------- */

/* Of a session that waits armed: the roots, unless @lean says what is hooked. */
int hooks_for_waiting(const Functions *f, const SessionMeta *m, const Strv *roots,
                      const Hooks *lean, Hooks *ret, bool *ret_waits);
int tracer_attach_notifiers(Tracer *t, Plan *p, const SessionMeta *m, const Strv *roots,
                            const Strv *threads, Refusal *refusal);
/* Adds to a dry plan the switches that a session of @m begins with. */
int tracer_plan_switches(const Tracer *t, Plan *p, const SessionMeta *m);

/* --- controller-admit.c: 0, REFUSED, -errno --------------------------------------------------- */

/* Asks again if the answer may not be true any more. */
int admission_renew(Admission *a, Controller *c, const SessionMeta *m, Refusal *refusal);

/* --- controller-arm.c ------------------------------------------------------------------------- */

/* What will be hooked, and a claim: the last that may be refused without a write.  0, REFUSED, -errno. */
int tracer_prepare(Controller *c, Tracer **ret, const SessionMeta *m, Admission *a,
                   Refusal *refusal);
/* The events of what functions are given and return; the ledger has each before it is there.  0, REFUSED, -errno. */
int tracer_make_values(Tracer *t, Plan *p, const SessionMeta *m, Admission *a, Refusal *refusal);
/* Plans all and makes it: the ledger is committed before each change.  As tracer_apply(). */
int tracer_program(Tracer *t, const SessionMeta *m, const Admission *a, Plan *p,
                   const char **ret_file);
/* What controller_arm() fills. */
int tracer_fill_meta(Tracer *t, SessionMeta *m, const Admission *a);
