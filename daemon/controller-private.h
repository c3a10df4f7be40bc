/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The controller's inside, for daemon/controller.c (what is armed, and its undoing),
 * daemon/controller-arm.c (arming), daemon/controller-dry.c (what arming would write),
 * daemon/controller-adopt.c (going on with what an earlier daemon armed),
 * daemon/controller-gauge.c (what recording a call costs),
 * daemon/controller-filter.c (roots that come and go beside live tracers) and
 * daemon/controller-lean.c (learning and narrowing).
 */

#include "daemon/admission.h"
#include "daemon/arbiter.h"
#include "daemon/controller.h"
#include "daemon/functions.h"
#include "daemon/instance.h"
#include "daemon/lean.h"
#include "daemon/ledger.h"
#include "daemon/memory.h"
#include "daemon/plan.h"
#include "daemon/tracefs.h"

#define GRAPH_FUNCTION "set_graph_function"

struct Controller {
        Tracefs fs;
        Aside *aside;      /* whose tasks write, too */
        char *wanted_path; /* where the caller says tracefs is, or NULL */
        Ledger *ledger;
        Arbiter arbiter;
        Functions functions;
        Tracer *tracers;   /* live ones, and those that could not be switched off */
        int has_instances; /* < 0: not known yet */
        size_t n_restored;
        bool keeps;       /* what the ledger holds may be taken up: nothing of it is undone yet */
        bool leaving;     /* what is programmed stays when the controller goes */
        int store_fd;     /* where lean/ is */
        bool has_address; /* set_graph_function had one of a function that went (controller-roots.c) */
        Strv kept_roots; /* of sessions that ended, which could not be taken out (controller-filter.c) */
        Strv recovered; /* instances that a daemon which died had hushed */
        Strv stale_roots; /* names of what is at addresses that went, as set_graph_function shows them */
        const Strv **lessons; /* the roots of each that is under way (controller-lean.c) */
        size_t n_lessons;
        ConfigShare memory_limit;
        Calibration calibration;
        char *calibration_clock; /* of what it was measured with */
        bool calibration_args;
};

struct Tracer {
        Controller *c;
        Tracer *next;
        Claim *claim;
        Instance *instance;
        uint64_t buffer_bytes; /* for each CPU */
        char *clock;           /* trace_clock */
        bool ended;            /* disarmed, and still on */
        bool waits;            /* armed, with the roots alone hooked */
        Strv gone;             /* roots whose module has gone */
        bool is_weighed;
        Touchstone quiet; /* if so */
        Strv hushed;      /* sessions that were, while its roots came */
        uint64_t hushed_ns;
        TracerHushed on_hushed; /* or NULL */
        void *userdata;         /* of it */
};

/* What a spec comes to on this host. */
typedef struct Aim {
        Strv roots, notrace;
        Strv threads; /* of the spec's processes */
        Strv clock_readers;
        Strv overridden; /* buffers whose tracer is somebody else's and in the way */
        Strv warnings;
        LeanChoice lean;
        Hooks waiting; /* what is hooked instead while it only waits, if tracer_waits() */
        bool has_instances;
} Aim;

void aim_done(Aim *a);

/*
 * tracer_prepare() - ask everything that has to be asked before something is written
 * @is_dry: and write nothing at all, which otherwise asking for instances may do
 *
 * 0, REFUSED, -errno.
 */
int tracer_prepare(Controller *c, Tracer **ret, const SessionMeta *m, bool force, bool is_dry,
                   Aim *aim, Refusal *refusal);
/* Plans all and makes it: the ledger of the controller is committed before each change.  0, or
 * -errno, and *@ret_file says of what (as long as @p lives). */
