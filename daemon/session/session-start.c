/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How a session begins: anew, or from the store.  Starting is one list of steps.  What they did is undone
 * by session_undo() if one of them fails, and by session_finish() at the end.  A session of the store is
 * one that has ended, as its session.json says; or one that an earlier daemon of this boot left recording,
 * which goes on (session-adopt.h).
 */

#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "daemon/process/journal.h"
#include "daemon/record/reader.h"
#include "daemon/session/session-adopt.h"
#include "daemon/session/session-kept.h"
#include "daemon/session/session-origin.h"
#include "daemon/session/session-private.h"
#include "daemon/upkeep/disk-usage.h"
#include "daemon/watch/tracing-copy.h"

static int refuse_errno(Refusal *refusal, int error, const char *what, const char *object) {
        return refusal_set_errno(refusal, error,
                                 "cannot record: %s %s failed: %s; nothing was left changed", what,
                                 object, origin_text(error));
}

/* @what: "making a directory in", or "copying events/header_page to", which may fail at its other end. */
static int refuse_store(const Session *s, Refusal *refusal, int error, const char *what) {
        bool is_copy = startswith(what, "copying");

        return refusal_set_errno(
                refusal, error,
                "cannot record: %s the store %s failed: %s%s. Nothing was left changed", what,
                store_path(s->context->store), origin_text(error),
                is_copy && (abs(error) == ENOENT || abs(error) == EIO) ? "" : store_way_out(error));
}

/* Whatever changes the kernel writes the ledger first. */
static int refuse_kernel(const Session *s, Refusal *refusal, int error, const char *what,
                         const char *object) {
        int r = controller_refuse_ledger(s->context->controller, error, refusal);

        return r ?: refuse_errno(refusal, error, what, object);
}

/* Before arming, and again after it. */
static int session_store_symbols(Session *s, Refusal *refusal) {
        int r = session_origin_add_symbols(s->meta, s->context->symbols,
                                           store_symbols_fd(s->context->store));

        return r < 0 ? refuse_store(s, refusal, r, "copying /proc/kallsyms to") : 0;
}

static int session_store_types(Session *s, Refusal *refusal) {
        int r = session_origin_add_types(s->meta, store_symbols_fd(s->context->store));

        return r < 0 ? refuse_store(s, refusal, r, "copying /sys/kernel/btf to") : 0;
}

static int session_arm(Session *s, Refusal *refusal) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        int r = controller_arm(s->context->controller, &s->tracer, s->meta, s->admission, refusal);

        if (r < 0)
                return refuse_kernel(s, refusal, r, "programming", "function_graph");
        if (r > 0)
                return r;
        s->meta->arm_ns = now_ns(CLOCK_MONOTONIC) - since_ns;
        tracer_set_handlers(s->tracer, session_on_quiesced, session_on_crowded, s);
        session_enter(s, SESSION_EVENT_ARM, NULL);
        return 0;
}

static int session_make_dir(Session *s, Refusal *refusal) {
        int r = store_make_session(s->context->store, s->meta->name, &s->dir);

        if (r == -EEXIST)
                return refusal_set_of(refusal, REFUSAL_SESSION_EXISTS, "session", s->meta->name,
                                      "there is already a directory '%s' in %s/sessions; choose "
                                      "another name or remove it",
                                      s->meta->name, store_path(s->context->store));
        if (r < 0)
                return refuse_store(s, refusal, r, "making the session's directory in");
        r = disk_usage_reserve(s->dir);
        if (r < 0)
                return refuse_store(s, refusal, r, "reserving room in");
        return 0;
}

static int session_copy_tracing(Session *s, Refusal *refusal) {
        char what[PATH_MAX];
        const char *path;
        int r = tracing_copy_begin(s->dir, s->tracer, s->meta, &path);

        if (r >= 0)
                return 0;
        (void) snprintf(what, sizeof(what), "copying %s of tracefs to", path);
        return refuse_store(s, refusal, r, what);
}

static int session_make_sync(Session *s) {
        return session_sync_new(&s->sync, &(SessionSyncConfig){
                                                  .session = s,
                                                  .event = s->context->event,
                                                  .store = s->context->store,
                                                  .dir = s->dir,
                                                  .meta = s->meta,
                                                  .save = session_on_save,
                                                  .failing = session_on_failing,
                                                  .lost = session_on_lost,
                                                  .told = session_on_told,
                                                  .done = session_on_synced,
                                                  .changed = session_tell,
                                          });
}

