/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The session's inside, for the files of this room.  Each calls those below it, never one above:
 *
 *      session-start.c  session-adopt.c        how it begins: anew, or as an earlier daemon left it
 *      session-live.c                          what readers, health and hooks say while it is live
 *      session-trigger.c                       what its rules have it do
 *      session-run.c                           it records, waits, stops, and is taken down
 *      session-listen.c    session-lean.c      by what rules hear; which functions are hooked
 *      session-snapshot.c  session-hooks.c     a part of it is kept apart; hooking is a task
 *      session-watch.c  session-hold.c         what changes around it; what outlives the daemon
 *      session.c        session-sync.c         what it tells; until all of it is on the disk
 *      session-state.c                         what is written of it
 */

#include "daemon/lean/lean.h"
#include "daemon/record/reader.h"
#include "daemon/record/recorder.h"
#include "daemon/record/stack-copier.h"
#include "daemon/session/session.h"
#include "daemon/symbols/kernel-symbols.h"
#include "daemon/watch/watch.h"
#include "meta/trigger.h"
#include "retention/footprint.h"

/*
 * Which state follows which; each but the last two may become `failed` as well
 *
 *      new ─────> armed ─────> recording ─────> draining ─────> sealed
 *                   │ ^────────────┘               ^
 *                   └──────────────────────────────┘
 */
typedef struct SessionWish SessionWish;
struct SessionWish {
        SessionWish *next;
        SessionDone done;
        void *userdata;
};

typedef struct SessionSync {
        Syncer *syncer;             /* until all of it is on the disk */
        sd_event_source *deadline;  /* of SYNC_WAIT_S */
        sd_event_source *retry;     /* of writing session.json, when all else is done */
        SessionState end_state;     /* once it is told */
        bool is_syncing, is_synced; /* after its end; but for session.json */
        bool is_told;               /* that it has ended */
        SessionWish *wishes;        /* after that */
} SessionSync;

/* Tasks that join those whose calls are recorded. */
typedef struct Following {
        sd_event_source *io, *timer;
        int fd;           /* -EBADF: nobody is followed */
        uint64_t next_us; /* CLOCK_MONOTONIC: no look before */
        bool has_failed;
} Following;

typedef struct SessionHooks {
        bool is_hooking; /* a task is under way, or will be */
        bool is_rehooking;
        bool was_hooked;   /* and not its roots alone, while it recorded */
        uint64_t since_ns; /* of session_hooks_follow() */
        SessionWish *wishes;
        /* What waited for them can be done.  @is_task: its end, with what it failed with; else they were changed
         * while it recorded. */
        void (*settled)(Session *s, bool is_task, int error);
} SessionHooks;

typedef enum LessonState {
        LESSON_NONE,
        LESSON_HOOKS_ALL, /* its timer runs, or all is being hooked */
        LESSON_IS_OVER,   /* nothing but the roots is, or will be */
        LESSON_IS_READ,   /* by the learning pass */
} LessonState;

typedef struct LeanTimer {
        sd_event_source *source; /* NULL: it is not set */
        uint64_t us;             /* that it is set to next; of `later`: that the last retry was */
} LeanTimer;

typedef struct SessionLean {
        LeanTimer lesson, later, watch, load;
        LessonState state;
        LearningPass *learning_pass; /* goes on after the end */
        BystanderWatch *bystanders;
        Load others;
        HostLoad host;
        LeanScope scope; /* what is to be hooked */
        HookReason reason;
        uint64_t since_ns;   /* the lesson, on the trace clock */
        uint64_t learned_ns; /* what was recorded before has been learned from */
        uint64_t until_ns;   /* later records lack functions, so that callers would be leaves */
        uint64_t n_bytes;    /* stored when the last lesson ended */
        unsigned n_turns;
        unsigned n_quiet, quiet_looks; /* looks since the roots were called; that make them quiet */
        uint64_t n_events;             /* that the last look saw */
        Notifier *calls;               /* NULL: all that is recorded counts as one */
        sd_event_source *call;         /* while the roots are quiet: of the next one */
        int call_fd;
        bool is_due, has_task, has_ended, sheds, was_own;
} SessionLean;

