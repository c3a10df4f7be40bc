/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The session's inside, for three files: session.c (what it is), above that session-run.c (what
 * becomes of it), and above that session-start.c (how it begins).  All else has a part of its own, which is
 * given what it borrows, and calls back.
 */

#include "daemon/record/recorder.h"
#include "daemon/session/session-clock.h"
#include "daemon/session/session-guard.h"
#include "daemon/session/session-hold.h"
#include "daemon/session/session-hooks.h"
#include "daemon/session/session-lean.h"
#include "daemon/session/session-roots.h"
#include "daemon/session/session-snapshot.h"
#include "daemon/session/session-sync.h"
#include "daemon/session/session-tasks.h"
#include "daemon/session/session-trigger.h"
#include "daemon/session/session-usage.h"
#include "daemon/session/session.h"
#include "daemon/session/transition.h"
#include "daemon/watch/health.h"

struct Session {
        const SessionContext *context;
        SessionMeta *meta;
        uint64_t peer;
        Admission *admission; /* borrowed while it starts */
        SessionUsage usage;
        bool is_saved;        /* session.json says what meta says */
        bool is_kept_unsaved; /* but for when it was kept */
        bool is_kept_guessed; /* which is when it was first seen, for want of a word of it */
        unsigned n_users;     /* session_keep_awake() */

        /* while it is live */
        SessionDir *dir;
        Tracer *tracer;
        Recorder *recorder;
        Rotation *rotation;
        Health *health;
        SessionHold *hold; /* of what outlives the daemon */
        SessionSync *sync; /* until all of it is on the disk */
        SessionGuard guard;
        SessionRoots *roots;
        SessionHooks *hooks;
        SessionLean *lean;         /* goes on after the end */
        Following *following;      /* of tasks that may join those who are recorded */
        SessionClock *clock;       /* while it records */
        SessionTriggers *triggers; /* NULL: it has none */
        SessionSnapshot *snapshot; /* one that is under way */
        sd_event_source *deadline;
        uint64_t next_tasks_ns; /* CLOCK_MONOTONIC: their names are not copied again before */
        uint64_t next_keep_ns;  /* the same, of a black box, for what a crash would lose */
        bool is_leaving;        /* another daemon goes on with it */
        bool is_finishing;      /* its readers have ended, and session_finish() was asked for */
};

#define session_warn(s, ...) health_warn((s)->meta, __VA_ARGS__)

/* --- session.c -------------------------------------------------------------------------------- */

/* One that has nothing yet.  0 or -ENOMEM. */
int session_new(Session **ret, const SessionContext *context);
void session_enter(Session *s, SessionEvent event, const char *reason);
void session_save(Session *s);
/* session.json, also of one that has ended and whose directory is closed.  0 or -errno. */
int session_write_meta(Session *s);
/* Whoever follows is told; with the latter session.json is written first. */
void session_tell(Session *s);
void session_on_change(Session *s);
/* Why there is nothing, if there is. */
void session_look_at_silence(Session *s);
/* Notices modules that came and went since the last look. */
void session_look_at_modules(Session *s);
/* What it may take of the disk; 0: it is no ring there. */
uint64_t session_ring_bytes(const Session *s);
/* The readers have ended.  A task: putting the kernel back takes it a while. */
void session_finish(void *userdata);
/* The readers of a session that session_leave() left: waits for them and writes down where they are. */
void session_end_leaving(Session *s);
/* Of daemon/session/session-sync.h; session_on_save() is for others, too. */
bool session_on_save(Session *s);
void session_on_failing(Session *s, const char *reason);
uint64_t session_on_lost(Session *s, const SyncerFailure *f);
void session_on_told(Session *s);
void session_on_synced(Session *s);

/* --- session-run.c ---------------------------------------------------------------------------- */

/* What looks after it while it is live, once the readers have the sequence that they begin or go on with.
 * @symbols_ns: when its symbols were looked at, on the trace clock; 0: by an earlier daemon.
 * 0 or -errno. */
int session_make_parts(Session *s, const ClockTuple *now, uint64_t symbols_ns);
/* All that has a part of the session; of one that is not live any more. */
void session_free_parts(Session *s);
/* ARMED or just programmed becomes RECORDING; 0 or -errno and *@ret_what that failed. */
int session_go(Session *s, const char **ret_what, const char **ret_object);
/* Parts of that, for one that recorded before. */
int session_set_deadline(Session *s);
void session_begin_clock(Session *s);
/* Listens to its triggers from now on, if it has any.  0 or -errno. */
int session_begin_triggers(Session *s, bool is_adopted);
/* Of the recorder, the health and the tracer. */
void session_on_recorder(void *userdata);
void session_on_health(bool is_new, void *userdata);
void session_on_look(void *userdata);
void session_on_quiesced(uint64_t from_ns, uint64_t to_ns, void *userdata);
void session_on_crowded(void *userdata);
