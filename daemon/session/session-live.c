/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the readers, the health, the tracer and the hooks of a live session say, and what becomes of it then. */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-private.h"

#define KEEP_NS (10 * NSEC_PER_SEC)

/* --- the health ------------------------------------------------------------------------------- */

static void on_health(bool is_new, void *userdata) {
        Session *s = userdata;

        /* A full disk: a ring drops its oldest rather than lose what comes. */
        if (conditions_find(&s->meta->degraded, GAP_NO_SPACE))
                (void) session_yield(s);
        if (s->meta->state == SESSION_RECORDING)
                session_look_at_modules(s); /* here, so that nothing else has to wake the daemon */
        if (is_new || !s->is_saved)
                session_save(s);
        if (is_new)
                session_tell(s);
}

/* What is in the kernel alone costs nothing but its hooks, and a snapshot is a burst. */
static void look_at_guard(Session *s) {
        char text[GUARD_TEXT_MAX];
        SessionLimit limit;

        if (s->meta->state != SESSION_RECORDING || s->is_leaving || s->meta->spec.in_kernel)
                return;
        limit = session_look_at_cost(s, text);
        if (limit == SESSION_LIMIT_NONE)
                return;
        if (session_lean_shed(s)) {
                log_warning("Session \"%s\" costs too much and hooks no leaves any more: %s.",
                            s->meta->name, text);
                session_warn(s, "functions that call nothing are not hooked any more: %s", text);
                session_begin_guard(s); /* what it costs from now on counts */
                return;
        }
        log_warning("Session \"%s\" costs too much and ends: %s.", s->meta->name, text);
        s->meta->limit = limit;
        session_stop(s, text);
}

/* What whoever rescues it after a crash has to know: the names of tasks, of which the kernel keeps the latest alone,
 * and on which CPUs there was anything. */
static void keep_for_crash(Session *s) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);

        if (!s->meta->spec.black_box || s->meta->state != SESSION_RECORDING ||
            now < s->next_keep_ns)
                return;
        s->next_keep_ns = now + KEEP_NS;
        session_save_tasks(s);
        if (controller_note_in_memory(s->context->controller, s->meta))
                session_save(s);
}

static void on_look(void *userdata) {
        Session *s = userdata;
        char why[ROOTS_TEXT_MAX];

        if (!session_hooks_are_changing(s) &&
            session_look_at_roots(s, why)) { /* or the next time */
                log_warning("Session \"%s\" ends: %s.", s->meta->name, why);
                session_stop(s, why);
        }
        look_at_guard(s);
        keep_for_crash(s);
        session_look_at_owners_soon(s, false);
}

int session_make_health(Session *s) {
        return health_new(&s->health, &(HealthConfig){
                                              .event = s->context->event,
                                              .background = s->context->background,
                                              .meta = s->meta,
                                              .recorder = s->recorder,
                                              .tracer = s->tracer,
                                              .store = store_path(s->context->store),
                                              .changed = on_health,
                                              .looked = on_look,
                                              .userdata = s,
                                      });
}

/* --- the tracer -------------------------------------------------------------------------------- */

/* One that waits armed loses nothing, and nobody watches its files. */
void session_on_quiesced(uint64_t from_ns, uint64_t to_ns, void *userdata) {
        Session *s = userdata;

        if (s->health && s->meta->state == SESSION_RECORDING)
                health_note_quiesce(s->health, from_ns, to_ns);
}

/* --- what is hooked ---------------------------------------------------------------------------- */

/* All is hooked, or that failed; the session may have been stopped meanwhile. */
static void begin_watch(Session *s, int r) {
        const char *what = "writing set_ftrace_filter";

        if (r >= 0 && s->meta->state == SESSION_RECORDING)
                r = session_is_watched(s) ? session_begin_watch(s, &what) : session_lean_begin(s);
        if (r >= 0 || s->meta->state != SESSION_RECORDING)
                return;
        log_error_errno(r, "Session \"%s\" cannot record: %s failed: %m", s->meta->name, what);
        session_stop(s, "its trigger fired, and it could not record");
}

static void on_settled(Session *s, bool is_task, int error) {
        if (is_task)
                begin_watch(s, error);
        session_triggers_hooked(s);
        if (is_task && session_is_live(s) && s->dir)
                session_save(s);
}

/* --- the readers ------------------------------------------------------------------------------- */

void session_on_recorder(void *userdata) {
        Session *s = userdata;

        if (s->is_finishing)
                return;
        health_look_at_disk(s->health);
        if (s->is_leaving)
                return;
        if (s->snapshot && session_snapshot_look(s)) {
                s->measured_ns = 0;
                session_end_snapshot(s);
                session_look_at_triggers(s);
                session_tell(s);
        }
        if (s->meta->state == SESSION_RECORDING && s->meta->spec.on_full == SPEC_ON_FULL_STOP &&
            (conditions_find(&s->meta->degraded, GAP_NO_SPACE) ||
             conditions_find(&s->meta->degraded, GAP_DISK_FAILED)))
                session_stop(s, "the disk took no more pages (OnFull=stop)");
        session_look_at_cuts(s);
        if (recorder_wants_look(s->recorder) && s->meta->state == SESSION_RECORDING) {
                if (health_refresh(s->health))
                        session_save(s);
                look_at_guard(s);
        }
        if (recorder_is_full(s->recorder) && s->meta->state == SESSION_RECORDING) {
                char reason[64];

                (void) snprintf(reason, sizeof(reason), "max-size reached: %s",
                                FORMAT_BYTES(s->meta->spec.max_bytes));
                session_stop(s, reason);
        }
        if (recorder_has_ended(s->recorder) && s->meta->state == SESSION_DRAINING) {
                s->is_finishing = true;
                background_run(s->context->background, session_finish, s);
        }
}

int session_make_recorder(Session *s) {
        const SessionMeta *m = s->meta;
        int r = session_sync_init(s);

        if (r < 0)
                return r;
        return recorder_new(&s->recorder, s->context->event,
                            &(ReaderShared){
                                    .dir = s->dir,
                                    .syncer = s->sync.syncer,
                                    .session_id = m->id,
                                    .page_bytes = m->page_bytes,
                                    .max_bytes = m->spec.ring ? 0 : m->spec.max_bytes,
                                    .segment_bytes = m->spec.segment_bytes ?: READER_SEGMENT_BYTES,
                                    .period_bytes = session_ring_bytes(s) / ROTATION_RING_PARTS,
                                    .sequence = m->first_sequence,
                                    .is_overwritten = m->spec.in_kernel,
                            },
                            m->spec.buffer_bytes, session_on_recorder, s);
}

int session_make_rotation(Session *s, const ClockTuple *now, uint64_t symbols_ns) {
        s->modules.seen_ns = symbols_ns;
        s->hooks.settled = on_settled;
        return rotation_new(&s->rotation,
                            &(RotationConfig){
                                    .event = s->context->event,
                                    .dir = s->dir,
                                    .meta = s->meta,
                                    .recorder = s->recorder,
                                    .segment_ns = s->meta->spec.segment_ns,
                                    .ring_bytes = session_ring_bytes(s),
                                    .cut = session_look_at_cuts,
                                    .userdata = s,
                            },
                            now);
}