static int session_make_recorder(Session *s) {
        const SessionMeta *m = s->meta;
        int r = session_make_sync(s);

        if (r < 0)
                return r;
        return recorder_new(&s->recorder,
                            &(RecorderConfig){
                                    .event = s->context->event,
                                    .dir = s->dir,
                                    .syncer = session_sync_syncer(s->sync),
                                    .session_id = m->id,
                                    .page_bytes = m->page_bytes,
                                    .max_bytes = m->spec.ring ? 0 : m->spec.max_bytes,
                                    .segment_bytes = m->spec.segment_bytes ?: READER_SEGMENT_BYTES,
                                    .period_bytes = session_ring_bytes(s) / ROTATION_RING_PARTS,
                                    .first_sequence = m->first_sequence,
                                    .is_overwritten = m->spec.in_kernel,
                                    .buffer_bytes = m->spec.buffer_bytes,
                                    .changed = session_on_recorder,
                                    .userdata = s,
                            });
}

static int session_make_hold(Session *s) {
        return session_hold_new(&s->hold, &(SessionHoldConfig){ .fdstore = s->context->fdstore,
                                                                .meta = s->meta,
                                                                .dir = s->dir,
                                                                .is_attached = s->peer != 0 });
}

static int session_open_cpu(Session *s, uint32_t cpu, Refusal *refusal) {
        _cleanup_close_ int fd = instance_open_raw(tracer_instance(s->tracer), cpu);
        int raw_fd = fd, r;

        if (fd == -ENOENT) /* possible CPUs may have gaps */
                return 0;
        if (fd < 0)
                return refuse_errno(refusal, fd, "opening", "a CPU's trace_pipe_raw");
        r = recorder_add(s->recorder, cpu, fd);
        if (r < 0)
                return refuse_store(s, refusal, r, "making a CPU's directory in");
        TAKE_FD(fd);
        session_hold_cpu(s->hold, s->recorder, cpu, raw_fd);
        return 0;
}

static int session_make_health(Session *s) {
        return health_new(&s->health, &(HealthConfig){
                                              .event = s->context->event,
                                              .meta = s->meta,
                                              .recorder = s->recorder,
                                              .tracer = s->tracer,
                                              .store = store_path(s->context->store),
                                              .changed = session_on_health,
                                              .looked = session_on_look,
                                              .userdata = s,
                                      });
}

static int session_open_cpus(Session *s, Refusal *refusal) {
        SessionMeta *m = s->meta;
        int r = session_make_hold(s);

        if (r >= 0)
                r = session_make_recorder(s);
        if (r < 0)
                return refuse_errno(refusal, r, "making", "the readers");

        for (uint32_t cpu = 0; cpu < m->n_possible_cpus; cpu++) {
                r = session_open_cpu(s, cpu, refusal);
                if (r != 0)
                        return r;
        }

        m->n_cpus = recorder_n_cpus(s->recorder);
        if (m->n_cpus == 0)
                return refuse_errno(refusal, ENODEV, "opening", "any CPU's trace_pipe_raw");
        m->cpus = calloc(m->n_cpus, sizeof(*m->cpus));
        if (!m->cpus) {
                m->n_cpus = 0;
                return -ENOMEM;
        }
        return session_make_health(s);
}

static int session_make_triggers(Session *s, Refusal *refusal) {
        int r = session_triggers_admit_moments(&s->meta->spec, refusal);

        return r != 0 ? r : session_triggers_new(&s->triggers, s->meta, refusal);
}

