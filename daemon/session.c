/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session from its first page to its end; session-start.c is how it begins.  Stopping has two
 * halves: session_stop() switches recording off and tells the readers; when the last reader has
 * drained its CPU, session_finish() takes the accounts, puts the kernel back and writes the end
 * down.  In between the main loop is free.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/health.h"
#include "daemon/journal.h"
#include "daemon/recorder.h"
#include "daemon/session-private.h"
#include "daemon/stock.h"
#include "daemon/symbol-watch.h"
#include "daemon/tracing-copy.h"
#include "daemon/transition.h"
#include "store/silence.h"

#define SAVE_RETRY_USEC (2 * USEC_PER_SEC)
#define MEASURED_NS (200 * NSEC_PER_MSEC) /* so long what a live one takes is taken for that */
#define TASKS_GAP_FACTOR 10               /* between two copies of their names: of what one takes */

/* --- state and what is written of it --------------------------------------------------------- */

void session_save(Session *s) {
        int r;

        r = session_dir_write_meta(s->dir, s->meta);
        if (r < 0 && s->is_saved)
                log_error_errno(r,
                                "Cannot write session.json of session '%s': %m; it is tried again.",
                                s->meta->name);
        s->is_saved = r >= 0;
}

void session_enter(Session *s, SessionEvent event, const char *reason) {
        int state = transition_next(s->meta->state, event);

        if (state < 0) {
                log_error("Session '%s' is %s, in which event %i cannot happen.", s->meta->name,
                          session_state_name(s->meta->state), (int) event);
                return;
        }

        s->meta->state = (SessionState) state;
        if (reason) {
                free(s->meta->reason);
                s->meta->reason = strdup(reason);
        }
}

/* --- while it records ------------------------------------------------------------------------ */

void session_look_at_modules(Session *s) {
        ClockTuple now;
        int r;

        if (!s->tracer || tracer_read_clocks(s->tracer, &now) < 0)
                return;
        r = symbol_watch_look(&s->symbol_watch, s->context->symbols,
                              store_symbols_fd(s->context->store), s->meta, now.trace_ns);
        if (r != 0) /* they have changed, or may have */
                s->modules_changed = true;
        if (r == SYMBOL_WATCH_E_CHANGED) {
                session_save(s);
                if (!s->is_saved) /* or a removal would take the symbols along: the next look */
                        symbol_maps_drop_last(&s->meta->symbol_maps);
                else
                        log_info("Session '%s': modules changed; addresses mean something else "
                                 "from now on.",
                                 s->meta->name);
        } else if (r == -ENOSPC && s->meta->symbol_maps.n >= SYMBOL_MAPS_MAX)
                session_warn(s,
                             "modules changed more than %u times: functions of modules that were "
                             "loaded later may have no names or wrong ones",
                             SYMBOL_MAPS_MAX);
        else if (r < 0 && s->symbol_watch.n_failures == 1)
                session_warn(s,
                             "modules may have changed, but storing /proc/kallsyms failed: %s; it "
                             "is tried again",
                             strerror(-r));
}

void session_refresh(Session *s) {
        if (!s->health)
                return;
        if (s->meta->state == SESSION_RECORDING)
                session_look_at_modules(s);
        if (health_refresh(s->health) || !s->is_saved)
                session_save(s);
}

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
                s->context->changed(s, s->context->userdata);
}

void session_on_look(void *userdata) {
        session_look_at_roots(userdata);
        session_guard_look(userdata);
        session_share_look(userdata);
}

/* One that waits armed loses nothing, and nobody watches its files. */
void session_on_hushed(uint64_t from_ns, uint64_t to_ns, void *userdata) {
        Session *s = userdata;

        if (s->health && s->meta->state == SESSION_RECORDING)
                health_note_hush(s->health, from_ns, to_ns);
}

int session_on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;
        char text[UNIT_TEXT_MAX], reason[64];

        (void) snprintf(reason, sizeof(reason), "duration reached: %s",
                        format_duration(text, s->meta->spec.duration_ns));
        session_stop(s, reason);
        return 0;
}