typedef struct Rule {
        Session *session;
        size_t i; /* in the spec, and in the captures' counts */
        Trigger trigger;
        Notifier *notifier;
        sd_event_source *timer; /* in, at, and while count looks at times */
        bool listens;
        bool has_switch;
} Rule;

typedef struct SessionTriggers {
        Rule rules[TRIGGER_MAX];
        size_t n;
        sd_event_source *gap;      /* until a cap lets go */
        sd_event_source *stop;     /* a stop that has been ordered */
        sd_event_source *snapshot; /* likewise */
        bool start_queue;          /* some rule does, so it waits armed */
        bool repeats;              /* each recording becomes a snapshot, and it waits again */
        bool keeps;                /* some rule makes snapshots */
        bool are_heard;            /* from session_begin_triggers() on */
        bool has_begun;            /* after it, and before session_end_triggers() */
        bool is_to_look;           /* a task will */
        bool stops_next;           /* when the snapshot that is under way is done */
        Rule *fired;               /* what else it does waits until all is hooked */
        char *fired_why;
} SessionTriggers;

typedef struct SessionSnapshot SessionSnapshot;

struct Session {
        const SessionContext *context;
        SessionMeta *meta;
        uint64_t peer;
        Admission *admission; /* borrowed while it starts */
        Footprint footprint;  /* what was measured last */
        uint64_t measured_ns; /* CLOCK_MONOTONIC: when that was so; 0: it is not known */
        bool is_saved;        /* session.json says what meta says */
        unsigned n_users;     /* session_keep_awake() */

        /* while it is live: session_take_down() ends it */
        SessionDir *dir;
        Tracer *tracer;
        Recorder *recorder;
        Rotation *rotation;
        Health *health;
        StackCopier *stacks;    /* NULL: none are copied */
        uint64_t stacks_groups; /* which control groups they are of */
        bool are_pipes_held; /* the service manager has copies of its descriptors */
        SessionSync sync;
        Guard guard;
        sd_event_source *clock; /* while it records */
        SymbolWatch modules;
        bool modules_changed; /* since session_look_at_roots() */
        Following following;
        SessionHooks hooks;
        SessionLean lean; /* goes on after the end */
        SessionTriggers triggers;
        SessionSnapshot *snapshot; /* one that is under way */
        sd_event_source *deadline;
        uint64_t next_tasks_ns; /* CLOCK_MONOTONIC: their names are not copied again before */
        uint64_t next_owners_ns; /* likewise, whose tasks are */
        uint64_t next_keep_ns;  /* the same, of a black box, for what a crash would lose */
        char *stop_reason;      /* session_stop() was asked for, and a task is about to switch it off */
        bool is_leaving;        /* another daemon goes on with it */
        bool is_finishing;      /* its readers have ended, and session_finish() was asked for */
};

#define session_warn(s, ...) health_warn((s)->meta, __VA_ARGS__)

/* --- session-state.c -------------------------------------------------------------------------- */

int session_new(Session **ret, const SessionContext *context);
/* True if state @to may follow @from. */
bool session_state_may_become(SessionState from, SessionState to);
void session_enter(Session *s, SessionState state, const char *reason);
/* session.json, also of one that has ended and whose directory is closed.  0 or -errno. */
int session_write_meta(Session *s);
void session_save(Session *s);
void session_tell(Session *s);
void session_on_change(Session *s); /* both */
/* What all takes that @s->dir has, of which segments are known to take @segment_bytes. */
void session_measure(Session *s, uint64_t segment_bytes);
/* What it may take of the disk; 0: it is no ring there. */
uint64_t session_ring_bytes(const Session *s);
int session_add_wish(SessionWish **list, SessionDone done, void *userdata);
void session_tell_wishes(Session *s, SessionWish **list, int error);

/* --- session.c -------------------------------------------------------------------------------- */

/* Why there is nothing, if there is. */
void session_look_at_silence(Session *s);

/* --- session-sync.c ---------------------------------------------------------------------------- */

/* Before the readers are made.  0 or -errno. */
int session_sync_init(Session *s);
void session_sync_done(Session *s);
/* The kernel is put back, and meta says how it has ended: it is draining until that can be told. */
void session_sync_end(Session *s);
/* Instead, of one that has ended by an earlier daemon, which had not told so. */
void session_sync_again(Session *s);
/* Waits for the end, if it has been asked for. */
void session_sync_settle(Session *s);
/* Another daemon goes on, and syncs what is not yet. */
void session_sync_leave(Session *s);

