/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is hooked follows the state: everything while a session records, the roots alone while it waits
 * for a trigger (tracer_waits()).  Either takes the kernel most of a second, so it is a task, and the
 * session does not wait for it: it records from the trigger on, and can be stopped or wait again
 * meanwhile.  The task looks at the state after each change, so that the last word is hooked however
 * often it changed.  What is to be done once everything is hooked is done at the task's end: watching
 * the control files, which nobody else has changed then, learning, the trigger's other actions, and
 * the answers to whoever asked for it.
 */

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/session-private.h"

struct HookWish {
        HookWish *next;
        SessionHooked done;
        void *userdata;
};

/* --- what is missing -------------------------------------------------------------------------- */

static void warn_late(Session *s) {
        char text[UNIT_TEXT_MAX];

        if (s->hook_since_ns == 0)
                session_warn(s, "nothing but the roots was hooked when the daemon ended: what they "
                                "call is recorded only from when the next one had it hooked");
        else
                session_warn(s,
                             "nothing but the roots was hooked while it waited: what they call is "
                             "recorded from about %s after the trigger on; --lean=FILE, or --lean "
                             "once it has learned, hooks it from the beginning",
                             format_duration(text, now_ns(CLOCK_MONOTONIC) - s->hook_since_ns));
}

void session_hooks_interrupt(Session *s) {
        if (s->is_hooking && s->meta->state == SESSION_RECORDING && tracer_waits(s->tracer))
                session_warn(s, "it ended before more than its roots was hooked: what they call is "
                                "missing; --lean=FILE, or --lean once it has learned, hooks it "
                                "from the beginning");
}

/* --- the task --------------------------------------------------------------------------------- */

static int hook_all(Session *s) {
        int r = tracer_hook_all(s->tracer);

        if (r < 0 || s->meta->state != SESSION_RECORDING)
                return r;
        warn_late(s);
        s->was_hooked = true;
        return 0;
}

/* Whether they are; a session that waits can do without. */
static bool hook_roots(Session *s) {
        int r = tracer_hook_roots(s->tracer, s->meta);

        if (r < 0)
                session_warn(s,
                             "what it calls stays hooked while it waits: set_ftrace_filter could "
                             "not be written: %s",
                             strerror(-r));
        return r >= 0;
}

/* Whether what is hooked is not what the state asks for. */
static bool is_due(const Session *s) {
        if (s->meta->state == SESSION_RECORDING)
                return tracer_waits(s->tracer);
        return s->meta->state == SESSION_ARMED && tracer_can_wait(s->tracer, s->meta);
}

/* The state may change meanwhile. */
static int follow_state(Session *s) {
        while (is_due(s))
                if (s->meta->state == SESSION_RECORDING) {
                        int r = hook_all(s);

                        if (r < 0)
                                return r;
                } else if (!hook_roots(s))
                        break;
        return 0;
}

static int begin_watch(Session *s, const char **ret_what) {
        int r;

        *ret_what = "watching the control files of tracefs";
        r = session_is_watched(s) ? health_watch(s->health) : 0;
        if (r >= 0) {
                *ret_what = "setting the timer of learning";
                r = session_lean_begin(s);
        }
        return r;
}

static void answer(Session *s) {
        while (s->hook_wishes) {
                HookWish *w = s->hook_wishes;

                s->hook_wishes = w->next;
                w->done(s, w->userdata);
                free(w);
        }
}

static void hook(void *userdata) {
        Session *s = userdata;
        const char *what = "writing set_ftrace_filter";
        int r;

        r = follow_state(s);
        s->is_hooking = false;
        if (r >= 0 && s->meta->state == SESSION_RECORDING)
                r = begin_watch(s, &what);
        if (r < 0 && s->meta->state == SESSION_RECORDING) {
                log_error_errno(r, "Session '%s' cannot record: %s failed: %m", s->meta->name,
                                what);
                session_stop(s, "its trigger fired, and it could not record");
        }
        session_triggers_hooked(s);
        if (session_is_live(s) && s->dir)
                session_save(s);
        answer(s);
        s->context->changed(s, s->context->userdata);
}

/* --- asking for it ---------------------------------------------------------------------------- */

/* Not while the kernel's buffer is being moved: nobody watches its files then. */
bool session_is_watched(const Session *s) {
        return s->meta->state == SESSION_RECORDING && !(s->snapshot && s->meta->spec.in_kernel);
}

bool session_hooks_change(const Session *s) {
        return s->is_hooking || s->is_narrowing;
}

bool session_hooks_are_due(const Session *s) {
        return session_hooks_change(s) || tracer_waits(s->tracer);
}

void session_hook(Session *s, uint64_t since_ns) {
        s->hook_since_ns = since_ns;
        if (!session_hooks_change(s) && !is_due(s))
                return;
        if (TAKE(s->is_hooking, true))
                return; /* the task looks again */
        if (aside_run(s->context->aside, hook, s) < 0)
                hook(s); /* the loop waits */
}

int session_when_hooked(Session *s, SessionHooked done, void *userdata) {
        HookWish *w;

        if (!s->is_hooking)
                return -EINVAL;
        w = malloc(sizeof(*w));
        if (!w)
                return -ENOMEM;
        *w = (HookWish){ .next = s->hook_wishes, .done = done, .userdata = userdata };
        s->hook_wishes = w;
        return 0;
}
