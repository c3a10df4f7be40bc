/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The room's inside, which the daemon puts together: all sessions and the methods of org.ftraced on top of them.
 * From the bottom up: allowance.c, sessions.c (all there are), janitor.c (what is removed), sessions-start.c,
 * methods-access.c, methods-background.c and listing.c, then the methods, of which methods.c has the table.
 */

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "daemon/process/journal.h"
#include "daemon/server/server.h"
#include "daemon/session/session.h"
#include "daemon/upkeep/upkeep.h"
#include "meta/config.h"
#include "retention/vacuum.h"

/* --- allowance.c: what a member may record ------------------------------------------------------ */

/* [Members] of ftraced.conf says it.  A profile is root's: what it says is allowed as it stands.  What a call says
 * besides is looked at: functions and events that are not allowed are refused, wherever they are named, also in a
 * trigger, since what fires tells as much as what is recorded.
 *
 * What has to be allowed for what a call says itself: bits of SpecAsks; all without a profile.  @given: its spec,
 * may be NULL.  A call that changes what is seen of a profile's functions, whose calls for one, is asked for those as if
 * it had named them.  0; REFUSED: there is a member that no Spec has. */
int allowance_ask(unsigned *ret, const json_t *given, bool has_profile, Refusal *refusal);
/* Refuses unless all that was asked for stays within what is allowed.  0, REFUSED, -ENOMEM. */
int allowance_check(const Limits *l, const Spec *spec, unsigned asked, Refusal *refusal);
/* A glob does if it is itself on the list, or if one there that has nothing but a * at its end begins as it does. */
bool allowance_covers(const Strv *allowed, const char *pattern);

#define ALLOWANCE_SESSION_BYTES                                                                    \
        (256U << 10) /* each session counts as, at least: the daemon has all in memory */

typedef struct AllowanceUse {
        uid_t uid;
        size_t n_sessions; /* that have not ended */
        uint64_t stored_bytes;
} AllowanceUse;

/* Refuses unless that user may have one more.  0, REFUSED. */
int allowance_admit(const MemberLimits *l, const AllowanceUse *use, Refusal *refusal);
/* After that: makes the size what is left; a sentence if it was more.  0 or -ENOMEM. */
int allowance_narrow(const MemberLimits *l, const AllowanceUse *use, Spec *spec, Strv *warnings);
/* All of it in a few words, for `doctor`; the caller frees.  0 or -ENOMEM. */
int allowance_describe(const Limits *l, char **ret);

/* --- sessions.c: all of them, live ones and those that the store keeps ------------------------ */

typedef struct SessionEntry {
        char *name;
        Session *session; /* NULL: it rests */
        SessionRest rest; /* as of the last session_entry_look(), or of when it was laid down */
        Strv symbols;     /* of the store's, that it refers to; likewise */
} SessionEntry;

typedef struct Janitor Janitor;

typedef struct Sessions {
        SessionContext
                context; /* what every session refers to, and the limits, which may be others tomorrow */
        KernelSymbols symbols;
        SessionEntry **entries; /* all of them, by name */
        size_t n_entries;
        Session **awake; /* among which are all that record */
        size_t n_awake;
        size_t n_unreadable; /* in the store, and not here */
        Removal *removal;    /* of removed ones' data */
        SessionChanged changed;
        void *userdata;
        bool is_starting; /* one more is about to be among those that are awake */
} Sessions;

/* Everything is borrowed.  @sweeper: for what is removed, which nothing else waits for.  sessions_done() it, also after
 * a failure. */
int sessions_init(Sessions *s, sd_event *event, Background *background, Background *sweeper,
                  Controller *controller, Store *store, FdStore *fdstore, const Limits *limits);
/* Keeps what a kernel that died left in memory (daemon/session/session.h), goes on with what a daemon that has gone left
 * recording, lets the service manager go of what belongs to none, and reads all others.  What cannot be read is logged
 * and left alone.  0 or -errno. */
int sessions_load(Sessions *s);
void sessions_done(Sessions *s);
/* In a task, so that the next start need not read the kernel's symbols. */
void sessions_store_symbols(Sessions *s);

/* By name or id.  Of one that has ended session.json is read; it is there until sessions_tidy(), or as long as
 * session_keep_awake() says.  0, SESSIONS_E_NONE, -errno: there is one, and it cannot be read. */
