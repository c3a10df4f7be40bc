/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The methods' inside, for daemon/methods.c, daemon/methods-start.c (what begins a session, and profiles)
 * and daemon/methods-access.c (who may what).
 */

#include "daemon/listing.h"
#include "daemon/methods.h"
#include "daemon/starts.h"

typedef struct Errand Errand; /* methods-aside.c */
typedef struct Waiter Waiter;
typedef struct Sealing Sealing; /* methods-upkeep.c: a call of Seal */

struct Methods {
        sd_event *event;
        Aside *aside;
        Controller *controller;
        Store *store;
        Sessions *sessions;
        const Limits *limits;
        const char *config_root; /* before the paths of profiles; NULL: none */
        Waiter *waiters;
        Starts *starts;
        Listings *listings;
        Janitor *janitor;
        Sealer *sealer; /* NULL: nothing is sealed */
        Sealing *sealings;
        Errand *errands;              /* wait for their turn */
        bool errand_runs;             /* one is among the tasks */
        uid_t errand_uid;             /* whose the last one was */
        sd_event_source *errand_turn; /* of the next */
        sd_event_source *tick;        /* while somebody watches */
        uid_t refused_uid;            /* who was refused last, since when, how often */
        uint64_t refused_since_ns;
        unsigned n_refused;
};

/* REFUSED: what parameter @name should have been. */
int methods_refuse_parameter(Refusal *refusal, const char *name, const char *wanted);
/* Of a session that has to have ended. */
int methods_refuse_live(Refusal *refusal, Session *session);
/* A string that may be absent or null: *@ret is NULL then.  0, REFUSED. */
int methods_get_string(json_t *parameters, const char *name, const char **ret, Refusal *refusal);
/* The same for a number (0) and a boolean (false). */
int methods_get_number(json_t *parameters, const char *name, uint64_t *ret, Refusal *refusal);
int methods_get_boolean(json_t *parameters, const char *name, bool *ret, Refusal *refusal);
/* @value is consumed; NULL is what a failed json_*() gives. */
int methods_reply(ServerCall *call, const char *name, json_t *value);

/* The session that a call names.  0, REFUSED. */
int methods_get_session(Methods *m, json_t *parameters, Session **ret, Refusal *refusal);

/* methods-access.c: the same for who wants to change something about it; a CheckResult (org.ftraced.varlink)
 * of what the caller may do. */
int methods_get_own_session(Methods *m, const ServerCall *call, json_t *parameters, Session **ret,
                            Refusal *refusal);
json_t *methods_check_rights(const Methods *m, const ServerCall *call);

/* methods-aside.c: @run is called by a task, as a method is by the server.  0 or -errno. */
int methods_run_aside(Methods *m, ServerCall *call, json_t *parameters, ServerMethodHandler run);
void methods_drop_errands(Methods *m); /* that have not begun: they are refused */

/* methods-upkeep.c */
int method_vacuum(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_seal(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
void methods_drop_sealings(Methods *m);

/* methods-start.c */
int method_start(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_dry_run(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_list_profiles(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_get_profile(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
