/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * What a live session notices: losses and what others do (health.c; tamper.h), what it costs (guard.c, host-load.c,
 * bystander-watch.c); what is learned (learning-pass.c) and kept of it meanwhile (live.c, tracing-copy.c, owner-look.c, snapshot.c).
 */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/unit.h"
#include "daemon/instances/instance.h"
#include "daemon/lean/lean.h"
#include "daemon/record/recorder.h"
#include "daemon/tracer/controller.h"
#include "meta/event-choice.h"
#include "meta/meta.h"
#include "retention/boot-clock.h"
#include "store/session-dir.h"
#include "store/store.h"

/*
 * Health: what is wrong with a live session, and what it lacks for that
 *
 * Keeps three members of the session's metadata up to date: the CPUs' accounts, the conditions ("degraded": the disk is
 * full, somebody switched tracing off) and the gaps that come of them: a condition is what the readers, the control files
 * and the kernel's counters say.  A look is a task, for while another one waits for the kernel its files do not open.
 *
 * Where a loss lies is known to about HEALTH_LOOK_S: an overrun between the look at which the CPU's pages were last
 * seen to move and the look that found it, and what others do between the last look at which the file was right and the
 * one that saw it.
 */

#define HEALTH_LOOK_S 4 /* between looks */
#define HEALTH_STUCK_S 10 /* a disk that has not answered for so long is said to be stuck */
#define HEALTH_HUNG_S 20  /* a reader that does not move for so long, for no reason, never will */

typedef struct Health Health;

typedef struct HealthConfig {
        sd_event *event;
        Background *background; /* a look is one of its tasks */
        SessionMeta *meta;
        Recorder *recorder;
        Tracer *tracer;
        const char *store; /* its path, for sentences */
        /* Conditions or gaps are others than before, or a look is due: if modules came or went, health_hold_hooks(). */
        void (*changed)(bool is_new, void *userdata);
        /* HEALTH_LOOK_S have passed and all that is looked at then was; may end the session. */
        void (*looked)(void *userdata);
        void *userdata;
} HealthConfig;

/* The accounts in config->meta are where the session begins or goes on: what the kernel and the readers count beyond
 * them is noted by the next health_refresh().  Everything in @config is borrowed.  0 or -errno. */
int health_new(Health **ret, const HealthConfig *config);
/* The @i-th CPU's pages are stored up to @stored_ns, of a session that is taken up: what was lost
 * meanwhile is behind it. */
void health_resume(Health *h, size_t i, uint64_t stored_ns);
/* Begins to watch for others and to look at intervals; recording is on already.  Again after
 * health_end_watch().  0 or -errno. */
int health_watch(Health *h);
/* The look that is due at the next interval, at once. */
void health_look_soon(Health *h);
/* Brings the accounts up to date, and the gaps with them; whether there are new ones.  While the tracer is held up they
 * stay as they are. */
bool health_refresh(Health *h);
/* The readers' errors may be others than before. */
void health_look_at_disk(Health *h);
/* Something is wrong, or well again, that others noticed: whether that is news. */
bool health_set_condition(Health *h, GapCause cause, const char *reason);
bool health_clear_condition(Health *h, GapCause cause);
/* A gap from the last look of all to now. */
void health_note_gap(Health *h, GapCause cause);
/* Pages that were stored are lost: the caller notes it in the metadata.  The trace clock's time. */
uint64_t health_note_lost(Health *h, uint32_t cpu, uint64_t n_pages);
/* The tracer was quiesced (daemon/instances/instance.h), in its clock. */
void health_note_quiesce(Health *h, uint64_t from_ns, uint64_t to_ns);
/* CPU time that the looks at intervals took so far. */
uint64_t health_cpu_ns(const Health *h);
/* Recording is about to be switched off: what others do from now on is their business. */
void health_end_watch(Health *h);
/* The same without a last look: what it would find is the kernel's doing at our behest. */
void health_drop_watch(Health *h);
/* In between the daemon writes which functions are hooked; all else is watched meanwhile.  The latter also where
 * nothing was watched before: 0 or -errno. */
void health_hold_hooks(Health *h);
int health_release_hooks(Health *h);
/* The loop itself has just written them, between two looks. */
void health_renew_hooks(Health *h);
/* True if a reader has not moved for HEALTH_HUNG_S and more, and no disk holds it up. */
bool health_is_hung(const Health *h);
/* The readers have ended: the last accounts, and the end of what is open. */
void health_finish(Health *h);
/* A sentence for whoever looks, in the log and in the metadata; each once. */
void health_warn(SessionMeta *m, const char *format, ...) _printf_(2, 3);
Health *health_free(Health *h);
DEFINE_CLEANUP(Health *, health_free);