enum { SESSIONS_E_NONE = 1 };
int sessions_open(Sessions *s, Session **ret, const char *name);
SessionEntry *sessions_find(const Sessions *s, const char *name); /* NULL: none */
/* The name that may have been meant by one that there is not; NULL: none. */
const char *sessions_nearest(const Sessions *s, const char *name);
/* All, oldest first; the caller frees the array.  0 or -ENOMEM. */
int sessions_sort(const Sessions *s, SessionEntry ***ret);
/* What is said of one in short, by now, until the next look at it. */
const SessionRest *session_entry_look(SessionEntry *e);
size_t sessions_n_live(const Sessions *s);
/* For SealerConfig, with the Sessions: whether it is learned from, or synced; session_segment_sealed(). */
bool sessions_is_held(const char *name, void *userdata);
void sessions_segment_sealed(const char *name, uint32_t cpu, uint64_t sequence, uint64_t n_before,
                             uint64_t n_bytes, void *userdata);
/* Consumed: on failure it has ended.  0 or -ENOMEM. */
int sessions_add(Sessions *s, Session *session);
/* Removes an ended session; its data go after it (daemon/upkeep/upkeep.h).  @why: noted (retention/removed.h).  0 or
 * -errno. */
int sessions_remove(Sessions *s, Session *session, const char *why);
/* The disk is full: whether any ring let go of something. */
bool sessions_yield(Sessions *s);
/* No task is under way: what waits for that may go on, and sessions that nobody uses are laid down. */
void sessions_tidy(Sessions *s);
/* Whether @session's owner may have a snapshot of it; SessionContext.admit, with the Sessions.  0, REFUSED, -errno. */
int sessions_admit_snapshot(const Session *session, Refusal *refusal, void *userdata);
AllowanceUse sessions_use_of(const Sessions *s, uid_t uid);
/* SIGUSR2: how many sessions waited for it. */
size_t sessions_signal(Sessions *s);
void sessions_stop_all(Sessions *s, const char *reason);
/* The daemon goes and another one goes on: how many sessions it leaves.  The others end. */
size_t sessions_leave_all(Sessions *s);
/* True if none has to be waited for before the daemon may go. */
bool sessions_have_ended(const Sessions *s);
/* The connection @peer has gone: sessions attached to it end. */
void sessions_peer_gone(Sessions *s, uint64_t peer);

/* --- janitor.c: keeps the store within its limits, and within others when asked --------------- */

struct Janitor {
        Sessions *sessions;
        Background *sweeper;
        sd_event_source *soon, *timer;
        bool is_asked_only; /* it never looks by itself */
        bool is_to_look;    /* by itself, and has not begun to */
        bool is_ending;
        bool is_yielding; /* rings are, for want of room */
        uint64_t
                next_yield_ns; /* CLOCK_MONOTONIC: not before, however often somebody asks for room */
};

/* Looks after every change, when a session becomes too old or may go from then on, and every 15 s while something
 * records.  Everything is borrowed. */
int janitor_init(Janitor *j, Sessions *sessions, Background *sweeper, bool is_asked_only);
void janitor_done(Janitor *j);
/* Something has changed: looks once the loop is free. */
void janitor_look(Janitor *j);
/* Vacuums when what was asked for before is done: @call is kept, told meanwhile how far that is, and answered at the
 * end.  A caller who hangs up wants no more of it: the session that is being removed is, and no other.
 * 0 or -ENOMEM. */
int janitor_vacuum(Janitor *j, ServerCall *call, const RetainLimits *limits, bool dry_run);
/* What goes next; NULL: nothing is removed by itself here, or there is no memory. */
json_t *janitor_foresee(const Janitor *j);
/* Adds a CheckResult of that. */
void janitor_check(const Janitor *j, json_t *checks);
/* Refuses unless another recording may begin; what may go for it goes.  0, REFUSED, -errno. */
int janitor_has_room(Janitor *j, Refusal *refusal);

/* --- sessions-start.c ------------------------------------------------------------------------- */

/* What somebody wants to be recorded. */
typedef struct SessionRequest {
        SessionMeta *meta; /* with spec, owner, perhaps profile and name; all else is filled in */
        uint64_t peer;     /* the connection whose end stops it, 0: none */
        bool force;        /* a tracer of somebody else is switched off meanwhile */
        bool is_member;    /* not root's: within [Members] of ftraced.conf */
        unsigned asked;    /* of a member: what has to be allowed */
} SessionRequest;

/* What the session would begin with: a name that is free, a spec within the limits.  @j: NULL: there is room.
 * 0, REFUSED, -errno. */
