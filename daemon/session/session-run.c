/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session from its first page to its end, and the parts that it has meanwhile; session-start.c is how
 * it begins.  Stopping has two halves: session_stop() switches recording off and tells the readers; when
 * the last reader has drained its CPU, session_finish() takes the accounts, puts the kernel back and
 * writes the end down; what it is told as kept is on the disk then (session-sync.c).  In between the main
 * loop is free.
 */

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/record/recorder.h"
#include "daemon/session/session-private.h"
#include "daemon/watch/health.h"

#define KEEP_NS (10 * NSEC_PER_SEC)

/* --- while it records ------------------------------------------------------------------------ */

/* Whether the disk refuses pages, and the session is not to wait for it. */
static bool session_is_refused(const Session *s) {
        return s->meta->spec.on_full == SPEC_ON_FULL_STOP &&
               (conditions_find(&s->meta->degraded, GAP_NO_SPACE) ||
                conditions_find(&s->meta->degraded, GAP_DISK_FAILED));
}

/* A full disk: a ring drops its oldest rather than lose what comes. */
static void session_make_room(Session *s) {
        if (s->rotation && conditions_find(&s->meta->degraded, GAP_NO_SPACE) &&
            rotation_make_room(s->rotation) > 0)
                session_save(s);
}

void session_on_health(bool is_new, void *userdata) {
        Session *s = userdata;

        session_make_room(s);
        if (s->meta->state == SESSION_RECORDING)
                session_look_at_modules(s); /* here, so that nothing else has to wake the daemon */
        if (is_new || !s->is_saved)
                session_save(s);
        if (is_new)
                session_tell(s);
}

/* What is in the kernel alone costs nothing but its hooks, and a snapshot is a burst. */
static void session_look_at_guard(Session *s) {
        char text[GUARD_TEXT_MAX];
        SessionLimit limit;

        if (s->meta->state != SESSION_RECORDING || s->is_leaving || s->meta->spec.in_kernel ||
            session_guard_look(&s->guard, text, &limit) != GUARD_E_PASSED)
                return;
        if (session_lean_shed(s->lean)) {
                log_warning("Session '%s' costs too much and hooks no leaves any more: %s.",
                            s->meta->name, text);
                health_warn(s->meta, "functions that call nothing are not hooked any more: %s",
                            text);
                session_guard_begin(&s->guard); /* what it costs from now on counts */
                return;
        }
        log_warning("Session '%s' costs too much and ends: %s.", s->meta->name, text);
        s->meta->limit = limit;
        session_stop(s, text);
}

/* What whoever rescues it after a crash has to know: the names of tasks, of which the kernel keeps the latest alone,
 * and on which CPUs there was anything. */
static void session_keep_for_crash(Session *s) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (!s->meta->spec.black_box || s->meta->state != SESSION_RECORDING ||
            now < s->next_keep_ns)
                return;
        s->next_keep_ns = now + KEEP_NS;
        session_save_tasks(s);
        if (controller_note_in_memory(s->context->controller, s->meta))
                session_save(s);
}

void session_on_look(void *userdata) {
        Session *s = userdata;

        if (!session_hooks_change(s->hooks)) /* else the next time */
                session_roots_look(s->roots);
        session_look_at_guard(s);
        session_keep_for_crash(s);
}

/* One that waits armed loses nothing, and nobody watches its files. */
void session_on_quiesced(uint64_t from_ns, uint64_t to_ns, void *userdata) {
        Session *s = userdata;

        if (s->health && s->meta->state == SESSION_RECORDING)
                health_note_quiesce(s->health, from_ns, to_ns);
}

static int session_on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;
        char text[UNIT_TEXT_MAX], reason[64];

        (void) snprintf(reason, sizeof(reason), "duration reached: %s",
                        format_duration(text, s->meta->spec.duration_ns));
        session_stop(s, reason);
        return 0;
}

/* Whoever made a cut, a reader or a timer. */
static void session_look_at_cuts(Session *s) {
        ClockTuple now;

        if (s->rotation && tracer_read_clocks(s->tracer, &now) >= 0 &&
            rotation_look(s->rotation, &now) > 0)
                session_on_change(s);
}

