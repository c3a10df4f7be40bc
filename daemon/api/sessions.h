/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Sessions: all of them, live ones and those that the store keeps; names are unique
 */

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "daemon/api/roster.h"
#include "daemon/session/session.h"
#include "daemon/tracer/controller.h"
#include "daemon/upkeep/removal.h"
#include "meta/config.h"
#include "store/store.h"

typedef struct Sessions Sessions;

/* Everything is borrowed.  @sweeper: for what is removed, which nothing else waits for. */
int sessions_new(Sessions **ret, sd_event *event, Background *background, Background *sweeper,
                 Controller *controller, Store *store, FdStore *fdstore);
/* In a task, so that the next start need not read the kernel's symbols. */
void sessions_store_symbols(Sessions *s);
/* What a spec leaves open, and how far it may go.  Lives longer; NULL, as at first: nothing is set.  Called
 * again when they have changed. */
void sessions_set_limits(Sessions *s, const Limits *limits);
/* @session is known now; NULL: all are. */
typedef void (*SessionsKnown)(Session *session, void *userdata);
/* @changed is called after every change of any session's state; one of each. */
void sessions_set_handlers(Sessions *s, SessionChanged changed, SessionsKnown known,
                           void *userdata);
/* Keeps what a kernel that died left in memory (daemon/session/rescue.h), reads the names in the store, goes on with what a daemon that has gone left recording, and lets the service
 * manager go of what belongs to none.  The rest is read while the loop runs (daemon/api/sessions-survey.c); what
 * cannot be is logged and left alone.  0 or -errno. */
int sessions_load(Sessions *s);
/* Whether all have been read, and how many of how many; both may be NULL. */
bool sessions_are_known(const Sessions *s, size_t *ret_n_known, size_t *ret_n);
/* Whether the @n newest are known; what has to be read for that is, unless it is much. */
bool sessions_know_newest(Sessions *s, size_t n);
/* Reads the rest at once: for who cannot wait. */
void sessions_survey_all(Sessions *s);

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
        unsigned asked; /* of a member: what has to be allowed (daemon/api/allowance.h) */
        /* Before arming, of sessions_start(); NULL: nobody wants to know. */
        void (*arming)(const ControllerOutlook *outlook, void *userdata);
        void *userdata;
} SessionRequest;

/* What the session would begin with: a name that is free, a spec within the limits.
 * 0, REFUSED, -errno. */
int sessions_prepare(Sessions *s, SessionMeta **ret, const SessionRequest *request,
                     Refusal *refusal);
/* A task (daemon/process/background.h).  0, REFUSED, -errno. */
int sessions_start(Sessions *s, Session **ret, const SessionRequest *request, Refusal *refusal);
/* SessionContext.admit; @userdata: the Sessions. */
int sessions_admit_snapshot(const Session *session, Refusal *refusal, void *userdata);
/* By name or id.  Of one that has ended session.json is read; it is there until sessions_tidy(), or as long as
 * session_keep_awake() says.  0, SESSIONS_E_NONE, -errno: there is one, and it cannot be read. */
enum { SESSIONS_E_NONE = 1 };
int sessions_open(Sessions *s, Session **ret, const char *name);
/* The same; NULL if there is none, or it cannot be read. */
Session *sessions_find(Sessions *s, const char *name);
/* It is learned from, or synced. */
bool sessions_is_held(const Sessions *s, const char *name);
/* The name that may have been meant by one that there is not; NULL: none. */
const char *sessions_nearest(const Sessions *s, const char *name);
/* Of those that are awake, which all are that record; everything there is: sessions_roster(). */
size_t sessions_n(const Sessions *s);
Session *sessions_get(Sessions *s, size_t i);
size_t sessions_n_live(const Sessions *s);
const Roster *
sessions_roster(const Sessions *s); /* while a session is not known, there is its name alone */
uint64_t sessions_disk_bytes(Sessions *s); /* of those that are known */
/* As session_segment_sealed(). */
void sessions_segment_sealed(Sessions *s, const char *name, uint32_t cpu, uint64_t sequence,
                             uint64_t n_before, uint64_t n_bytes);
/* Removes an ended session; its data go after it (daemon/upkeep/removal.h).  @why: noted (store/removed.h).  0 or
 * -errno. */
int sessions_remove(Sessions *s, Session *session, const char *why);
/* Who says whether there is room for another session: 0, REFUSED, -errno; one, NULL: there is. */
void sessions_set_room(Sessions *s, int (*has_room)(Refusal *refusal, void *userdata),
                       void *userdata);
/* The disk is full: whether any ring let go of something. */
bool sessions_yield(Sessions *s);
Removal *sessions_removal(const Sessions *s); /* of that data */

/* No task is under way: what waits for that may go on, and sessions that nobody uses are laid down. */
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
