/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a session is, what it tells, and what is written of it and when it ends; session-run.c is what
 * becomes of it before.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/process/journal.h"
#include "daemon/session/session-kept.h"
#include "daemon/session/session-private.h"
#include "daemon/session/transition.h"
#include "daemon/upkeep/disk-usage.h"
#include "daemon/watch/health.h"
#include "daemon/watch/live.h"
#include "daemon/watch/tracing-copy.h"
#include "meta/brief.h"

#define TASKS_GAP_FACTOR 10 /* between two copies of their names: of what one takes */

int session_new(Session **ret, const SessionContext *context) {
        *ret = NEW(Session, .context = context);
        return *ret ? 0 : -ENOMEM;
}

/* --- state and what is written of it --------------------------------------------------------- */

int session_write_meta(Session *s) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        int r = s->dir ? 0 : store_open_session(s->context->store, s->meta->name, &dir);

        if (r < 0)
                return r;
        /* Of this one a crash is expected, which else can leave a file of zeros: ext4, a rename before the data. */
        return s->meta->spec.black_box && session_is_live(s)
                       ? session_dir_write_meta_synced(s->dir ?: dir, s->meta)
                       : session_dir_write_meta(s->dir ?: dir, s->meta);
}

void session_save(Session *s) {
        int r = session_write_meta(s);

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

void session_on_change(Session *s) {
        session_save(s);
        session_tell(s);
}

/* --- while it records ------------------------------------------------------------------------ */

void session_look_at_modules(Session *s) {
        if (s->tracer && s->roots)
                session_roots_look_at_modules(s->roots);
}

void session_refresh(Session *s) {
        if (!s->health)
                return;
        if (s->meta->state == SESSION_RECORDING)
                session_look_at_modules(s);
        if (health_refresh(s->health) || !s->is_saved)
                session_save(s);
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
        r = tracing_copy_end(s->dir, s->tracer, s->meta->spec.black_box, &path);
        until_ns = now_ns(CLOCK_MONOTONIC);
        s->next_tasks_ns = until_ns + TASKS_GAP_FACTOR * (until_ns - from_ns);
        if (r < 0)
                log_debug("session", "%s: copying tracing file %s failed: %s", s->meta->name, path,
                          origin_text(r));
}

/* Why there is nothing, if there is: asked again as long as it records. */
void session_look_at_silence(Session *s) {
        _cleanup_strv_ Strv found = {};
        int r;

        free(TAKE_PTR(s->meta->silence));
        if (!s->tracer || !silence_is_total(s->meta) ||
            instance_n_waiting(tracer_instance(s->tracer)) > 0)
                return;
        r = tracer_find_silence(s->tracer, s->meta, &found);
        if (r >= 0)
                r = silence_explain(&s->meta->silence, s->meta, &found);
        if (r < 0)
                log_debug("session", "%s: why it is silent is not known: %s", s->meta->name,
                          origin_text(r));
}

bool session_is_leaving(const Session *s) {
        return s->is_leaving;
}

/* --- what it tells --------------------------------------------------------------------------- */

const SessionMeta *session_meta(const Session *s) {
        return s->meta;
}

uint64_t session_kept_ns(Session *s) {
        SessionKeptNews news;
        uint64_t kept_ns = session_kept_at(s->meta, &s->context->uptime, &news);

        if (news != SESSION_KEPT_NO_NEWS) {
                s->is_kept_unsaved = true;
                s->is_kept_guessed = news == SESSION_KEPT_GUESSED;
        }
        return kept_ns;
}

bool session_save_kept(Session *s) {
        int r;

        if (!TAKE(s->is_kept_unsaved, false))
                return false;
        r = session_write_meta(s);
        if (r < 0)
                log_debug("session", "%s: when it was kept cannot be noted: %s", s->meta->name,
                          origin_text(r));
        return true;
}

static int session_add_stay(json_t *o, Session *s) {
        if (!s->context->limits || session_is_live(s) || s->meta->pinned)
                return 0;
        return session_kept_to_json(o, session_kept_ns(s), &s->context->uptime, s->context->limits);
}

int session_guard_nearest(const Session *s, unsigned *ret_percent) {
        return s->meta->state == SESSION_RECORDING ? guard_nearest(&s->guard.guard, ret_percent)
                                                   : -1;
}

/* What a live session has cost so far: Cost of org.ftraced.varlink; NULL: it is not recording, or
 * there is no memory. */
static json_t *session_cost(const Session *s) {
        uint64_t cpu_ns;

        if (!s->rotation || !s->tracer || !s->recorder || !s->health)
                return NULL;
        cpu_ns = recorder_cpu_ns(s->recorder) + health_cpu_ns(s->health);
        return json_pack("{s:I, s:I, s:I}", "cpu_ns", (json_int_t) cpu_ns, "unread_events",
                         (json_int_t) instance_n_waiting(tracer_instance(s->tracer)), "segments",
                         (json_int_t) rotation_look_at_segments(s->rotation).n);
}

static json_t *to_json(Session *s) {
        json_t *o, *cost;

        o = session_meta_to_json(session_meta(s));
        cost = session_cost(s);
        if (o && (json_object_set_new(o, "disk_bytes",
                                      json_integer((json_int_t) session_disk_bytes(s))) < 0 ||
                  session_add_stay(o, s) < 0 || (cost && json_object_set(o, "cost", cost) < 0))) {
                json_decref(o);
                o = NULL;
        }
        json_decref(cost);
        return o;
}

json_t *session_to_json(Session *s) {
        session_refresh(s);
        if (s->health)
                free(TAKE_PTR(s->meta->silence));
        return to_json(s);
}

json_t *session_explain(Session *s) {
        session_refresh(s);
        if (s->health)
                session_look_at_silence(s);
        return to_json(s);
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

static SessionPlace session_place(const Session *s) {
        return (SessionPlace){ .store = s->context->store,
                               .name = s->meta->name,
                               .dir = s->dir,
                               .rotation = s->rotation };
}

uint64_t session_disk_bytes(Session *s) {
        SessionPlace place = session_place(s);

        return session_usage_bytes(&s->usage, &place);
}

uint64_t session_growth_bytes(Session *s) {
        uint64_t max_bytes = s->meta->spec.in_kernel ? 0 : s->meta->spec.max_bytes,
                 n_bytes = session_disk_bytes(s);

        return session_is_live(s) && max_bytes < SPEC_UNLIMITED && max_bytes > n_bytes
                       ? max_bytes - n_bytes
                       : 0;
}

bool session_yield(Session *s) {
        if (!s->rotation || rotation_make_room(s->rotation) == 0)
                return false;
        session_save(s);
        return true;
}

void session_forget_disk_bytes(Session *s) {
        s->usage.measured_ns = 0;
}

void session_segment_sealed(Session *s, uint32_t cpu, uint64_t sequence, uint64_t n_before,
                            uint64_t n_bytes) {
        if (s->rotation)
                rotation_segment_changed(s->rotation, cpu, sequence);
        else
                session_usage_segment_sealed(&s->usage, n_before, n_bytes);
}

int session_set_pinned(Session *s, bool pinned) {
        bool was_pinned = TAKE(s->meta->pinned, pinned);
        int r = session_write_meta(s);

        if (r < 0)
                s->meta->pinned = was_pinned;
        return r;
}

int session_look_keep(Session *s, char **ret_foreign) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        int r = store_open_session(s->context->store, s->meta->name, &dir);

        if (r == -ENOENT)
                return KEEP_NOT; /* gone already */
        return r < 0 ? r : keep_look(dir, s->meta, ret_foreign);
}

/* One that is in the kernel alone has on disk what a snapshot is about to take. */
uint64_t session_ring_bytes(const Session *s) {
        return s->meta->spec.ring && !s->meta->spec.in_kernel ? s->meta->spec.max_bytes : 0;
}

/* --- nobody asks for it ----------------------------------------------------------------------- */

void session_keep_awake(Session *s, bool awake) {
        if (awake)
                s->n_users++;
        else
                s->n_users--;
}

bool session_may_rest(const Session *s) {
        return !session_is_live(s) && s->meta->state != SESSION_NEW && s->n_users == 0 &&
               s->is_saved && !s->dir && !s->recorder && !s->tracer && !s->health && !s->triggers &&
               !s->snapshot && !s->following && !session_hooks_change(s->hooks) &&
               !session_lean_is_busy(s->lean) && !session_is_syncing(s) && !s->deadline &&
               !s->is_leaving;
}

int session_rest(Session *s, SessionRest *ret) {
        _cleanup_brief_ Brief brief = {};
        int r = brief_of_meta(&brief, s->meta, session_disk_bytes(s));

        if (r < 0)
                return r;
        *ret = (SessionRest){ .footprint = s->usage.footprint, .kept_ns = session_kept_ns(s) };
        ret->is_kept_unsaved = s->is_kept_unsaved;
        ret->is_kept_guessed = s->is_kept_guessed;
        ret->brief = TAKE(brief, (Brief){});
        return 0;
}

/* --- its end ---------------------------------------------------------------------------------- */

static void session_log_end(const SessionMeta *m) {
        uint64_t n_lost = session_meta_events_lost(m),
                 n_pages_lost = session_meta_total(m).pages_lost;
        char size[UNIT_TEXT_MAX], length[UNIT_TEXT_MAX], count[UNIT_TEXT_MAX];

        journal_tell(&(JournalEntry){ m->state == SESSION_FAILED              ? JOURNAL_FAILED
                                      : m->limit != SESSION_LIMIT_NONE        ? JOURNAL_COSTLY
                                      : n_lost + n_pages_lost + m->gaps.n > 0 ? JOURNAL_LOST
                                                                              : JOURNAL_ENDED,
                                      .meta = m },
                     "Session '%s' ended after %s (%s): %s stored, %s%s.", m->name,
                     format_duration(length, session_meta_length_ns(m)), m->reason ?: "no reason",
                     format_bytes(size, session_meta_total(m).n_bytes),
                     n_lost > 0      ? format_count(count, n_lost)
                     : m->gaps.n > 0 ? "an unknown number of"
                                     : "nothing",
                     n_lost + m->gaps.n > 0 ? " events lost" : " lost by the kernel");
        if (n_pages_lost > 0)
                log_warning("Session '%s': %s pages could not be stored.", m->name,
                            format_count(count, n_pages_lost));
}

bool session_on_save(Session *s) {
        session_save(s);
        return s->is_saved;
}

void session_on_failing(Session *s, const char *reason) {
        if (!s->health)
                return;
        if (reason)
                health_set_condition(s->health, GAP_NOT_WRITTEN, reason);
        else
                health_clear_condition(s->health, GAP_NOT_WRITTEN);
        session_on_change(s);
}

uint64_t session_on_lost(Session *s, const SyncerFailure *f) {
        return s->health ? health_note_lost(s->health, f->cpu, f->n_pages) : s->meta->stop.trace_ns;
}

void session_on_told(Session *s) {
        session_log_end(s->meta);
        session_tell(s);
}

void session_on_synced(Session *s) {
        s->dir = session_dir_free(s->dir);
}

int session_when_synced(Session *s, SessionSynced done, void *userdata) {
        return s->sync ? session_sync_await(s->sync, done, userdata) : -EINVAL;
}

bool session_is_syncing(const Session *s) {
        return s->sync && session_sync_is_busy(s->sync);
}

void session_tell(Session *s) {
        s->context->changed(s, s->context->userdata);
}

void session_finish(void *userdata) {
        Session *s = userdata;
        uint64_t segment_bytes;
        char reason[256];
        const char *path;
        int r;

        disk_usage_release(s->dir);
        r = tracing_copy_end(s->dir, s->tracer, false, &path);
        if (r < 0)
                session_warn(s, "copying tracing file %s failed: %s", path, origin_text(r));
        health_finish(s->health);
        session_look_at_silence(s);
        s->health = health_free(s->health);
        rotation_finish(s->rotation);
        segment_bytes = rotation_look_at_segments(s->rotation).counted_bytes;
        session_usage_measure_beside(&s->usage, s->dir, segment_bytes);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        session_hold_let_go(s->hold);
        s->following = following_free(s->following);
        s->triggers = session_triggers_free(s->triggers);
        session_lean_end(s->lean, session_hooks_had_calls(s->hooks));
        r = tracer_disarm(TAKE_PTR(s->tracer));

        if (session_meta_total(s->meta).pages_lost > 0)
                session_warn(s, "%llu pages could not be stored: the disk was full or failed",
                             (unsigned long long) session_meta_total(s->meta).pages_lost);
        if (r < 0) {
                (void) snprintf(reason, sizeof(reason),
                                "%s, but the kernel could not be put back as it was: %s; it is "
                                "tried again every few seconds",
                                s->meta->reason ?: "stopped", origin_text(r));
                session_enter(s, SESSION_EVENT_FAIL, reason);
        } else
                session_enter(s, SESSION_EVENT_DRAIN, NULL);

        session_kept_note(s->meta, &s->context->uptime);
        live_remove(s->dir);
        session_usage_measure_beside(&s->usage, s->dir, segment_bytes);
        session_sync_end(s->sync);
}

void session_end_leaving(Session *s) {
        bool is_clean;
        int r;

        while (!recorder_has_ended(s->recorder))
                (void) usleep(1000);
        (void) health_refresh(s->health);
        is_clean = recorder_error(s->recorder) == 0;
        session_sync_leave(s->sync);
        session_save(s);
        s->health = health_free(s->health);
        r = session_hold_leave(s->hold, s->tracer, is_clean);
        if (r < 0)
                log_warning_errno(r, "Cannot write live.json of session '%s': %m", s->meta->name);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
}
