/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The session's inside, for daemon/session-start.c, daemon/session.c (what follows) and daemon/session-adopt.c (taking up one
 * that an earlier daemon had begun).
 */

#include "daemon/clock-watch.h"
#include "daemon/guard.h"
#include "daemon/health.h"
#include "daemon/live.h"
#include "daemon/lesson.h"
#include "daemon/recorder.h"
#include "daemon/rotation.h"
#include "daemon/session.h"
#include "daemon/symbol-watch.h"
#include "daemon/transition.h"
#include "store/footprint.h"

/* daemon/session-tasks.c */
typedef struct Following Following;
typedef struct SessionTriggers SessionTriggers;
typedef struct SessionSnapshot SessionSnapshot;
/* daemon/session-hooks.c */
typedef struct HookWish HookWish;

struct Session {
        const SessionContext *context;
        SessionMeta *meta;
        uint64_t peer;
        bool force; /* arming switches a tracer of somebody else off */

        /* while it is live */
        SessionDir *dir;
        Tracer *tracer;
        Recorder *recorder;
        Rotation *rotation;
        sd_event_source *deadline;
        SymbolWatch symbol_watch;
        bool modules_changed;          /* since session_look_at_roots() */
        sd_event_source *lesson_timer; /* daemon/session-lean.c */
        uint64_t lesson_us;
        Lesson *lesson; /* goes on after the end */
        bool is_narrowing;
        bool is_hooking;        /* daemon/session-hooks.c: a task is under way, or will be */
        uint64_t hook_since_ns; /* CLOCK_MONOTONIC: its trigger fired; 0: before this daemon */
        bool was_hooked;        /* and not its roots alone, while it recorded */
        HookWish *hook_wishes;
        Health *health;
        Following *following; /* of tasks that may join those who are recorded */
        Guard guard;
        ClockWatch *clock_watch;
        SessionTriggers *triggers; /* daemon/session-trigger.c; NULL: it has none */
        SessionSnapshot *snapshot; /* daemon/session-snapshot.c: one that is under way */

        sd_event_source *retry; /* of writing session.json, once it has ended */
        bool is_saved;          /* session.json says what meta says */
        Footprint footprint;
        uint64_t
                over_share_ns; /* CLOCK_MONOTONIC: since when its owner has too much; 0: he has not */
        uint64_t measured_ns;   /* CLOCK_MONOTONIC: when that was so; 0: it is not known */
        uint64_t next_tasks_ns; /* CLOCK_MONOTONIC: their names are not copied again before */
        PipeMarks *marks;       /* while nobody holds the pipes */
        bool is_held;           /* the service manager has copies of the descriptors */
        bool is_leaving;        /* another daemon goes on with it */
        bool is_finishing;      /* its readers have ended, and session_finish() was asked for */
};

/* Once the readers have the sequence that they begin or go on with.  0 or -errno. */
int session_begin_rotation(Session *s, const ClockTuple *now);
/* session.c */
void session_save(Session *s);
void session_enter(Session *s, SessionEvent event, const char *reason);
#define session_warn(s, ...) health_warn((s)->meta, __VA_ARGS__)
int session_make_recorder(Session *s);
/* Once all readers are there: what is lost from now on is noted. */
int session_make_health(Session *s);
int session_set_deadline(Session *s);
void session_on_recorder(void *userdata);
void session_on_health(bool is_new, void *userdata);
void session_on_look(void *userdata);
void session_on_hushed(uint64_t from_ns, uint64_t to_ns, void *userdata);
void session_on_cut(void *userdata); /* whoever made it, a reader or a timer */
int session_on_deadline(sd_event_source *source, uint64_t usec, void *userdata);

/*
 * session-adopt.c.  What is held survives the daemon:
 *   - session_hold_cpu() after recorder_add(), for each CPU
 *   - session_hold() when all are there and nothing is read yet: waits for the manager and writes
 *     live.json
 *   - session_let_go() when the readers have ended, before the tracer is switched off
 */