static int session_begin(Session *s, Refusal *refusal) {
        bool waits = session_triggers_start(s->triggers);
        const char *what, *object;
        ClockTuple now;
        int r = session_dir_write_meta(s->dir, s->meta);

        if (r < 0)
                return refuse_store(s, refusal, r, "writing session.json in");
        r = store_settle_session(s->context->store, s->meta->name);
        if (r < 0)
                return refuse_store(s, refusal, r, "naming the session's directory in");
        s->is_saved = true;
        r = session_hold_all(s->hold, s->recorder, s->tracer);
        if (r < 0)
                return refuse_store(s, refusal, r, "writing live.json in");

        recorder_set_held(s->recorder, waits || s->meta->spec.in_kernel);
        r = recorder_start(s->recorder);
        if (r < 0)
                return refuse_errno(refusal, r, "starting", "a reader's thread");
        r = tracer_read_clocks(s->tracer, &now);
        if (r < 0)
                return refuse_errno(refusal, r, "reading", "the trace clock");
        if (s->triggers)
                s->meta->armed = now;
        if (!waits)
                s->meta->start = now;
        r = session_make_parts(s, &now, now.trace_ns);
        if (r < 0)
                return refuse_store(s, refusal, r, "preparing the rotation of segments in");
        r = following_new(&s->following, s->context->event, s->meta, s->tracer);
        if (r < 0)
                return refuse_kernel(s, refusal, r, "following", "tasks by name or control group");
        r = waits ? 0 : session_go(s, &what, &object);
        if (r < 0)
                return refuse_kernel(s, refusal, r, what, object);
        r = session_begin_triggers(s, false);
        if (r < 0)
                return refuse_kernel(s, refusal, r, "listening to", "its triggers");
        /* Arming may have taken longer than there was time: better none than one that is late. */
        return session_triggers_admit_moments(&s->meta->spec, refusal);
}

/* A start that failed: the reverse of what was done, as far as it was done. */
static void session_undo(Session *s) {
        int r;

        s->is_finishing = true; /* whatever its readers say */
        session_triggers_end(s->triggers);
        s->triggers = session_triggers_free(s->triggers);
        s->clock = session_clock_free(s->clock);
        s->deadline = sd_event_source_disable_unref(s->deadline);
        s->health = health_free(s->health);
        if (s->tracer)
                (void) tracer_set_recording(s->tracer, false);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        s->sync = session_sync_free(s->sync);
        session_hold_let_go(s->hold);
        s->following = following_free(s->following);
        if (s->tracer) {
                r = tracer_disarm(TAKE_PTR(s->tracer));
                if (r < 0)
                        log_error_errno(r,
                                        "Could not put the kernel back after the failed start of "
                                        "'%s': %m; it is tried again, or try `ftraced --restore`.",
                                        s->meta->name);
        }
        if (s->dir) {
                s->dir = session_dir_free(s->dir);
                r = store_discard_session(s->context->store, s->meta->name);
                if (r < 0)
                        log_error_errno(r,
                                        "Could not remove session '%s', which failed to start: %m",
                                        s->meta->name);
        }
}

static int (*const start_steps[])(Session *s, Refusal *refusal) = {
        session_make_triggers, session_store_types,   session_store_symbols,
        session_arm,           session_make_dir,      session_copy_tracing,
        session_open_cpus,     session_store_symbols, session_begin,
};

int session_start(Session **ret, const SessionContext *context, SessionMeta *m, Admission *a,
                  uint64_t peer, Refusal *refusal) {
        Session *s;
        int r = session_new(&s, context);

        if (r < 0)
                return r;
        s->meta = m;
        s->peer = peer;
        s->admission = a;

        r = session_origin_add_host(m);
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(start_steps); i++)
                r = start_steps[i](s, refusal);
        if (r != 0) {
                session_undo(s);
                session_free_parts(s);
                free(s);
                return r;
        }

        s->admission = NULL;
        session_save(s);
        if (m->spec.black_box) { /* a crash loses what is not on the disk, and this is to be there after it */
                session_save_tasks(s);
                (void) BACKGROUND_CALL(syncfs(session_dir_fd(s->dir)));
        }
        *ret = s;
        return 0;
}

/* As its session.json says; of a newer ftraced's with @takes_newer, as far as it is understood, else
 * META_E_NEWER.  0, META_E_INVALID, -errno. */
static int session_open(Session **ret, const SessionContext *context, const char *name,
                        bool takes_newer) {
        _cleanup_(session_freep) Session *s = NULL;
        int r = session_new(&s, context);

        if (r < 0)
                return r;
        s->is_saved = true;
        r = store_open_session(context->store, name, &s->dir);
        if (r < 0)
                return r;
        r = takes_newer ? session_dir_read_any_meta(s->dir, name, &s->meta)
                        : session_dir_read_meta(s->dir, &s->meta);
        if (r != 0)
                return r;
        if (!streq(s->meta->name, name))
                return META_E_INVALID;
        *ret = TAKE_PTR(s);
        return 0;
}