static void session_on_cut(void *userdata) {
        session_look_at_cuts(userdata);
}

/* --- snapshots -------------------------------------------------------------------------------- */

/* Whoever asked is told, and the session goes on as before; one that is not made is cancelled. */
static void session_end_snapshot(Session *s) {
        SessionSnapshot *p = TAKE_PTR(s->snapshot);
        int r = 0;

        if (!p)
                return;
        if (s->meta->state == SESSION_RECORDING && !s->is_leaving && session_snapshot_thaw(p) &&
            !session_hooks_are_due(s->hooks)) /* or when they are there */
                r = health_watch(s->health);
        if (r < 0)
                log_warning_errno(r, "Session '%s' is not watched any more: %m", s->meta->name);
        session_snapshot_end(p);
}

static void session_look_at_snapshot(Session *s) {
        if (!s->snapshot || !session_snapshot_look(s->snapshot))
                return;
        session_forget_disk_bytes(s);
        session_end_snapshot(s);
        session_triggers_look(s->triggers);
        session_tell(s);
}

/* Whether its owner may store more: 0, -EDQUOT (which is told), other -errno. */
static int session_admit_snapshot(Session *s) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = s->context->admit(s, &refusal, s->context->userdata);

        if (r != REFUSED)
                return r;
        log_notice("Session '%s': no snapshot is kept: %s.", s->meta->name,
                   refusal_message(&refusal));
        session_warn(s, "snapshots were not kept: its owner's sessions take what MaxStored= in "
                        "[Members] of ftraced.conf allows");
        return ORIGIN(-EDQUOT);
}

static void log_kept(Session *made, void *userdata) {
        const SessionMeta *m = made->meta;

        log_info("Session '%s': kept as '%s' (%s).", m->origin, m->name, m->reason);
}

static int session_on_snapshot(Session *s, const char *name, Session **ret) {
        int r;

        session_save(s);
        r = s->context->found(name, ret, s->context->userdata);
        if (r >= 0 && session_when_synced(*ret, log_kept, NULL) < 0)
                log_kept(*ret, NULL);
        return r;
}

int session_snapshot(Session *s, const char *reason, SnapshotDone done, void *userdata) {
        int r;

        if (s->snapshot)
                return session_snapshot_add(s->snapshot, done, userdata);
        if (!s->recorder || s->is_leaving ||
            (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED))
                return ORIGIN(-EINVAL);
        r = session_admit_snapshot(s);
        if (r < 0)
                return r;
        r = session_snapshot_begin(&s->snapshot,
                                   &(SessionSnapshotConfig){
                                           .store = s->context->store,
                                           .uptime = &s->context->uptime,
                                           .meta = s->meta,
                                           .dir = s->dir,
                                           .recorder = s->recorder,
                                           .rotation = s->rotation,
                                           .tracer = s->tracer,
                                           .health = s->health,
                                           .session = s,
                                           .cut = session_look_at_cuts,
                                           .made = session_on_snapshot,
                                   },
                                   reason, done, userdata);
        if (r >= 0)
                session_look_at_modules(s);
        return r;
}

/* --- triggers, and what is hooked ---------------------------------------------------------------------------- */

/* Not while the kernel's buffer is being moved: nobody watches its files then. */
static bool session_is_watched(const Session *s) {
        return s->meta->state == SESSION_RECORDING && !(s->snapshot && s->meta->spec.in_kernel);
}

static void session_on_settled(Session *s) {
        session_triggers_hooked(s->triggers);
        if (session_is_live(s) && s->dir)
                session_save(s);
}

static void session_on_rehook(Session *s, LeanScope scope, const Load *load, HookReason reason) {
        if (!session_is_watched(s))
                return;
        session_hooks_rehook(s->hooks, scope, load, reason);
        session_triggers_hooked(s->triggers);
}