/*
 * Guard: when a session costs the host more than it may
 *
 * Pure: it is given running totals and says whether a limit was passed.  There are two windows, so
 * that a short burst, which every workload has, ends nothing, and a flood does not last:
 *
 *      sustained   the mean over the last GUARD_WINDOW_NS is above the limit
 *      flood       the mean over the last GUARD_FLOOD_NS is above GUARD_FLOOD times the limit
 *
 * Looks come when they come (health.c, and sooner the more is stored: guard_look_bytes()), so
 * a window is the shortest time between two looks that is at least as long.
 */

#define GUARD_WINDOW_NS (10 * NSEC_PER_SEC)
#define GUARD_FLOOD_NS (NSEC_PER_SEC / 2)
#define GUARD_FLOOD 4U
#define GUARD_SAMPLES 32 /* one in GUARD_FLOOD_NS at most, so more than GUARD_WINDOW_NS */

/* Totals since the session began, at a moment of CLOCK_MONOTONIC. */
typedef struct GuardSample {
        uint64_t at_ns;
        uint64_t totals[_SESSION_LIMIT_N]; /* events that the kernel recorded or had no room for; bytes of
                                              pages stored; us that the daemon spent on the session */
} GuardSample;

typedef struct Guard {
        uint64_t limits[_SESSION_LIMIT_N];  /* a second; 0: none */
        GuardSample samples[GUARD_SAMPLES]; /* a ring, in which n_samples were written in all */
        uint64_t n_samples;
} Guard;

/* What passed a limit. */
typedef struct GuardVerdict {
        SessionLimit kind;
        uint64_t rate, limit; /* a second; of a flood the limit that counts for it */
        uint64_t window_ns;   /* in which it was seen */
} GuardVerdict;

/* With the limits of @spec, in which 0 and SPEC_UNLIMITED are none, and the totals of now. */
void guard_init(Guard *g, const Spec *spec, const GuardSample *now);
/* Compares with what was before: 0, or GUARD_E_PASSED and *@ret.  Totals that go backwards count as no change. */
enum { GUARD_E_PASSED = 1 };
int guard_look(Guard *g, const GuardSample *now, GuardVerdict *ret);
/* After how many stored bytes the next look is due, if it does not come anyhow; UINT64_MAX: none. */
uint64_t guard_look_bytes(const Guard *g);
#define GUARD_TEXT_MAX 192
/* "1,203,441 events a second over 10 s, more than the 1,000,000 that MaxEventRate= allows; ..." */
char *guard_sentence(char text[static GUARD_TEXT_MAX], const GuardVerdict *v);

/*
 * HostLoad: whether this host does another thing than a while ago
 *
 * By /proc/stat, which costs next to nothing to read: time that CPUs were not idle, and changes of tasks.
 */

typedef struct HostLoadSample {
        uint64_t at_ns, busy_ns, n_switches;
} HostLoadSample;

typedef struct HostLoad {
        HostLoadSample last;
        double busy, switches;             /* a second, between the last two samples */
        double usual_busy, usual_switches; /* what it is compared with; < 0: not known yet */
        unsigned n_less;                   /* looks that found less, one after the other */
} HostLoad;

#define HOST_LOAD_INIT ((HostLoad){ .usual_busy = -1 })
#define HOST_LOAD_LESS_LOOKS 10 /* that have to agree that it does less, since work pauses */

typedef enum HostLoadChange { HOST_LOAD_SAME, HOST_LOAD_MORE, HOST_LOAD_LESS } HostLoadChange;

/* @now: text of /proc/stat */
HostLoadSample host_load_parse(const char *text, uint64_t at_ns);
/* Compares what has been since the last sample with what is usual: what there was the first time, or the last time
 * that it was more or less. */
HostLoadChange host_load_add(HostLoad *l, const HostLoadSample *now);
/* Reads /proc/stat and adds it; HOST_LOAD_SAME without it.  @is_own: what was done since is not the host's, but ours. */
HostLoadChange host_load_look(HostLoad *l, bool is_own);

/*
 * Learning pass: learn from what a session has stored so far
 *
 *      segments ──worker──> functions under the roots ──> STORE/lean/KEY
 */

typedef struct LearningPass LearningPass;

/* @n_calls: of the roots, that it was learned from.  @error: 0, or -errno (it has been logged).  The learning pass may
 * be freed meanwhile. */
typedef void (*LearningPassDone)(uint64_t n_calls, int error, void *userdata);

/*
 * learning_pass_start()
 * @dir, @m: of the session; not needed after the call
 * @from_ns, @to_ns: trace clock; what was recorded before is known already, and later not all was hooked
 *
 * Return: 0; -ENODATA: nothing was stored; -errno.
 */
int learning_pass_start(LearningPass **ret, sd_event *event, Controller *c, const SessionDir *dir,
                        const SessionMeta *m, uint64_t from_ns, uint64_t to_ns,
                        LearningPassDone done, void *userdata);
