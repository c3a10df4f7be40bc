/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The methods' inside.  daemon/api/methods.c has the table and is above the others: methods-start.c (what begins a
 * session, and profiles), methods-upkeep.c (Vacuum), methods-learn.c (Learn), and below these
 * methods-access.c (which session, and who may what) and methods-background.c.
 */

#include "daemon/api/listing.h"
#include "daemon/api/methods.h"

typedef struct Errand Errand; /* methods-background.c */
typedef struct Waiter Waiter;

typedef enum MethodsTold {
        METHODS_TOLD_REFUSED,
        METHODS_TOLD_READ,
        _METHODS_TOLD_N,
} MethodsTold;

#define METHODS_TOLD_USERS 64

struct Methods {
        sd_event *event;
        Background *background;
        Controller *controller;
        Store *store;
        Sessions *sessions;
        const Limits *limits;
        const char *config_root; /* before the paths of profiles; NULL: none */
        Waiter *waiters;
        Listings *listings;
        Janitor *janitor;
        Errand *errands;              /* wait for their turn */
        Errand *postponed;            /* until all sessions are known */
        bool errand_runs;             /* one is among the tasks */
        uid_t errand_uid;             /* whose the last one was */
        sd_event_source *errand_turn; /* of the next */
        sd_event_source *tick;        /* while somebody watches */
        /* What was told of users lately that any of them can make be told without end, since when and how
         * often; those who share a place share what may be told. */
        struct {
                uint64_t since_ns;
                unsigned n;
        } told[_METHODS_TOLD_N][METHODS_TOLD_USERS];
};

void methods_tell_reading(Methods *m, const ServerCall *call, const SessionMeta *meta);

/* methods-access.c: the session that a call names.  0, REFUSED: also of one that a newer ftraced recorded, which only
 * methods_find_session() and methods_find_own_session() find. */
int methods_get_session(Methods *m, json_t *parameters, Session **ret, Refusal *refusal);
int methods_find_session(Methods *m, json_t *parameters, Session **ret, Refusal *refusal);
/* The same for who wants to change something about it; a CheckResult (org.ftraced.varlink)
 * of what the caller may do. */
int methods_get_own_session(Methods *m, const ServerCall *call, json_t *parameters, Session **ret,
                            Refusal *refusal);
int methods_find_own_session(Methods *m, const ServerCall *call, json_t *parameters, Session **ret,
                             Refusal *refusal);
json_t *methods_check_rights(const Methods *m, const ServerCall *call);
/* REFUSED, with a sentence of the state that @session is in. */
#define methods_refuse_state(refusal, session, ...)                                                \
        refusal_set((refusal), REFUSAL_SESSION_STATE,                                              \
                    json_pack("{ss ss}", "session", session_name(session), "state",                \
                              session_state_name(session_meta(session)->state)),                   \
                    __VA_ARGS__)
/* Of a session that has to have ended. */
int methods_refuse_live(Refusal *refusal, Session *session);

/* methods-access.c as well.  REFUSED: what parameter @name should have been. */
int parameter_refuse(Refusal *refusal, const char *name, const char *wanted);
/* A string that may be absent or null: *@ret is NULL then.  0, REFUSED. */
int parameter_get_string(json_t *parameters, const char *name, const char **ret, Refusal *refusal);
/* The same for a number (0) and a boolean (false). */
int parameter_get_number(json_t *parameters, const char *name, uint64_t *ret, Refusal *refusal);
int parameter_get_boolean(json_t *parameters, const char *name, bool *ret, Refusal *refusal);
/* @value is consumed; NULL is what a failed json_*() gives. */
int parameter_reply(ServerCall *call, const char *name, json_t *value);

/* methods-background.c: @run is called by a task, as a method is by the server.  0 or -errno. */
int methods_run_aside(Methods *m, ServerCall *call, json_t *parameters, ServerMethodHandler run);
/* The same by the loop, when all sessions are known (daemon/api/sessions.h), which they are not yet. */
int methods_run_known(Methods *m, ServerCall *call, json_t *parameters, ServerMethodHandler run);
/* Whether what the caller has (daemon/api/allowance.h) is not known yet; nobody asks that of root. */
bool methods_is_too_soon(const Methods *m, const ServerCall *call);
void methods_drop_errands(Methods *m);      /* that have not begun: they are refused */
void methods_drop_gone_errands(Methods *m); /* whose callers have left */

/* methods-list.c */
int method_get_status(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_list(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_list_briefs(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);

/* methods-trigger.c */
int method_trigger(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_snapshot(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);

/* methods-upkeep.c */
int method_vacuum(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);

/* methods-start.c */
int method_start(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_dry_run(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_list_profiles(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_get_profile(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);

/* methods-learn.c */