void session_on_crowded(void *userdata) {
        Session *s = userdata;

        if (!session_is_watched(s))
                return;
        session_hooks_list(s->hooks);
        session_triggers_hooked(s->triggers);
}

int session_trigger(Session *s, const char *who) {
        return session_triggers_command(s->triggers, who);
}

bool session_signal(Session *s) {
        return session_triggers_signal(s->triggers);
}

int session_when_hooked(Session *s, SessionHooked done, void *userdata) {
        return s->hooks ? session_hooks_await(s->hooks, done, userdata) : -EINVAL;
}

bool session_is_learned(const Session *s) {
        return session_lean_is_busy(s->lean);
}

/* --- what the readers say --------------------------------------------------------------------- */

void session_on_recorder(void *userdata) {
        Session *s = userdata;

        if (s->is_finishing)
                return;
        health_look_at_disk(s->health);
        if (s->is_leaving)
                return;
        session_look_at_snapshot(s);
        if (session_is_refused(s) && s->meta->state == SESSION_RECORDING)
                session_stop(s, "the disk took no more pages (OnFull=stop)");
        session_look_at_cuts(s);
        if (recorder_wants_look(s->recorder) && s->meta->state == SESSION_RECORDING) {
                if (health_refresh(s->health))
                        session_save(s);
                session_look_at_guard(s);
        }
        if (recorder_is_full(s->recorder) && s->meta->state == SESSION_RECORDING) {
                char text[UNIT_TEXT_MAX], reason[64];

                (void) snprintf(reason, sizeof(reason), "max-size reached: %s",
                                format_bytes(text, s->meta->spec.max_bytes));
                session_stop(s, reason);
        }
        if (recorder_has_ended(s->recorder) && s->meta->state == SESSION_DRAINING) {
                s->is_finishing = true;
                if (background_run(s->context->background, session_finish, s) < 0)
                        session_finish(s); /* the loop waits */
        }
}

/* --- stopping --------------------------------------------------------------------------------- */

void session_stop(Session *s, const char *reason) {
        int r;

        if (s->is_leaving || !s->recorder ||
            (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED))
                return;

        session_hooks_interrupt(s->hooks);
        session_triggers_end(s->triggers);
        session_clock_look(s->clock);
        s->clock = session_clock_free(s->clock);
        health_end_watch(s->health);
        r = tracer_set_recording(s->tracer, false);
        if (r < 0)
                log_error_errno(r, "Cannot switch recording off for session '%s': %m; going on.",
                                s->meta->name);
        s->following = following_free(s->following);
        (void) tracer_read_clocks(s->tracer, &s->meta->stop);
        if (s->meta->start.realtime_ns == 0)
                s->meta->start = s->meta->stop; /* it never recorded */
        s->deadline = sd_event_source_disable_unref(s->deadline);
        session_look_at_modules(s);

        session_enter(s, SESSION_EVENT_STOP, reason);
        session_save(s);
        session_end_snapshot(s);
        recorder_stop(s->recorder);
        session_tell(s);
}

static void session_pause(Session *s, const char *reason) {
        int r;

        if (s->meta->state != SESSION_RECORDING || s->is_leaving)
                return;
        session_hooks_interrupt(s->hooks);
        health_end_watch(s->health);
        r = tracer_set_recording(s->tracer, false);
        if (r < 0)
                log_error_errno(r, "Cannot switch recording off for session '%s': %m; going on.",
                                s->meta->name);
        recorder_set_held(s->recorder, true);
        session_enter(s, SESSION_EVENT_PAUSE, NULL);
        r = session_snapshot(s, reason, NULL, NULL);
        if (r < 0)
                session_warn(s, "what was recorded could not be kept apart: %s", origin_text(r));
        session_hooks_follow(s->hooks, 0);
        session_on_change(s);
}

/* --- leaving ---------------------------------------------------------------------------------- */

bool session_leave(Session *s) {
        if (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED)
                return false;
        session_end_snapshot(s);
        if (s->peer != 0) {
                session_stop(s, "the daemon was restarted, and its client's connection ended");
                return false;
        }
        s->is_leaving = true;
        session_triggers_leave(s->triggers);
        recorder_leave(s->recorder);
        return true;
}