void session_hold_cpu(Session *s, uint32_t cpu, int raw_fd);
int session_hold(Session *s);
void session_let_go(Session *s);
/* The readers of a session that session_leave() left: waits for them and writes down where they are. */
void session_end_leaving(Session *s);

/*
 * session-hooks.c: what is hooked follows the state, beside the loop:
 *   - session_hook() after a change between RECORDING and ARMED; @since_ns: as hook_since_ns
 *   - session_hooks_change() while a task changes it: a look at the control files finds half of it, and
 *     a line that is written to set_ftrace_filter meanwhile may undo the change
 *   - session_hooks_are_due() if it changes or has to
 *   - session_hooks_interrupt() before a recording ends: says what it lacks
 */
void session_hook(Session *s, uint64_t since_ns);
bool session_hooks_change(const Session *s);
bool session_hooks_are_due(const Session *s);
void session_hooks_interrupt(Session *s);
/* Whether its control files are to be watched as long as the hooks stay. */
bool session_is_watched(const Session *s);

/* session-clock.c: recording has begun or goes on; a moment to look, @userdata is the session. */
void session_watch_clocks(Session *s);
void session_look_at_clocks(void *userdata);

/* session-share.c: whether its owner's sessions are within his share: one moment to look, which may end
 * it.  0, or -EDQUOT: a snapshot would go beyond it. */
void session_share_look(Session *s);
int session_share_admit_snapshot(Session *s);
/* A snapshot takes the data along. */
bool session_snapshot_is_moved(const Session *s);

/* session-roots.c: may end it. */
void session_look_at_roots(Session *s);

/* session-guard.c: recording has begun or goes on; a moment to look, which may end it. */
void session_guard_begin(Session *s);
void session_guard_look(Session *s);
/* What a live session has cost so far: Cost of org.ftraced.varlink; NULL: it is not recording, or
 * there is no memory. */
json_t *session_cost(const Session *s);

/* From now on who joins those who are recorded is noticed, if @s has such.  0 or -errno. */
int session_follow(Session *s);
/* Before the tracer is switched off. */
Following *following_free(Following *f);
DEFINE_CLEANUP(Following *, following_free);

/* ARMED or just programmed becomes RECORDING; 0 or -errno and *@ret_what that failed. */
int session_go(Session *s, const char **ret_what, const char **ret_object);
/* RECORDING becomes ARMED again; what was recorded becomes a snapshot. */
void session_pause(Session *s, const char *reason);

/* session-snapshot.c: the readers may have done what a snapshot waits for; it cannot be any more. */
void session_snapshot_look(Session *s);
void session_snapshot_cancel(Session *s);

/*
 * session-trigger.c:
 *   - session_triggers_new() before anything is programmed: whether the rules make sense
 *   - session_triggers_begin() when all is programmed: listens; to what an earlier daemon had hung
 *     too, whatever rang meanwhile
 *   - session_triggers_look() after a change of state, and when a snapshot is done
 *   - session_triggers_hooked() when session_hooks_change() has ended: does what was put off
 *   - session_triggers_end() before recording is switched off for good: listens no more
 *   - session_triggers_free() before the tracer is disarmed, which bells in use would hinder; never
 *     from within a trigger
 */
int session_triggers_new(Session *s, Refusal *refusal);
int session_triggers_begin(Session *s, bool is_adopted);
void session_triggers_look(Session *s);
void session_triggers_hooked(Session *s);
void session_triggers_end(Session *s);
void session_triggers_free(Session *s);
/* Whether it waits for a trigger to begin recording. */
bool session_waits_for_start(const Session *s);

/* Recording has begun: if it is to be learned from, the timer is set.  0 or -errno. */
int session_lean_begin(Session *s);
/* The readers have ended, the tracer is still there. */
void session_lean_end(Session *s);
void session_lean_done(Session *s);