/* Ends it without an answer. */
LearningPass *learning_pass_free(LearningPass *l);
DEFINE_CLEANUP(LearningPass *, learning_pass_free);

/* Has the calls counted that a session has stored from @from_ns up to @to_ns: the newest segments of all CPUs, then the
 * ones before, as long as they are not too much.  0; -ENODATA: nothing was stored; -errno. */
int stored_pages_count(Learner **ret, sd_event *event, const SessionDir *dir, uint64_t from_ns,
                       uint64_t to_ns, LearnerDone done, void *userdata);

/*
 * Bystander watch: looks for a moment at what others call of what is hooked
 *
 *      call sample ──worker──> calls of each function ─┐
 *                                                      ├─ difference: others' calls
 *      segments ────worker──> calls below the roots ───┘
 *
 * While the sample is taken, CALL_SAMPLE_MS, these functions are hooked once more; it is not while a tracer of
 * somebody else is on.  Where few of the calls are the session's own they are not told apart, since that takes until
 * they are stored.
 */

typedef struct BystanderWatch BystanderWatch;

/* @load: what others call, which may be taken away; NULL and @error: it is not known (-EBUSY: somebody else traces).
 * The watch may be freed meanwhile. */
typedef void (*BystanderWatchDone)(Load *load, int error, void *userdata);

/* All borrowed until the session has ended or the watch is freed. */
typedef struct BystanderWatchConfig {
        sd_event *event;
        Background *background; /* the sample is a task */
        Controller *controller;
        SessionMeta *meta; /* of a session that records; own_work is added to */
        const Tracer *tracer;
        const SessionDir *dir;
        BystanderWatchDone done;
        void *userdata;
} BystanderWatchConfig;

/* 0 or -ENOMEM. */
int bystander_watch_start(BystanderWatch **ret, const BystanderWatchConfig *config);
/* Ends it without an answer. */
BystanderWatch *bystander_watch_free(BystanderWatch *w);
DEFINE_CLEANUP(BystanderWatch *, bystander_watch_free);

/*
 * Live: what the next daemon has to know of a session that records, beside session.json
 *
 * The file "live.json" in the session's directory, there while the session is live:
 *
 *      { "version": 1, "attached": false, "held": true, "left": false,
 *        "cpus": [ { "cpu": 0, "last": [0, 0, 0, 812], "sum": [0, 0, 0, 812] } ] }
 *
 * A daemon takes up what has its own version or an older one.  A newer one it ends, with all that
 * was recorded: raise LIVE_VERSION when an older daemon going on would do harm.
 */

#define LIVE_NAME "live.json"

#ifndef LIVE_VERSION /* tests build a daemon of the future */
#define LIVE_VERSION 1
#endif

typedef struct LiveCpu {
        uint32_t cpu;
        InstanceCounters counters; /* of the kernel, where its account goes on */
} LiveCpu;

typedef struct Live {
        uint32_t version;
        bool attached; /* it ends with the connection that started it */
        bool held;     /* the service manager holds its descriptors */
        bool left;     /* its daemon left in order: nothing was in a pipe */
        LiveCpu *cpus; /* n_cpus of them */
        size_t n_cpus;
} Live;

void live_done(Live *l);
#define _cleanup_live_ _cleanup_(live_done)

/* Writes it as of LIVE_VERSION, atomically.  0 or -errno. */
int live_write(const SessionDir *dir, const Live *l);
/* Return: 0, LIVE_E_NEWER (only the version is filled), LIVE_E_INVALID, -ENOENT, other -errno. */
enum { LIVE_E_INVALID = 1, LIVE_E_NEWER = 2 };
int live_read(const SessionDir *dir, Live *ret);
void live_remove(const SessionDir *dir);
/* True if that session may be live, without a look at its session.json: one that is has this file, or its reserve
 * (daemon/upkeep/upkeep.h), until it has ended. */
bool live_may_be(const Store *store, const char *name);

/*
 * Tracing copy: what decoding needs of tracefs, kept with the recording
 *
 * So that a session can be drawn on another machine, with another kernel, in
 * ten years.  Stored below sessions/NAME/tracing, paths as in tracefs.
 */

/* Formats, header_page, options: once armed.  @m: tells what is recorded beside the calls.  0 or -errno;
 * *@ret_path is what it failed at, a constant. */
int tracing_copy_begin(SessionDir *dir, Tracer *tracer, const SessionMeta *m,
                       const char **ret_path);
/* What is complete only after the recording, and as complete as it is before: names of tasks.  @synced: as
 * session_dir_write_tracing_synced(). */
int tracing_copy_end(SessionDir *dir, Tracer *tracer, bool synced, const char **ret_path);