/* --- its parts -------------------------------------------------------------------------------- */

static int session_make_rotation(Session *s, const ClockTuple *now) {
        return rotation_new(&s->rotation,
                            &(RotationConfig){
                                    .event = s->context->event,
                                    .dir = s->dir,
                                    .meta = s->meta,
                                    .recorder = s->recorder,
                                    .segment_ns = s->meta->spec.segment_ns,
                                    .ring_bytes = session_ring_bytes(s),
                                    .cut = session_on_cut,
                                    .userdata = s,
                            },
                            now);
}

static int session_make_roots(Session *s, uint64_t symbols_ns) {
        return session_roots_new(&s->roots,
                                 &(SessionRootsConfig){
                                         .meta = s->meta,
                                         .tracer = s->tracer,
                                         .health = s->health,
                                         .symbols = s->context->symbols,
                                         .symbols_fd = store_symbols_fd(s->context->store),
                                         .seen_ns = symbols_ns,
                                         .session = s,
                                         .save = session_on_save,
                                         .changed = session_on_change,
                                         .lost = session_stop,
                                 });
}

static int session_on_hooked(Session *s, const char **ret_what) {
        int r;

        *ret_what = "watching the control files of tracefs";
        r = session_is_watched(s) ? health_watch(s->health) : 0;
        if (r >= 0) {
                *ret_what = "setting the timer of learning";
                r = session_lean_begin(s->lean);
        }
        return r;
}

static void session_on_not_hooked(Session *s) {
        session_stop(s, "its trigger fired, and it could not record");
}

static int session_make_hooks(Session *s) {
        return session_hooks_new(&s->hooks, &(SessionHooksConfig){
                                                    .session = s,
                                                    .background = s->context->background,
                                                    .controller = s->context->controller,
                                                    .meta = s->meta,
                                                    .tracer = s->tracer,
                                                    .health = s->health,
                                                    .is_watched = session_is_watched,
                                                    .hooked = session_on_hooked,
                                                    .failed = session_on_not_hooked,
                                                    .settled = session_on_settled,
                                                    .rehooked = session_on_change,
                                                    .changed = session_tell,
                                            });
}

static int session_make_lean(Session *s) {
        const Limits *limits = s->context->limits;

        return session_lean_new(&s->lean,
                                &(SessionLeanConfig){
                                        .event = s->context->event,
                                        .background = s->context->background,
                                        .controller = s->context->controller,
                                        .recorder = s->recorder,
                                        .dir = s->dir,
                                        .meta = s->meta,
                                        .tracer = s->tracer,
                                        .widen_us = limits ? limits->relearn_ns / NSEC_PER_USEC : 0,
                                        .session = s,
                                        .rehook = session_on_rehook,
                                        .changed = session_tell,
                                });
}

int session_make_parts(Session *s, const ClockTuple *now, uint64_t symbols_ns) {
        int r = session_make_rotation(s, now);

        s->guard = (SessionGuard){
                .meta = s->meta, .recorder = s->recorder, .tracer = s->tracer, .health = s->health
        };
        if (r >= 0)
                r = session_make_roots(s, symbols_ns);
        if (r >= 0)
                r = session_make_hooks(s);
        return r < 0 ? r : session_make_lean(s);
}

/* --- recording -------------------------------------------------------------------------------- */

int session_set_deadline(Session *s) {
        const SessionMeta *m = s->meta;
        uint64_t start_us = m->start.boottime_ns / NSEC_PER_USEC,
                 duration_us = m->spec.duration_ns / NSEC_PER_USEC;

        if (duration_us == 0 || s->deadline)
                return 0;
        return sd_event_add_time(s->context->event, &s->deadline, CLOCK_BOOTTIME,
                                 start_us + MIN(duration_us, UINT64_MAX / 4), 1000,
                                 session_on_deadline, s);
}

