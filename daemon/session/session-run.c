/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session begins to record, waits for its triggers again, stops, and is taken down.  Stopping has two halves:
 * session_stop() switches recording off and tells the readers; when the last reader has drained its CPU,
 * session_finish() takes the accounts, puts the kernel back and writes the end down; what it is told as
 * kept is on the disk then (session-sync.c).  In between the main loop is free.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-private.h"
#include "daemon/upkeep/upkeep.h"

/* --- recording -------------------------------------------------------------------------------- */

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;
        char reason[64];

        (void) snprintf(reason, sizeof(reason), "duration reached: %s",
                        FORMAT_DURATION(s->meta->spec.duration_ns));
        session_stop(s, reason);
        return 0;
}

int session_begin_watch(Session *s, const char **ret_what) {
        int r;

        *ret_what = "watching the control files of tracefs";
        r = health_watch(s->health);
        if (r < 0)
                return r;
        *ret_what = "setting the timer of learning";
        return session_lean_begin(s);
}

static int set_deadline(Session *s) {
        const SessionMeta *m = s->meta;
        uint64_t start_us = m->start.boottime_ns / NSEC_PER_USEC,
                 duration_us = m->spec.duration_ns / NSEC_PER_USEC;

        if (duration_us == 0 || s->deadline)
                return 0;
        return sd_event_add_time(s->context->event, &s->deadline, CLOCK_BOOTTIME,
                                 start_us + MIN(duration_us, UINT64_MAX / 4), 1000, on_deadline, s);
}

int session_look_after(Session *s, uint64_t since_ns, const char **ret_what) {
        int r = session_hooks_are_due(s) ? 0
                                         : session_begin_watch(s, ret_what); /* or once all is */

        if (r < 0)
                return r;
        *ret_what = "setting the timer of its duration";
        r = set_deadline(s);
        if (r < 0)
                return r;
        session_begin_clock(s);
        session_begin_guard(s);
        session_hooks_follow(s, since_ns);
        return 0;
}

int session_go(Session *s, const char **ret_what) {
        uint64_t since_ns = now_ns(CLOCK_MONOTONIC);
        int r;

        *ret_what =
                "writing tracing_on"; /* which the kernel may have switched on already, a moment ago */
        r = tracer_set_recording(s->tracer, true);
        if (r >= 0 && s->meta->start.realtime_ns == 0)
                r = tracer_read_clocks(s->tracer, &s->meta->start);
        if (r < 0)
                return r;
        if (!s->meta->spec.in_kernel)
                recorder_set_held(s->recorder, false);
        session_copy_stacks(s, true);
        session_enter(s, SESSION_RECORDING, NULL);
        session_look_at_owners_soon(s, true);
        session_look_at_maps_soon(s);
        return session_look_after(s, since_ns, ret_what);
}

/* --- stopping --------------------------------------------------------------------------------- */

/* *@ret: when it was off. */
static int set_off(Session *s, ClockTuple *ret) {
        int r = tracer_set_recording(s->tracer, false);

        (void) tracer_read_clocks(s->tracer, ret);
        return r;
}

static void warn_of_switch(const Session *s, int error) {
        if (error < 0)
                log_error_errno(error,
                                "Cannot switch recording off for session \"%s\": %m; going on.",
                                s->meta->name);
}

static void switch_off(Session *s, ClockTuple *ret) {
        health_end_watch(s->health);
        if (conditions_find(&s->meta->degraded, GAP_TRACING_OFF))
                tracer_leave_off(s->tracer, s->meta);
        warn_of_switch(s, set_off(s, ret));
}

/* It is off since @at. */
static void drain(Session *s, const ClockTuple *at, const char *reason) {
        s->clock = sd_event_source_disable_unref(s->clock);
        session_unfollow_tasks(s);
        s->meta->stop = *at;
        if (s->meta->start.realtime_ns == 0)
                s->meta->start = s->meta->stop; /* it never recorded */
        s->deadline = sd_event_source_disable_unref(s->deadline);

        session_enter(s, SESSION_DRAINING, reason);
        session_save(s);
        session_end_snapshot(s);
        recorder_stop(s->recorder);
        session_copy_stacks(s, false);
        session_tell(s);
}

/*
 * A task of the switcher.  A task that is at the kernel may have the lock that every file of an instance takes when it is
 * opened (linux 6.12 kernel/trace/trace.c, trace_types_lock, trace_array_get()), so the loop does not open one.  What
 * else is to be done at the kernel waits for session_finish().
 */
static void stop_beside(void *userdata) {
        _cleanup_free_ char *reason = NULL;
        Session *s = userdata;
        ClockTuple at = {};
        int r = BACKGROUND_CALL(set_off(s, &at));

        warn_of_switch(s, r);
        session_hooks_interrupt(s);
        reason = TAKE_PTR(s->stop_reason);
        drain(s, &at, reason);
}

void session_stop(Session *s, const char *reason) {
        ClockTuple at = {};

        if (s->is_leaving || !s->recorder || s->stop_reason ||
            (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED))
                return;
        if (tracer_is_held_up(s->tracer) && (s->stop_reason = strdup(reason))) {
                health_drop_watch(s->health);
                background_run(s->context->switcher, stop_beside, s);
                return;
        }
        session_hooks_interrupt(s);
        session_end_triggers(s);
        session_look_at_clock(s);
        switch_off(s, &at);
        drain(s, &at, reason);
}