int sessions_prepare(Sessions *s, Janitor *j, const SessionRequest *request, Refusal *refusal);
/* A task (daemon/process/background.h).  0 (@request has no meta then), REFUSED, -errno. */
int sessions_start(Sessions *s, Janitor *j, Session **ret, SessionRequest *request,
                   Refusal *refusal);

/* --- methods.c: interface org.ftraced (lib/wire/org.ftraced.varlink) -------------------------- */

typedef struct Errand Errand; /* methods-background.c */
typedef struct Waiter Waiter;
typedef struct Listing Listing; /* listing.c */

/* What is told of users that any of them can make be told without end: how often, lately; those who share a place share
 * what may be told. */
enum { METHODS_TOLD_REFUSED, METHODS_TOLD_READ, _METHODS_TOLD_N };
#define METHODS_TOLD_USERS 64

typedef struct Methods {
        sd_event *event;
        Background *background;
        Controller *controller;
        Store *store;
        Sessions *sessions;
        Janitor *janitor;
        const Limits *limits;
        const char *config_root; /* before the paths of profiles; NULL: none */
        Waiter *waiters;
        sd_event_source *tick; /* while somebody watches */
        LIST_HEAD(, Listing) listings;
        Errand *errands;              /* wait for their turn */
        bool errand_runs;             /* one is among the tasks */
        uid_t errand_uid;             /* whose the last one was */
        ServerCall *errand_call;      /* borrowed: that runs, and wants to be told how far it is */
        sd_event_source *errand_turn; /* of the next */
        sd_event_source *errand_tick; /* while one runs */
        struct {
                uint64_t since_ns;
                unsigned n;
        } told[_METHODS_TOLD_N][METHODS_TOLD_USERS];
} Methods;

/* All but the event sources is set, and borrowed.  methods_done() it, also after a failure.  0 or -errno. */
int methods_init(Methods *m);
void methods_done(Methods *m);
/* The table for server_new(), whose userdata is the Methods. */
const ServerMethod *methods_table(size_t *ret_n);
/* A ServerGone: ends what was attached to the connection, and forgets who waited on it. */
void methods_on_gone(uint64_t peer, void *userdata);
/* Answers whoever waits for @session, after each change of its state; NULL: whoever watches any. */
void methods_session_changed(Methods *m, Session *session);

int method_start(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_dry_run(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_list_profiles(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_get_profile(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);

/* --- methods-access.c: what a call says, and who may do what ---------------------------------- */

/* @value is consumed; NULL is what a failed json_*() gives. */
int parameter_reply(ServerCall *call, const char *name, json_t *value);

/* The session that a call names, for who wants to: */
typedef enum MethodsUse {
        METHODS_READ,         /* not one that a newer ftraced recorded */
        METHODS_CHANGE,       /* likewise; the caller's own */
        METHODS_READ_NEWER,   /* whoever recorded it */
        METHODS_CHANGE_NEWER, /* likewise; the caller's own */
} MethodsUse;
int methods_get_session(Methods *m, const ServerCall *call, json_t *parameters, MethodsUse use,
                        Session **ret, Refusal *refusal); /* 0, REFUSED */
/* A CheckResult (org.ftraced.varlink) of what the caller may do. */
json_t *methods_check_rights(const Methods *m, const ServerCall *call);
/* REFUSED, with a sentence of the state that @session is in. */
#define methods_refuse_state(refusal, session, ...)                                                \
        refusal_set((refusal), REFUSAL_SESSION_STATE,                                              \
                    json_pack("{ss ss}", "session", session_name(session), "state",                \
                              session_state_name(session_meta(session)->state)),                   \
                    __VA_ARGS__)
/* A ServerRefused and a ServerClosed: log it. */
void methods_on_refused(const ServerCall *call, const Refusal *refusal, void *userdata);
void methods_on_closed(const Peer *who, const char *why, void *userdata);
void methods_tell_reading(Methods *m, const ServerCall *call, const SessionMeta *meta);

/* --- methods-background.c --------------------------------------------------------------------- */

/* @run is called by a task, as a method is by the server.  0 or -errno. */
int methods_run_aside(Methods *m, ServerCall *call, json_t *parameters, ServerMethodHandler run);
/* That have not begun: all, which are refused, or those whose callers have left. */
void methods_drop_errands(Methods *m, bool all);

/* --- listing.c: answers that have many sessions in them, written a few sessions at a time ----- */

void listings_done(Methods *m);
int method_get_status(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_list(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
int method_list_briefs(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata);