void session_begin_clock(Session *s) {
        if (!s->clock && session_clock_new(&s->clock, &(SessionClockConfig){
                                                              .event = s->context->event,
                                                              .meta = s->meta,
                                                              .tracer = s->tracer,
                                                              .session = s,
                                                              .changed = session_on_change,
                                                      }) < 0)
                log_error("Session '%s': out of memory; steps of the clock are not noted.",
                          s->meta->name);
}

/* The kernel may have switched it on already, a moment ago. */
static int go_record(Session *s) {
        int r = tracer_set_recording(s->tracer, true);

        if (r >= 0 && s->meta->start.realtime_ns == 0)
                r = tracer_read_clocks(s->tracer, &s->meta->start);
        if (r >= 0 && !s->meta->spec.in_kernel)
                recorder_set_held(s->recorder, false);
        return r;
}

/* Once all is hooked, if it is not. */
static int go_watch(Session *s) {
        return session_hooks_are_due(s->hooks) ? 0 : health_watch(s->health);
}

static int go_learn(Session *s) {
        return session_hooks_are_due(s->hooks) ? 0 : session_lean_begin(s->lean);
}

static const struct {
        int (*step)(Session *s);
        const char *what, *object;
} go_steps[] = {
        { go_record, "writing", "tracing_on" },
        { go_watch, "watching", "the control files of tracefs" },
        { session_set_deadline, "setting", "the timer of its duration" },
        { go_learn, "setting", "the timer of learning" },
};

int session_go(Session *s, const char **ret_what, const char **ret_object) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);

        for (size_t i = 0; i < ELEMENTSOF(go_steps); i++) {
                int r = go_steps[i].step(s);

                if (r < 0) {
                        *ret_what = go_steps[i].what;
                        *ret_object = go_steps[i].object;
                        return r;
                }
        }
        session_enter(s, SESSION_EVENT_START, NULL);
        session_begin_clock(s);
        session_guard_begin(&s->guard);
        session_hooks_follow(s->hooks,
                             since_ns); /* what the roots call is recorded only from then on */
        return 0;
}

/* --- triggers --------------------------------------------------------------------------------- */

static bool session_has_snapshot(const Session *s) {
        return s->snapshot;
}

static int session_on_snap(Session *s, const char *reason) {
        return session_snapshot(s, reason, NULL, NULL);
}

int session_begin_triggers(Session *s, bool is_adopted) {
        return session_triggers_begin(s->triggers,
                                      &(SessionTriggersConfig){
                                              .event = s->context->event,
                                              .meta = s->meta,
                                              .tracer = s->tracer,
                                              .health = s->health,
                                              .hooks = s->hooks,
                                              .has_snapshot = session_has_snapshot,
                                              .session = s,
                                              .go = session_go,
                                              .pause = session_pause,
                                              .stop = session_stop,
                                              .snapshot = session_on_snap,
                                              .counted = session_save,
                                              .changed = session_tell,
                                      },
                                      is_adopted);
}

/* --- the end ---------------------------------------------------------------------------------- */

void session_free_parts(Session *s) {
        s->hold = session_hold_free(s->hold);
        s->roots = session_roots_free(s->roots);
        s->lean = session_lean_free(s->lean);
        s->hooks = session_hooks_free(s->hooks);
}

Session *session_free(Session *s) {
        if (!s)
                return NULL;

        if (s->is_leaving)
                session_end_leaving(s);
        else if (s->recorder) {
                session_stop(s, "the daemon was stopped");
                /* Waits for the threads, whose counters are then final. */
                while (s->recorder && !recorder_has_ended(s->recorder))
                        (void) usleep(1000);
                if (s->recorder)
                        session_finish(s);
        }
        session_sync_settle(s->sync);
        (void) sd_event_source_disable_unref(s->deadline);
        (void) health_free(s->health);
        s->sync = session_sync_free(s->sync);
        (void) session_clock_free(s->clock);
        session_free_parts(s);
        (void) following_free(s->following);
        s->triggers = session_triggers_free(s->triggers);
        (void) session_dir_free(s->dir);
        (void) session_meta_free(s->meta);
        return mfree(s);
}