/* Whoever made it, a reader or a timer. */
void session_on_cut(void *userdata) {
        Session *s = userdata;
        ClockTuple now;

        if (s->rotation && tracer_read_clocks(s->tracer, &now) >= 0 &&
            rotation_look(s->rotation, &now) > 0) {
                session_save(s);
                s->context->changed(s, s->context->userdata);
        }
}

static void session_finish(void *userdata);

void session_on_recorder(void *userdata) {
        Session *s = userdata;

        if (s->is_finishing)
                return;
        health_look_at_disk(s->health);
        if (s->is_leaving)
                return;
        session_snapshot_look(s);
        if (session_is_refused(s) && s->meta->state == SESSION_RECORDING)
                session_stop(s, "the disk took no more pages (--on-full=stop)");
        session_on_cut(s);
        session_share_look(s);
        if (recorder_wants_look(s->recorder) && s->meta->state == SESSION_RECORDING) {
                if (health_refresh(s->health))
                        session_save(s);
                session_guard_look(s);
        }
        if (recorder_is_full(s->recorder) && s->meta->state == SESSION_RECORDING) {
                char text[UNIT_TEXT_MAX], reason[64];

                (void) snprintf(reason, sizeof(reason), "max-size reached: %s",
                                format_bytes(text, s->meta->spec.max_bytes));
                session_stop(s, reason);
        }
        if (recorder_has_ended(s->recorder) && s->meta->state == SESSION_DRAINING) {
                s->is_finishing = true;
                if (aside_run(s->context->aside, session_finish, s) < 0)
                        session_finish(s); /* the loop waits */
        }
}

bool session_add_neighbour(Session *s, const char *name) {
        if (!session_is_live(s) || strv_contains(&s->meta->neighbours, name) ||
            strv_add(&s->meta->neighbours, name) < 0)
                return false;
        session_save(s);
        return true;
}

void session_drop_neighbour(Session *s, const char *name) {
        Strv *list = &s->meta->neighbours;

        for (size_t i = 0; i < list->n; i++)
                if (streq(list->items[i], name)) {
                        free(list->items[i]);
                        list->items[i] = list->items[--list->n];
                        session_save(s);
                        return;
                }
}

void session_set_watched(Session *s, bool watched) {
        if (s->recorder)
                recorder_set_watched(s->recorder, watched);
}

void session_save_tasks(Session *s) {
        uint64_t from_ns = now_ns(CLOCK_MONOTONIC), until_ns;
        const char *path;
        int r;

        if (!s->tracer || s->meta->state != SESSION_RECORDING || from_ns < s->next_tasks_ns)
                return;
        r = tracing_copy_end(s->dir, s->tracer, &path);
        until_ns = now_ns(CLOCK_MONOTONIC);
        s->next_tasks_ns = until_ns + TASKS_GAP_FACTOR * (until_ns - from_ns);
        if (r < 0)
                log_debug("session", "%s: copying tracing file %s failed: %s", s->meta->name, path,
                          strerror(-r));
}

/* --- stopping -------------------------------------------------------------------------------- */

void session_stop(Session *s, const char *reason) {
        int r;

        if (s->is_leaving || !s->recorder ||
            (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED))
                return;

        session_hooks_interrupt(s);
        session_triggers_end(s);
        session_look_at_clocks(s);
        s->clock_watch = clock_watch_free(s->clock_watch);
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
        session_snapshot_cancel(s);
        recorder_stop(s->recorder);
        s->context->changed(s, s->context->userdata);
}

void session_pause(Session *s, const char *reason) {
        int r;

        if (s->meta->state != SESSION_RECORDING || s->is_leaving)
                return;
        session_hooks_interrupt(s);
        health_end_watch(s->health);
        r = tracer_set_recording(s->tracer, false);
        if (r < 0)
                log_error_errno(r, "Cannot switch recording off for session '%s': %m; going on.",
                                s->meta->name);
        recorder_set_held(s->recorder, true);
        session_enter(s, SESSION_EVENT_PAUSE, NULL);
        r = session_snapshot(s, reason, NULL, NULL);
        if (r < 0)
                session_warn(s, "what was recorded could not be kept apart: %s", strerror(-r));
        session_hook(s, 0);
        session_save(s);
        s->context->changed(s, s->context->userdata);
}