/* --- session-hold.c ---------------------------------------------------------------------------- */

/* Gives the manager copies of its descriptors. */
void session_hold_cpu(Session *s, const Reader *reader);
/* Adds a CPU to the recorder of a session that another daemon began; @ret is borrowed.  1: with the descriptors that the manager
 * held, whose pipe may have pages; 0: with new ones; -errno. */
int session_hold_take_cpu(Session *s, Reader **ret, uint32_t cpu);
/* When all are there and nothing is read yet: waits for the manager, and writes live.json.  0 or -errno. */
int session_hold_all(Session *s);
/* Writes live.json.  @left: for the next daemon, and nothing is left in a pipe.  0 or -errno. */
int session_hold_write(const Session *s, bool left);
/* When the readers have ended and the tracer is about to be switched off. */
void session_hold_let_go(Session *s);

/* --- session-watch.c --------------------------------------------------------------------------- */

/* Notes steps of the clock from now on; or only what nobody was told of. */
void session_begin_clock(Session *s);
void session_look_at_clock(Session *s);
/* Modules that came or went since the last look; cheap if none did. */
void session_look_at_modules(Session *s);
/* The same, for whoever waits for nothing: what would have to be read is, by a task. */
void session_look_at_modules_soon(Session *s);
/* If any did, looks whether roots went with them; not while somebody changes what is hooked.  Whether it is to end,
 * since nothing is left to record, and why. */
#define ROOTS_TEXT_MAX 512
bool session_look_at_roots(Session *s, char why[static ROOTS_TEXT_MAX]);
/* Notes whose tasks are, if that is recorded: now, as a task; or as a task of its own, also if that is not @due yet. */
void session_look_at_owners(Session *s);
void session_look_at_owners_soon(Session *s, bool is_due);
/* Notes what programs have mapped, if that is recorded, as a task. */
void session_look_at_maps_soon(Session *s);
void session_look_at_maps_again(Session *s); /* when recording is off */
/* If the stacks of programs are to be copied: has what does that opened, or warns, and returns 0; switches it on or off; the
 * same of a session that another daemon began, as a task; ends it, before its probes are removed. */
int session_open_stacks(Session *s, Refusal *unused);
void session_copy_stacks(Session *s, bool on);
void session_copy_stacks_again(Session *s);
void session_end_stacks(Session *s);
void session_follow_groups(Session *s); /* also when it has others */
/* Who joins is noticed, if tasks may, until before the tracer is switched off.  0 or -errno. */
int session_follow_tasks(Session *s);
void session_unfollow_tasks(Session *s);
/* What it costs from now on is held against its limits: one that was passed, and why it is to end; or none. */
void session_begin_guard(Session *s);
SessionLimit session_look_at_cost(Session *s, char text[static GUARD_TEXT_MAX]);

/* --- session-hooks.c --------------------------------------------------------------------------- */

/* Its control files, now. */
bool session_is_watched(const Session *s);
/* After a change between RECORDING and ARMED.  @since_ns: CLOCK_MONOTONIC, when its trigger fired; 0:
 * before this daemon. */
void session_hooks_follow(Session *s, uint64_t since_ns);
/* A task: hooks what is to be hooked by now, for a session that records (controller_rehook()). */
void session_hooks_change(Session *s, LeanScope scope, const Load *load, HookReason reason);
/* While a task changes it: a look at the control files finds half of it, and a line that is written to
 * set_ftrace_filter meanwhile may undo the change. */
bool session_hooks_are_changing(const Session *s);
/* True if it changes or has to. */
bool session_hooks_are_due(const Session *s);
/* Before a recording ends: what it lacks. */
void session_hooks_interrupt(Session *s);

/* --- session-lean.c ---------------------------------------------------------------------------- */

/* It records, and all that it needs is hooked.  0 or -errno. */
int session_lean_begin(Session *s);
/* Hooks less from now on, because it costs the host more than it may: whether there is anything to leave out. */
bool session_lean_shed(Session *s);
/* The readers have ended, the tracer is still there; the learning pass goes on without both. */
void session_lean_end(Session *s);
/* Ends a learning pass without an answer. */
void session_lean_done(Session *s);