/* --- from the store: one that has ended ------------------------------------------------------- */

int session_load(Session **ret, const SessionContext *context, const char *name) {
        _cleanup_(session_freep) Session *s = NULL;
        int r = session_open(&s, context, name, true);

        if (r != 0)
                return r;
        if (s->meta->newer_version > 0)
                log_notice("Session '%s' is left as it is: %s.", name, s->meta->reason);

        if (session_state_is_live(s->meta->state)) {
                live_remove(s->dir);
                pipe_marks_remove(s->meta->id);
                r = disk_usage_recover(s->dir, s->meta);
                if (r < 0)
                        log_warning_errno(r, "Cannot count the pages of session '%s': %m", name);
                session_enter(s, SESSION_EVENT_FAIL, SESSION_REASON_DAEMON_ENDED);
                conditions_done(&s->meta->degraded);
                session_kept_note(s->meta, &s->context->uptime);
                session_save(s);
                log_notice("Session '%s' was recording when its daemon ended; what it had stored "
                           "is kept.",
                           name);
        }

        session_usage_measure(&s->usage, s->dir);
        if (s->meta->pages_unsynced > 0 && session_make_sync(s) >= 0) /* or it says so still */
                session_sync_again(s->sync);
        else
                s->dir = session_dir_free(s->dir);
        *ret = TAKE_PTR(s);
        return 0;
}

int session_wake(Session **ret, const SessionContext *context, const SessionRest *rest) {
        _cleanup_(session_freep) Session *s = NULL;
        int r = session_open(&s, context, rest->brief.name, true);

        if (r != 0)
                return r;
        if (!streq(s->meta->id, rest->brief.id) || session_is_live(s))
                return META_E_INVALID; /* another one has taken its place */
        s->dir = session_dir_free(s->dir);
        session_usage_set(&s->usage, rest->footprint);
        r = session_kept_set(s->meta, &context->uptime, rest->kept_ns);
        if (r < 0)
                return r;
        s->is_kept_unsaved = rest->is_kept_unsaved;
        s->is_kept_guessed = rest->is_kept_guessed;
        *ret = TAKE_PTR(s);
        return 0;
}

/* --- from the store: one that goes on --------------------------------------------------------- */

static int session_take_cpus(Session *s, const Live *live) {
        int r = session_make_recorder(s);

        return r < 0 ? r
                     : adoption_take_cpus(&(AdoptionConfig){ .meta = s->meta,
                                                             .dir = s->dir,
                                                             .tracer = s->tracer,
                                                             .recorder = s->recorder,
                                                             .hold = s->hold,
                                                             .live = live });
}

/* Everything but the readers' start.  *@why: it ends now. */
static int session_rebuild(Session *s, const char **why, char text[static ADOPTION_WHY_MAX]) {
        _cleanup_live_ Live live = {};
        const char *changed = NULL;
        ClockTuple now;
        int r;

        if (s->meta->n_cpus == 0 ||
            (s->meta->state == SESSION_ARMED && s->meta->armed.realtime_ns == 0))
                return SESSION_E_NOT_LIVE;
        r = controller_adopt(s->context->controller, &s->tracer, s->meta, &changed);
        if (r == CONTROLLER_E_GONE) {
                log_notice("Session '%s' cannot be taken up: %s.", s->meta->name, changed);
                return SESSION_E_NOT_LIVE;
        }
        if (r < 0)
                return r;
        tracer_set_handlers(s->tracer, session_on_quiesced, session_on_crowded, s);
        *why = adoption_read_live(s->dir, &live, text) ?: changed;
        r = session_take_cpus(s, &live);
        if (r >= 0)
                r = session_make_health(s);
        for (size_t i = 0; r >= 0 && i < s->meta->n_cpus; i++)
                health_resume(s->health, i,
                              adoption_stored_ns(s->dir, s->meta, s->meta->cpus[i].cpu));
        if (r >= 0)
                r = tracer_read_clocks(s->tracer, &now);
        if (r >= 0)
                r = session_make_parts(s, &now, 0);
        if (r >= 0)
                r = session_hold_all(s->hold, s->recorder, s->tracer);
        if (r < 0)
                return r;
        recorder_set_held(s->recorder, s->meta->spec.in_kernel || s->meta->state == SESSION_ARMED);
        if (!s->meta->spec.ring)
                syncer_add_all(session_sync_syncer(s->sync),
                               0); /* what it closed and had no time to */
        return recorder_start(s->recorder);
}

