/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session that learns has everything hooked.  After SESSION_LEARN_US what it has stored is looked
 * at; if that was enough only what was seen stays hooked, else it goes on and is looked at again
 * after twice the time.  A session that ends before is looked at when it ends, for the next one.
 */

#include "base/log.h"
#include "base/unit.h"
#include "daemon/session-private.h"

#define SESSION_LEARN_US (UINT64_C(10) * 1000000)
#define SESSION_LEARN_MAX_US (UINT64_C(3600) * 1000000)

static void narrow(Session *s) {
        ClockTuple now;
        int r, k;

        health_end_watch(s->health);
        s->is_narrowing = true;
        r = controller_narrow(s->context->controller, s->tracer, s->meta);
        s->is_narrowing = false;
        /* It may have been stopped meanwhile, or be about to be hooked. */
        k = session_is_watched(s) && !s->is_hooking ? health_watch(s->health) : 0;
        if (k < 0)
                (void) log_warning_errno(k, "Session '%s' is not watched any more: %m",
                                         s->meta->name);
        if (r < 0) {
                (void) log_warning_errno(r,
                                         "Session '%s' goes on with every function hooked: "
                                         "set_ftrace_filter could not be narrowed: %m",
                                         s->meta->name);
                return;
        }
        if (r == 0)
                return;
        if (tracer_read_clocks(s->tracer, &now) >= 0)
                s->meta->narrowed_ns = now.trace_ns;
        log_info("Session '%s' hooks %u functions from now on; %zu that it calls are left out.",
                 s->meta->name, s->meta->n_hooked, s->meta->left_out.n);
        session_save(s);
        s->context->changed(s, s->context->userdata);
}

static int set_timer(Session *s);

/* A task. */
static void take_lesson(void *userdata) {
        Session *s = userdata;

        if (session_is_watched(s)) {
                narrow(s);
                session_triggers_hooked(s);
        }
        if (s->meta->learns && s->meta->state == SESSION_RECORDING)
                (void) set_timer(s);
}

static void on_lesson(int error, void *userdata) {
        Session *s = userdata;

        s->lesson = lesson_free(s->lesson);
        s->context->changed(s, s->context->userdata); /* starts may wait for it */
        if (!s->tracer || s->meta->state != SESSION_RECORDING)
                return;
        if (error < 0)
                (void) set_timer(s);
        else if (aside_run(s->context->aside, take_lesson, s) < 0)
                take_lesson(s); /* the loop waits */
}

static void look(Session *s) {
        int r;

        if (s->lesson)
                return;
        r = lesson_start(&s->lesson, s->context->event, s->context->aside, s->context->controller,
                         s->dir, s->meta, tracer_quiet(s->tracer), on_lesson, s);
        if (r < 0 && r != -ENODATA)
                (void) log_warning_errno(r, "Session '%s': cannot learn what it calls: %m",
                                         s->meta->name);
        if (r < 0 && s->meta->state == SESSION_RECORDING)
                (void) set_timer(s);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        s->lesson_timer = sd_event_source_disable_unref(s->lesson_timer);
        look(s);
        return 0;
}

static int set_timer(Session *s) {
        uint64_t us = s->lesson_us;

        s->lesson_us = MIN(2 * us, SESSION_LEARN_MAX_US);
        s->lesson_timer = sd_event_source_disable_unref(s->lesson_timer);
        return sd_event_add_time_relative(s->context->event, &s->lesson_timer, CLOCK_MONOTONIC, us,
                                          0, on_timer, s);
}

int session_lean_begin(Session *s) {
        if (!s->meta->learns || s->lesson_timer || s->lesson)
                return 0;
        s->lesson_us = SESSION_LEARN_US;
        return set_timer(s);
}

void session_lean_end(Session *s) {
        s->lesson_timer = sd_event_source_disable_unref(s->lesson_timer);
        /* What has its roots alone hooked does not see what they call. */
        if (s->meta->learns && s->tracer && (s->was_hooked || !tracer_waits(s->tracer)))
                look(s);
}

void session_lean_done(Session *s) {
        s->lesson_timer = sd_event_source_disable_unref(s->lesson_timer);
        s->lesson = lesson_free(s->lesson);
}