static void session_log_end(Session *s) {
        const SessionMeta *m = s->meta;
        uint64_t n_lost = session_meta_events_lost(m), n_pages_lost = session_meta_pages_lost(m);
        char size[UNIT_TEXT_MAX], length[UNIT_TEXT_MAX], count[UNIT_TEXT_MAX];

        journal_tell(&(JournalEntry){ m->state == SESSION_FAILED       ? JOURNAL_FAILED
                                      : m->limit != SESSION_LIMIT_NONE ? JOURNAL_COSTLY
                                      : n_lost + n_pages_lost > 0      ? JOURNAL_LOST
                                                                       : JOURNAL_ENDED,
                                      .meta = m },
                     "Session '%s' ended after %s (%s): %s stored, %s%s.", m->name,
                     format_duration(length, session_meta_length_ns(m)), m->reason ?: "no reason",
                     format_bytes(size, session_meta_n_bytes(m)),
                     n_lost > 0 ? format_count(count, n_lost) : "nothing",
                     n_lost > 0 ? " events lost" : " lost by the kernel");
        if (n_pages_lost > 0)
                log_warning("Session '%s': %s pages could not be stored.", m->name,
                            format_count(count, n_pages_lost));
}

static int session_on_retry(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        session_save(s);
        if (!s->is_saved)
                return sd_event_source_set_time_relative(source, SAVE_RETRY_USEC);
        log_notice("Session '%s': session.json is written now.", s->meta->name);
        s->retry = sd_event_source_disable_unref(s->retry);
        s->dir = session_dir_free(s->dir);
        return 0;
}

/* It has ended, and its session.json says otherwise. */
static void session_retry(Session *s) {
        if (sd_event_add_time_relative(s->context->event, &s->retry, CLOCK_MONOTONIC,
                                       SAVE_RETRY_USEC, 0, session_on_retry, s) >= 0)
                (void) sd_event_source_set_enabled(s->retry, SD_EVENT_ON);
}

/* Why there is nothing, if there is: asked again as long as it records. */
static void session_look_at_silence(Session *s) {
        _cleanup_strv_ Strv found = {};
        int r;

        free(TAKE_PTR(s->meta->silence));
        if (!s->tracer || !silence_is_total(s->meta) || tracer_n_waiting(s->tracer) > 0)
                return;
        r = tracer_find_silence(s->tracer, s->meta, &found);
        if (r >= 0)
                r = silence_explain(&s->meta->silence, s->meta, &found);
        if (r < 0)
                log_debug("session", "%s: why it is silent is not known: %s", s->meta->name,
                          strerror(-r));
}

/* The readers have ended.  A task: putting the kernel back takes it a while. */
static void session_finish(void *userdata) {
        Session *s = userdata;
        char reason[256];
        const char *path;
        int r;

        stock_release(s->dir);
        r = tracing_copy_end(s->dir, s->tracer, &path);
        if (r < 0)
                session_warn(s, "copying tracing file %s failed: %s", path, strerror(-r));
        health_finish(s->health);
        session_look_at_silence(s);
        s->health = health_free(s->health);
        rotation_finish(s->rotation);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        session_let_go(s);
        s->following = following_free(s->following);
        session_triggers_free(s);
        session_lean_end(s);
        r = tracer_disarm(TAKE_PTR(s->tracer));

        if (session_meta_pages_lost(s->meta) > 0)
                session_warn(s, "%llu pages could not be stored: the disk was full or failed",
                             (unsigned long long) session_meta_pages_lost(s->meta));
        if (r < 0) {
                (void) snprintf(reason, sizeof(reason),
                                "%s, but the kernel could not be put back as it was: %s; it is "
                                "tried again at the next stop, or try `ftraced --restore`",
                                s->meta->reason ?: "stopped", strerror(-r));
                session_enter(s, SESSION_EVENT_FAIL, reason);
        } else
                session_enter(s, SESSION_EVENT_DRAIN, NULL);

        session_save(s);
        live_remove(s->dir);
        session_log_end(s);
        session_forget_disk_bytes(s);
        if (s->is_saved)
                s->dir = session_dir_free(s->dir);
        else
                session_retry(s);
        s->context->changed(s, s->context->userdata);
}

/* --- ended sessions -------------------------------------------------------------------------- */