int tracer_program(Tracer *t, const SessionMeta *m, const Aim *aim, Plan *p, const char **ret_file);
/* Whether a lesson is under way that would tell what is to be hooked for @spec. */
bool controller_is_learning_of(const Controller *c, const Spec *spec, const Strv *roots);
/* What has one value for all instances. */
typedef struct SharedSettings {
        const Strv *roots, *notrace;
        uint64_t depth, thresh_us;
} SharedSettings;
/* The first session sets it and the last one leaves it.  0 or -errno. */
int controller_plan_shared(Controller *c, Plan *p, const SharedSettings *s);
/*
 * tracer_calibrate() - controller-gauge.c: measure what recording a call costs, if that is not known
 *
 * @t's buffer is there and its tracer is nop, before and after.  Only the first live session can:
 * the others' would be the first one's roots.  A measurement that fails is no failure.
 * Return: 0; -errno: the tracer could not be switched off again, *@ret_file.
 */
int tracer_calibrate(Tracer *t, const SessionMeta *m, const char **ret_file);
/* What was measured for sessions like @m's; not set: nothing. */
Calibration controller_calibration(const Controller *c, const SessionMeta *m);
/* What controller_arm() fills. */
int tracer_fill_meta(Tracer *t, SessionMeta *m, const Aim *aim);
/* controller_has_instances() as far as it can be told without making one. */
bool controller_guess_instances(Controller *c);
/* What of a spec exists once per kernel. */
ClaimValues controller_claim_values(const Controller *c, const Spec *spec);
/* The memory and the claim only. */
void tracer_free(Tracer *t);
/* controller-trigger.c.  Of a session that waits armed, where everything would be hooked, the roots. */
int hooks_for_waiting(const Functions *f, const SessionMeta *m, const Strv *roots, Hooks *hooks,
                      bool *ret_waits);
int tracer_hang_bells(Tracer *t, Plan *p, const SessionMeta *m, const Strv *roots,
                      const Strv *threads, Refusal *refusal);
/* Adds to a dry plan the switches that a session of @m begins with. */
int tracer_plan_switches(const Tracer *t, Plan *p, const SessionMeta *m);
/* Looks how long ordinary work takes, before @t is armed: afterwards it is too late. */
void tracer_look_at_quiet(Tracer *t);
/* Undoes what no tracer stands for; *@n_undone is added to.  0 or -errno. */
int controller_undo_orphans(Controller *c, size_t *n_undone);
/* Puts everything back that @t changed, and frees it unless its tracer is still on.  0 or -errno. */
int tracer_end(Tracer *t);
/*
 * controller_change_roots() - words are added to or taken out of set_graph_function, whoever records
 * @ret_ns, @ret_hushed: for how long which sessions were hushed (daemon/hush.h), and are told; or NULL
 *
 * Return: 0; -EBUSY: somebody else's tracer is on, nothing was changed; -errno.
 */
int controller_change_roots(Controller *c, const Strv *words, bool removes, uint64_t *ret_ns,
                            Strv *ret_hushed);
/* Adds those of one more session to those of the live ones, and checks all.  In a dry plan: steps. */
int tracer_add_roots(Tracer *t, Plan *p);
/* Takes out those that only @t has there.  The tracer is off, and others' are in the list. */
int tracer_remove_roots(const Tracer *t);
/* The same, in a dry plan. */
int tracer_plan_roots_away(const Tracer *t, Plan *p);
/* The ledger has them before they are written, so that whoever comes after us knows whose they are. */
int controller_note_roots(Controller *c, const Strv *words);
/* Those that the ledger has and no session that was taken up are taken out; without one, it forgets them. */
int controller_recover_roots(Controller *c);
/* There is no session any more. */
void controller_forget_roots(Controller *c);
/* Tries again with those that could not be taken out. */
void controller_drop_kept(Controller *c);
/* tracefs may appear after the daemon.  0 or -errno. */
int controller_attach(Controller *c);
/* Tries again what could not be undone. */
void controller_retry(Controller *c);
MemoryUse controller_memory_use(const Controller *c);
/* The buffers that are ours, as tracer_dir() says. */
int controller_own_dirs(const Controller *c, Strv *ret);