void session_pause(Session *s, const char *reason) {
        ClockTuple at;
        int r;

        if (s->meta->state != SESSION_RECORDING || s->is_leaving || s->stop_reason)
                return;
        session_hooks_interrupt(s);
        switch_off(s, &at);
        recorder_set_held(s->recorder, true);
        session_copy_stacks(s, false);
        session_enter(s, SESSION_ARMED, NULL);
        r = session_snapshot(s, reason, NULL, NULL);
        if (r < 0)
                session_warn(s, "what was recorded could not be kept apart: %s", origin_text(r));
        session_hooks_follow(s, 0);
        session_on_change(s);
}

bool session_leave(Session *s) {
        if (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED)
                return false;
        session_end_snapshot(s);
        if (s->peer != 0) {
                session_stop(s, "the daemon was restarted, and its client's connection ended");
                return false;
        }
        s->is_leaving = true;
        recorder_leave(s->recorder);
        return true;
}

/* --- the end ---------------------------------------------------------------------------------- */

int session_take_down(Session *s, TakeDown how) {
        s->is_finishing = true; /* whatever its readers say */
        if (how == TAKE_DOWN_UNDONE)
                session_end_triggers(s);
        s->deadline = sd_event_source_disable_unref(s->deadline);
        s->clock = sd_event_source_disable_unref(s->clock);
        s->health = health_free(s->health);
        session_end_stacks(s);
        if (how == TAKE_DOWN_UNDONE && s->tracer)
                (void) tracer_set_recording(s->tracer, false);
        s->rotation = rotation_free(s->rotation);
        s->recorder = recorder_free(s->recorder);
        if (how == TAKE_DOWN_ENDED) /* before anything waits: its timers look at the recorder */
                session_lean_end(s);
        else
                session_sync_done(s);
        if (how == TAKE_DOWN_GIVEN_UP) /* whatever an earlier daemon had given the manager of it */
                s->are_pipes_held = true;
        if (how != TAKE_DOWN_LEFT)
                session_hold_let_go(s);
        session_unfollow_tasks(s);
        session_free_triggers(s);
        if (how == TAKE_DOWN_LEFT || !s->tracer)
                return 0;
        if (how != TAKE_DOWN_GIVEN_UP)
                return tracer_disarm(TAKE_PTR(s->tracer));
        tracer_free(TAKE_PTR(s->tracer));
        return 0;
}

void session_finish(void *userdata) {
        Session *s = userdata;
        uint64_t segment_bytes;
        const char *path;
        int r;

        if (s->triggers.has_begun)
                session_end_triggers(s);
        session_look_at_modules(s);
        disk_usage_release(s->dir);
        session_look_at_owners(s);
        r = tracing_copy_end(s->dir, s->tracer, false, &path);
        if (r < 0)
                session_warn(s, "copying tracing file %s failed: %s", path, origin_text(r));
        health_finish(s->health);
        session_look_at_silence(s);
        rotation_finish(s->rotation);
        segment_bytes = rotation_look_at_segments(s->rotation).counted_bytes;
        session_measure(s, segment_bytes);
        session_look_at_maps_again(s);
        r = session_take_down(s, TAKE_DOWN_ENDED);

        if (session_meta_total(s->meta).pages_lost > 0)
                session_warn(s, "%llu pages could not be stored: the disk was full or failed",
                             (unsigned long long) session_meta_total(s->meta).pages_lost);
        if (r < 0) /* what was recorded is whole: the daemon tells of the rest */
                log_warning_errno(
                        r,
                        "Session \"%s\" has ended, and the kernel's settings could not be "
                        "restored yet: %m; ftraced tries again every few seconds.",
                        s->meta->name);
        session_enter(s, SESSION_SEALED, NULL);

        s->meta->kept_realtime_ns = now_ns(CLOCK_REALTIME);
        live_remove(s->dir);
        session_measure(s, segment_bytes);
        session_sync_end(s);
}

/* The readers of a session that session_leave() left: waits for them and writes down where they are. */
static void end_leaving(Session *s) {
        bool is_clean;
        int r;

        while (!recorder_has_ended(s->recorder))
                (void) usleep(1000);
        (void) health_refresh(s->health);
        is_clean = recorder_error(s->recorder) == 0;
        session_sync_leave(s);
        session_save(s);
        r = session_hold_write(s, is_clean);
        if (r < 0)
                log_warning_errno(r, "Cannot write live.json of session \"%s\": %m", s->meta->name);
        (void) session_take_down(s, TAKE_DOWN_LEFT);
}

Session *session_free(Session *s) {
        if (!s)
                return NULL;

        if (s->is_leaving)
                end_leaving(s);
        else if (s->recorder) {
                session_stop(s, "the daemon was stopped");
                /* Waits for the threads, whose counters are then final. */
                while (s->recorder && !recorder_has_ended(s->recorder))
                        (void) usleep(1000);
                if (s->recorder)
                        session_finish(s);
        }
        session_sync_settle(s);
        session_sync_done(s);
        session_lean_done(s);
        background_drop(s->context->background, s); /* of a start that failed */
        free(s->stop_reason);
        (void) session_dir_free(s->dir);
        (void) session_meta_free(s->meta);
        return mfree(s);
}