/* What it waits for is in the kernel still. */
static int session_go_on_waiting(Session *s) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = session_triggers_new(&s->triggers, s->meta, &refusal);

        if (r == 0)
                r = session_begin_triggers(s, true);
        if (r != 0)
                return r > 0 ? -EBADMSG : r;
        /* A daemon that died between the two halves of a snapshot left it off. */
        if (s->meta->spec.in_kernel && s->meta->state == SESSION_RECORDING && !s->snapshot)
                r = tracer_set_recording(s->tracer, true);
        return MIN(r, 0);
}

static void session_go_on(Session *s, const char *why) {
        int r;

        /* Not session_refresh(): reading all symbols takes long, and can wait until we are ready. */
        (void) health_refresh(s->health);
        session_save(s);
        if (s->meta->state == SESSION_DRAINING) {
                (void) tracer_set_recording(s->tracer, false);
                recorder_stop(s->recorder);
                return;
        }
        if (why) {
                log_notice("Session '%s' was recording when its daemon ended, and ends now: %s.",
                           s->meta->name, why);
                session_stop(s, why);
                return;
        }
        journal_tell(&(JournalEntry){ JOURNAL_TAKEN_UP, .meta = s->meta },
                     "Session '%s' was %s when its daemon ended: taken up.", s->meta->name,
                     session_state_name(s->meta->state));
        r = session_go_on_waiting(s);
        if (r < 0) {
                log_error_errno(r, "Cannot go on waiting for the triggers of session '%s': %m",
                                s->meta->name);
                session_stop(s, "the daemon was restarted, and its triggers could not be taken up");
                return;
        }
        if (s->meta->state == SESSION_ARMED) {
                session_hooks_follow(s->hooks, 0);
                return;
        }
        r = session_hooks_are_due(s->hooks) ? 0 : health_watch(s->health);
        if (r < 0)
                log_warning_errno(r,
                                  "Cannot watch the control files of session '%s': %m; what others "
                                  "do to them is not noticed.",
                                  s->meta->name);
        r = following_new(&s->following, s->context->event, s->meta, s->tracer);
        if (r < 0)
                session_warn(s,
                             "tasks that joined since the daemon ended, and later, are missing: %s",
                             origin_text(r));
        r = session_set_deadline(s);
        if (r < 0) {
                log_error_errno(r, "Cannot set the timer of session '%s': %m", s->meta->name);
                session_stop(s, "the timer of its duration could not be set");
                return;
        }
        session_begin_clock(s);
        session_guard_begin(&s->guard);
        if (session_hooks_are_due(s->hooks))
                session_hooks_follow(s->hooks, 0);
        else
                (void) session_lean_begin(s->lean); /* without it everything stays hooked */
        session_on_recorder(s);                     /* it may have been full */
}

/* As if it had never been looked at: what it changed in the kernel controller_settle() undoes. */
static void session_give_up(Session *s) {
        s->health = health_free(s->health);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        s->sync = session_sync_free(s->sync);
        session_hold_give_up(s->hold);
        s->triggers = session_triggers_free(s->triggers);
        if (s->tracer)
                tracer_forget(TAKE_PTR(s->tracer));
}

int session_adopt(Session **ret, const SessionContext *context, const char *name) {
        _cleanup_(session_freep) Session *s = NULL;
        const char *why = NULL;
        char text[ADOPTION_WHY_MAX];
        int r = session_open(&s, context, name, false);

        if (r == META_E_NEWER) /* what it has in the kernel is put back by the ledger */
                return SESSION_E_NOT_LIVE;
        if (r != 0)
                return r;
        if (!session_state_is_live(s->meta->state))
                return SESSION_E_NOT_LIVE;

        r = session_make_hold(s);
        if (r >= 0)
                r = session_rebuild(s, &why, text);
        if (r != 0) {
                if (r < 0)
                        log_warning_errno(r, "Session '%s' cannot be taken up: %m", name);
                session_give_up(s);
                return SESSION_E_NOT_LIVE;
        }
        session_go_on(s, why);
        *ret = TAKE_PTR(s);
        return 0;
}