/* --- session-snapshot.c ------------------------------------------------------------------------ */

/* The readers may have done what it waits for.  Whether it is at its end. */
bool session_snapshot_look(Session *s);
/* Whoever asked is told, and the session goes on as before; one that was not made is cancelled.  They may ask for
 * the next. */
void session_end_snapshot(Session *s);
/* Whoever made a cut, a reader or a timer. */
void session_look_at_cuts(void *userdata);

/* --- session-listen.c -------------------------------------------------------------------------- */

const char *rule_text(const Rule *r);
TriggerCount *rule_count(const Rule *r);
/* What the kernel does by itself when it fires: recording on (1), off (0), nothing (-1). */
int rule_switch(const Rule *r);
/* Listens, and accounts for what happened while it did not. */
void rule_listen(Rule *r);
void rule_end_listening(Rule *r);
/* Its end was asked for while hooks changed: one that stayed may have switched recording on again. */
void session_take_left_switches(Session *s);
/* Before anything is programmed.  0, REFUSED, -errno. */
int session_make_triggers(Session *s, Refusal *refusal);
/* Before recording is switched off for good: listens no more.  Not freed: a rule may be what ends the session. */
void session_end_triggers(Session *s);
/* Before the tracer is disarmed, which notifiers in use would hinder; never from within a trigger. */
void session_free_triggers(Session *s);

/* --- session-run.c ---------------------------------------------------------------------------- */

/* ARMED or just programmed becomes RECORDING; 0 or -errno and *@ret_what that failed. */
int session_go(Session *s, const char **ret_what);
/* Of that, for when all is hooked: looks after its control files, and learns. */
int session_begin_watch(Session *s, const char **ret_what);
/* RECORDING becomes ARMED again; what was recorded becomes a snapshot. */
void session_pause(Session *s, const char *reason);
/* What a session that records needs from when it does: its control files watched, timers, what is to be hooked.
 * @since_ns: session_hooks_follow().  0 or -errno and *@ret_what that failed. */
int session_look_after(Session *s, uint64_t since_ns, const char **ret_what);
/* The readers have ended, and session_stop() was called.  A task: putting the kernel back takes it a while. */
void session_finish(void *userdata);
/* Why a session has no live parts any more. */
typedef enum TakeDown {
        TAKE_DOWN_ENDED,    /* the kernel is put back; who waits for the disk is told later */
        TAKE_DOWN_UNDONE,   /* its start failed: as if it had never been */
        TAKE_DOWN_LEFT,     /* another daemon goes on with what is in the kernel */
        TAKE_DOWN_GIVEN_UP, /* it cannot be taken up: controller_settle() undoes what it stands for */
} TakeDown;
/* All of them, in the one order that there is, as far as they are there.  0, or -errno of putting the kernel back,
 * which is tried again. */
int session_take_down(Session *s, TakeDown how);

/* --- session-trigger.c ------------------------------------------------------------------------- */

/* Listens to its rules when all is programmed; to what an earlier daemon had hung too, whatever rang meanwhile.
 * 0 or -errno. */
int session_begin_triggers(Session *s, bool is_adopted);
/* After a change of state, and when a snapshot is done. */
void session_look_at_triggers(Session *s);
/* Hooks have settled: does what was put off. */
void session_triggers_hooked(Session *s);

/* --- session-live.c ---------------------------------------------------------------------------- */

int session_make_recorder(Session *s);
int session_make_health(Session *s);
/* Once the readers have the sequence that they begin or go on with.  @symbols_ns: when its symbols were looked at, on the
 * trace clock; 0: by an earlier daemon. */
int session_make_rotation(Session *s, const ClockTuple *now, uint64_t symbols_ns);
/* When it may have been full before there was a daemon. */
void session_on_recorder(void *userdata);
/* A TracerQuiesced. */
void session_on_quiesced(uint64_t from_ns, uint64_t to_ns, void *userdata);

/* --- session-adopt.c --------------------------------------------------------------------------- */

/* Adds all CPUs of the session to its recorder, with what is in their pipes and half pages, as @live says that an
 * earlier daemon left them; what is missing becomes gaps and warnings of its metadata.  0 or -errno. */
int session_take_cpus(Session *s, const Live *live);
