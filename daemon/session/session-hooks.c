/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is hooked follows the state: everything while it records, the roots alone while it waits for a trigger
 * (tracer_waits()), and less once it is known what they call or what that costs.  Each takes the kernel most of a
 * second, so it is a task: the session records from the trigger on, and can be stopped or wait again meanwhile.
 *
 * The task looks at the state after each change, so that the last word is hooked however often it
 * changed.  What is to be done once everything is hooked is done at the task's end: watching the
 * control files, which nobody else has changed then, learning, the trigger's other actions, and the
 * answers to whoever asked for it.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-private.h"

/* --- what is missing -------------------------------------------------------------------------- */

static void warn_late(Session *s) {
        if (s->hooks.since_ns == 0)
                session_warn(s, "only the roots were hooked when the daemon ended: their callees "
                                "are recorded from when the next daemon hooked them");
        else
                session_warn(s,
                             "only the roots were hooked while it waited: their callees are "
                             "recorded from about %s after the trigger on; --lean=FILE, or --lean "
                             "once it has learned, hooks them from the beginning",
                             FORMAT_DURATION(now_ns(CLOCK_MONOTONIC) - s->hooks.since_ns));
}

void session_hooks_interrupt(Session *s) {
        if (s->hooks.is_hooking && s->meta->state == SESSION_RECORDING && tracer_waits(s->tracer))
                session_warn(s, "it ended when only its roots were hooked: their callees are "
                                "missing; --lean=FILE, or --lean once it has learned, hooks them "
                                "from the beginning");
}

/* --- the task --------------------------------------------------------------------------------- */

/* True if they are; a session that waits can do without. */
static bool hook_roots(Session *s) {
        int r = tracer_hook_roots(s->tracer, s->meta);

        if (r < 0)
                session_warn(s,
                             "what it calls stays hooked while it waits: set_ftrace_filter could "
                             "not be written: %s",
                             origin_text(r));
        return r >= 0;
}

/* True if what is hooked is not what the state asks for. */
static bool is_due(const Session *s) {
        if (s->meta->state == SESSION_RECORDING)
                return tracer_waits(s->tracer);
        return s->meta->state == SESSION_ARMED && tracer_can_wait(s->tracer, s->meta);
}

/* The state may change meanwhile. */
static int follow_state(Session *s) {
        while (is_due(s))
                if (s->meta->state == SESSION_RECORDING) {
                        int r = tracer_hook_all(s->tracer);

                        if (r < 0)
                                return r;
                        if (s->meta->state != SESSION_RECORDING)
                                continue;
                        warn_late(s);
                        s->hooks.was_hooked = true;
                } else if (!hook_roots(s))
                        break;
        return 0;
}

static void hook(void *userdata) {
        Session *s = userdata;
        int r = follow_state(s);

        s->hooks.is_hooking = false;
        s->hooks.settled(s, true, r);
        session_tell_wishes(s, &s->hooks.wishes, 0);
        session_tell(s);
}

/* --- asking for it ---------------------------------------------------------------------------- */

bool session_hooks_are_changing(const Session *s) {
        return s->hooks.is_hooking || s->hooks.is_rehooking;
}

bool session_hooks_are_due(const Session *s) {
        return session_hooks_are_changing(s) || tracer_waits(s->tracer);
}

void session_hooks_follow(Session *s, uint64_t since_ns) {
        s->hooks.since_ns = since_ns;
        if (!session_hooks_are_changing(s) && !is_due(s))
                return;
        if (!TAKE(s->hooks.is_hooking, true)) /* else the task looks again */
                background_run(s->context->background, hook, s);
}

void session_when_hooked(Session *s, SessionDone done, void *userdata) {
        if (!s->hooks.is_hooking || session_add_wish(&s->hooks.wishes, done, userdata) < 0)
                done(s, 0, userdata);
}

/* --- hooking less, or more --------------------------------------------------------------------- */

bool session_is_watched(const Session *s) {
        /* Not while the kernel's buffer is being moved, nor when it is about to be switched off. */
        return s->meta->state == SESSION_RECORDING && !s->stop_reason &&
               !(s->snapshot && s->meta->spec.in_kernel);
}

static void note_change(Session *s, HookReason reason, const ClockTuple *since) {
        SessionMeta *m = s->meta;
        ClockTuple now;

        if (tracer_read_clocks(s->tracer, &now) < 0)
                return;
        (void) own_works_add(&m->own_work, since->trace_ns, now.trace_ns);
        if (m->n_hooked > 0)
                m->narrowed_ns = now.trace_ns;
        (void) hook_changes_add(&m->hook_changes, &(HookChange){ .trace_ns = now.trace_ns,
                                                                 .reason = reason,
                                                                 .n_hooked = m->n_hooked,
                                                                 .n_known = m->n_known });
}

/* True if it did. */
static bool rehook(Session *s, LeanScope scope, const Load *load, HookReason reason) {
        SessionMeta *m = s->meta;
        uint32_t n_before = m->n_hooked;
        ClockTuple since = {};
        int r, k;

        if (s->hooks.is_hooking) /* nothing but its roots is hooked, or will be */
                return false;
        if (tracer_read_clocks(s->tracer, &since) < 0)
                return false;
        health_hold_hooks(s->health);
        s->hooks.is_rehooking = true;
        r = controller_rehook(s->context->controller, s->tracer, m, scope, load);
        s->hooks.is_rehooking = false;
        /* It may have been stopped meanwhile, or be about to be hooked. */
        k = session_is_watched(s) && !s->hooks.is_hooking ? health_release_hooks(s->health) : 0;
        if (k < 0)
                (void) log_warning_errno(k, "Session \"%s\" is not watched any more: %m", m->name);
        if (r < 0)
                (void) log_warning_errno(r,
                                         "Session \"%s\" goes on with what is hooked: "
                                         "set_ftrace_filter could not be changed: %m",
                                         m->name);
        if (reason == HOOK_THINNED && m->n_hooked > n_before)
                reason = HOOK_RESTORED;
        if (r > 0)
                note_change(s, reason, &since);
        return r > 0;
}

void session_hooks_change(Session *s, LeanScope scope, const Load *load, HookReason reason) {
        if (!session_is_watched(s))
                return;
        if (rehook(s, scope, load, reason))
                session_on_change(s);
        s->hooks.settled(s, false, 0);
}