static void session_measure(Session *s, const SessionDir *dir) {
        s->footprint = footprint_measure(dir);
        s->measured_ns = now_ns(CLOCK_MONOTONIC);
}

int session_load(Session **ret, const SessionContext *context, const char *name) {
        _cleanup_(session_freep) Session *s = NULL;
        int r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        *s = (Session){ .context = context, .is_saved = true };

        r = store_open_session(context->store, name, &s->dir);
        if (r < 0)
                return r;
        r = session_dir_read_meta(s->dir, &s->meta);
        if (r != 0)
                return r;
        if (!streq(s->meta->name, name))
                return META_E_INVALID;

        if (session_state_is_live(s->meta->state)) {
                live_remove(s->dir);
                pipe_marks_remove(s->meta->id);
                r = stock_recover(s->dir, s->meta);
                if (r < 0)
                        log_warning_errno(r, "Cannot count the pages of session '%s': %m", name);
                session_enter(s, SESSION_EVENT_FAIL, "the daemon ended without stopping it");
                conditions_done(&s->meta->degraded);
                session_save(s);
                log_notice("Session '%s' was recording when its daemon ended; what it had stored "
                           "is kept.",
                           name);
        }

        session_measure(s, s->dir);
        s->dir = session_dir_free(s->dir);
        *ret = TAKE_PTR(s);
        return 0;
}

const SessionMeta *session_meta(const Session *s) {
        return s->meta;
}

json_t *session_to_json(Session *s) {
        json_t *o, *cost;

        session_refresh(s);
        if (s->health)
                session_look_at_silence(s);
        o = session_meta_to_json(session_meta(s));
        cost = session_cost(s);
        if (o && (json_object_set_new(o, "disk_bytes",
                                      json_integer((json_int_t) session_disk_bytes(s))) < 0 ||
                  (cost && json_object_set(o, "cost", cost) < 0))) {
                json_decref(o);
                o = NULL;
        }
        json_decref(cost);
        return o;
}

const char *session_name(const Session *s) {
        return s->meta->name;
}

bool session_is_live(const Session *s) {
        return session_state_is_live(s->meta->state);
}

bool session_is_hung(const Session *s) {
        return s->health && health_is_hung(s->health);
}

uint64_t session_peer(const Session *s) {
        return s->peer;
}

static const Footprint *session_footprint(Session *s) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;

        if (s->measured_ns > 0 &&
            (!s->dir || now_ns(CLOCK_MONOTONIC) - s->measured_ns < MEASURED_NS))
                return &s->footprint;
        if (s->dir)
                session_measure(s, s->dir);
        else if (store_open_session(s->context->store, s->meta->name, &dir) >= 0)
                session_measure(s, dir);
        else
                s->footprint = (Footprint){};
        return &s->footprint;
}

uint64_t session_disk_bytes(Session *s) {
        return session_footprint(s)->n_bytes;
}

uint64_t session_own_bytes(Session *s) {
        const Footprint *f = session_footprint(s);

        return f->n_bytes - f->segment_bytes;
}

void session_forget_disk_bytes(Session *s) {
        s->measured_ns = 0;
}

int session_set_pinned(Session *s, bool pinned) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        bool was_pinned = TAKE(s->meta->pinned, pinned);
        int r = 0;

        if (!s->dir)
                r = store_open_session(s->context->store, s->meta->name, &dir);
        if (r >= 0)
                r = session_dir_write_meta(s->dir ?: dir, s->meta);
        if (r < 0)
                s->meta->pinned = was_pinned;
        return r;
}

int session_look_keep(Session *s, char **ret_foreign) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        int r;

        r = store_open_session(s->context->store, s->meta->name, &dir);
        if (r == -ENOENT)
                return KEEP_NOT; /* gone already */
        return r < 0 ? r : keep_look(dir, s->meta, ret_foreign);
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
        if (s->retry)
                session_save(s); /* for the last time */
        (void) sd_event_source_disable_unref(s->retry);
        (void) sd_event_source_disable_unref(s->deadline);
        (void) health_free(s->health);
        (void) clock_watch_free(s->clock_watch);
        session_lean_done(s);
        (void) following_free(s->following);
        session_triggers_free(s);
        (void) session_dir_free(s->dir);
        (void) session_meta_free(s->meta);
        free(s);
        return NULL;
}
