/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sessions: all of them, live ones and those that the store keeps; names are unique
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/controller.h"
#include "daemon/session.h"
#include "store/config.h"
#include "store/store.h"

typedef struct Sessions Sessions;

/* Everything is borrowed.  @sweeper: for what is removed, which nothing else waits for. */
int sessions_new(Sessions **ret, sd_event *event, Aside *aside, Aside *sweeper,
                 Controller *controller, Store *store, FdStore *fdstore);
/* What a spec leaves open, and how far it may go.  Lives longer; NULL, as at first: nothing is set. */
void sessions_set_limits(Sessions *s, const Limits *limits);
/* Called after every change of any session's state; one handler. */
void sessions_set_handler(Sessions *s, SessionChanged changed, void *userdata);
/* Reads the store, goes on with what a daemon that has gone left recording, and lets the service
 * manager go of what belongs to none; what cannot be read is logged and left alone.  0 or -errno. */
int sessions_load(Sessions *s);

/* What somebody wants to be recorded; all borrowed. */
typedef struct SessionRequest {
        const char *name;    /* NULL: one is made from the first function */
        const char *profile; /* that the spec is from, or NULL */
        const Spec *spec;
        uid_t owner_uid;
        pid_t owner_pid;
        uint64_t peer;  /* the connection whose end stops it, 0: none */
        bool force;     /* a tracer of somebody else is switched off meanwhile */
        bool is_member; /* not root's: within [Members] of ftraced.conf */
        unsigned asked; /* of a member: what has to be allowed (daemon/allowance.h) */
} SessionRequest;

/* What the session would begin with: a name that is free, a spec within the limits.
 * 0, REFUSED, -errno. */
int sessions_prepare(Sessions *s, SessionMeta **ret, const SessionRequest *request,
                     Refusal *refusal);
/* A task (daemon/aside.h).  After sessions_look(), which finds out what can be before anybody is told of
 * a neighbour.  0, REFUSED, -errno. */
int sessions_start(Sessions *s, Session **ret, const SessionRequest *request, Refusal *refusal);
/* Whether sessions_start() would be refused for what can be seen without arming, at little cost; and
 * whether less would be hooked in a moment, when what is being learned is known.  0, REFUSED, -errno. */
int sessions_look(Sessions *s, bool *ret_is_learning, const SessionRequest *request,
                  Refusal *refusal);
/* Whether a snapshot of one would be within what its owner may store; whether one may be pinned, which
 * root may always.  0, REFUSED, -errno. */
int sessions_admit_snapshot(Sessions *s, Session *session, Refusal *refusal);
int sessions_admit_pin(Sessions *s, Session *session, bool by_root, Refusal *refusal);
/* By name or id; NULL if there is none. */
Session *sessions_find(Sessions *s, const char *name);
/* The name that may have been meant by one that there is not; NULL: none. */
const char *sessions_nearest(const Sessions *s, const char *name);
size_t sessions_n(const Sessions *s);
Session *sessions_get(Sessions *s, size_t i);
size_t sessions_n_live(const Sessions *s);
/* Removes an ended session; its data go after it (daemon/removal.h).  0 or -errno. */
int sessions_remove(Sessions *s, Session *session);
/* removal_is_done() and removal_set_handler() of that data. */
bool sessions_are_cleared(Sessions *s, uint64_t *freed_bytes);
void sessions_set_cleared(Sessions *s, void (*moved)(void *userdata), void *userdata);

/* No task is under way: what waits for that may go on. */
void sessions_tidy(Sessions *s);

/* Adds a CheckResult (org.ftraced.varlink) of how near the live sessions are to their limits. */
void sessions_check(Sessions *s, json_t *checks);
/* SIGUSR2: how many sessions waited for it. */
size_t sessions_signal(Sessions *s);
void sessions_stop_all(Sessions *s, const char *reason);
/* The daemon goes and another one goes on: how many sessions it leaves.  The others end. */
size_t sessions_leave_all(Sessions *s);
/* Whether none has to be waited for before the daemon may go. */
bool sessions_have_ended(const Sessions *s);
/* The connection @peer has gone: sessions attached to it end. */
void sessions_peer_gone(Sessions *s, uint64_t peer);

Sessions *sessions_free(Sessions *s);
DEFINE_CLEANUP(Sessions *, sessions_free);