/*
 * Maps look: which files processes have mapped as code, into the session's tracing/maps (spaces/spaces.h)
 *
 * What is mapped later is told by events (daemon/instances/instance.h).  16,384 processes, 65,536 mappings, 4,096 of a
 * process and 8 MiB at most.
 */
#define MAPS_SOCKET RUNSTATEDIR "/ftraced-maps/socket"

/* Adds the lines of all processes below @root_fd, or, if @only is not -1, of those whose maps that user may read, and
 * "end", but no look.  0 or -errno. */
int maps_look(int root_fd, uid_t only, Buf *out);
/* Answers who is connected by @fd: the whole of "ftraced --maps".  0 or -errno. */
int maps_serve(int fd);
/* Before privileges are dropped: if this process may look at others' maps, a child keeps that.  0 or -errno. */
int maps_reader_start(void);
/* Adds the same, without "end", as the child or else the service tells it.  0; -ETIMEDOUT; -ENOENT, -ECONNREFUSED: there is
 * none; -errno. */
int maps_ask(uid_t only, Buf *out);
/* Whether that is all, up to "end", of which parts come; and whether what has been told lacks something. */
bool maps_are_whole(const Buf *answer);
bool maps_are_partial(const Buf *maps);
const char *maps_reader(void); /* who is asked */

/*
 * Stacks: who opens what copies them (spaces/stack-copies.h; daemon/record/stack-copier.h)
 */
#define STACKS_SOCKET RUNSTATEDIR "/ftraced-stacks/socket"

/* What is asked, one after the other; each is answered with an i32, 0 or -errno, and with a descriptor if it is 0. */
typedef struct StackAsk {
        uint32_t n_bytes, every;
        int32_t clock; /* CLOCK_MONOTONIC, CLOCK_BOOTTIME; -1: the kernel's local one */
        int32_t pid;   /* a thread, with whom it forks; -1: all */
        uint32_t cpu;
        uint32_t of_group; /* the descriptor of a control group comes along: of its tasks */
        char event[EVENT_WORD_MAX + 1];
} StackAsk;

/* Whether it may be asked for, by its name alone; within @n_max bytes. */
bool stack_event_is_valid(const char *name, size_t n_max);
/* Answers who is connected by @fd: the whole of "ftraced --stacks".  0 or -errno. */
int stacks_serve(int fd);
/* Before privileges are dropped: if this process may open such events, a child keeps that.  0 or -errno. */
int stacks_opener_start(void);
/* A descriptor to ask by, of the child or else the service; -ENOENT, -ECONNREFUSED: there is none; -errno. */
int stacks_connect(void);
/* An event's descriptor, or -errno.  @group_fd: of @ask->of_group. */
int stacks_ask(int fd, const StackAsk *ask, int group_fd);
const char *stacks_opener(void); /* who is asked */

/*
 * Owner look: whose tasks are now, added to the session's tracing/owners (owner/owners.h)
 *
 * Some 50 us a task, away from the loop (daemon/process/background.h).  At most 65,536 tasks are looked at; a file that
 * has become too large begins anew.
 */

typedef struct OwnerClock {
        ClockTuple at; /* read just before */
        bool is_ns;    /* the trace clock counts nanoseconds */
        uint64_t ticks_per_s; /* of /proc/PID/stat */
} OwnerClock;

/* @root_fd: where proc/ and sys/ are; @with_names: of containers, which only root may read.  0 or -errno. */
int owner_look(SessionDir *dir, int root_fd, const OwnerClock *clock, bool with_names);
/* The files of @from, that and maps, if it has them. */
int owner_copy(SessionDir *dir, const SessionDir *from);

/*
 * Snapshot: what a session has stored so far, as a session of its own
 *
 * Its segments are hard links: nothing is copied, and each of the two may be sealed, dropped or
 * removed as if the other did not exist.
 */

typedef struct SnapshotConfig {
        Store *store;
        const SessionMeta *origin;
        const SessionDir *dir; /* the origin's */
        Tracer *tracer;
        uint64_t end_sequence; /* segments below this are complete, and taken */
        ClockTuple stop;       /* the moment until which they reach */
        const char *reason;
} SnapshotConfig;

/*
 * snapshot_make()
 * @ret_name: of the new session, ORIGIN-snap-N; the caller frees
 *
 * Return: 0, SNAPSHOT_E_EMPTY (nothing is stored; there is no new session), -errno (nor is there).
 */
enum { SNAPSHOT_E_EMPTY = 1 };
int snapshot_make(char **ret_name, const SnapshotConfig *config);

/* What @origin's metadata says that holds of session @name, too, which is made of what @origin stored; its id is its
 * own.  0 or -errno. */
int snapshot_copy_meta(SessionMeta **ret, const SessionMeta *origin, const char *name);
