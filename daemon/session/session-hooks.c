/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The task looks at the state after each change, so that the last word is hooked however often it
 * changed.  What is to be done once everything is hooked is done at the task's end: watching the
 * control files, which nobody else has changed then, learning, the trigger's other actions, and the
 * answers to whoever asked for it.
 */

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-hooks.h"

typedef struct HookWish HookWish;
struct HookWish {
        HookWish *next;
        SessionHooked done;
        void *userdata;
};

struct SessionHooks {
        SessionHooksConfig config;
        bool is_hooking; /* a task is under way, or will be */
        bool is_rehooking;
        bool was_hooked;   /* and not its roots alone, while it recorded */
        uint64_t since_ns; /* of session_hooks_follow() */
        HookWish *wishes;
};

int session_hooks_new(SessionHooks **ret, const SessionHooksConfig *config) {
        *ret = NEW(SessionHooks, .config = *config);
        return *ret ? 0 : -ENOMEM;
}

SessionHooks *session_hooks_free(SessionHooks *h) {
        return mfree(h);
}

/* --- what is missing -------------------------------------------------------------------------- */

static void warn_late(const SessionHooks *h) {
        char text[UNIT_TEXT_MAX];

        if (h->since_ns == 0)
                health_warn(h->config.meta,
                            "nothing but the roots was hooked when the daemon ended: what they "
                            "call is recorded only from when the next one had it hooked");
        else
                health_warn(h->config.meta,
                            "nothing but the roots was hooked while it waited: what they call is "
                            "recorded from about %s after the trigger on; --lean=FILE, or --lean "
                            "once it has learned, hooks it from the beginning",
                            format_duration(text, now_ns(CLOCK_MONOTONIC) - h->since_ns));
}

void session_hooks_interrupt(SessionHooks *h) {
        if (h && h->is_hooking && h->config.meta->state == SESSION_RECORDING &&
            tracer_waits(h->config.tracer))
                health_warn(h->config.meta,
                            "it ended before more than its roots was hooked: what they call is "
                            "missing; --lean=FILE, or --lean once it has learned, hooks it "
                            "from the beginning");
}

/* --- the task --------------------------------------------------------------------------------- */

static int hook_all(SessionHooks *h) {
        int r = tracer_hook_all(h->config.tracer);

        if (r < 0 || h->config.meta->state != SESSION_RECORDING)
                return r;
        warn_late(h);
        h->was_hooked = true;
        return 0;
}

/* Whether they are; a session that waits can do without. */
static bool hook_roots(SessionHooks *h) {
        int r = tracer_hook_roots(h->config.tracer, h->config.meta);

        if (r < 0)
                health_warn(h->config.meta,
                            "what it calls stays hooked while it waits: set_ftrace_filter could "
                            "not be written: %s",
                            origin_text(r));
        return r >= 0;
}

/* Whether what is hooked is not what the state asks for. */
static bool is_due(const SessionHooks *h) {
        const SessionMeta *m = h->config.meta;

        if (m->state == SESSION_RECORDING)
                return tracer_waits(h->config.tracer);
        return m->state == SESSION_ARMED && tracer_can_wait(h->config.tracer, m);
}

/* The state may change meanwhile. */
static int follow_state(SessionHooks *h) {
        while (is_due(h))
                if (h->config.meta->state == SESSION_RECORDING) {
                        int r = hook_all(h);

                        if (r < 0)
                                return r;
                } else if (!hook_roots(h))
                        break;
        return 0;
}

static void answer(SessionHooks *h) {
        for (HookWish *w; (w = POP(h->wishes));) {
                w->done(h->config.session, w->userdata);
                free(w);
        }
}

static void hook(void *userdata) {
        SessionHooks *h = userdata;
        const SessionHooksConfig *c = &h->config;
        const char *what = "writing set_ftrace_filter";
        int r = follow_state(h);

        h->is_hooking = false;
        if (r >= 0 && c->meta->state == SESSION_RECORDING)
                r = c->hooked(c->session, &what);
        if (r < 0 && c->meta->state == SESSION_RECORDING) {
                log_error_errno(r, "Session '%s' cannot record: %s failed: %m", c->meta->name,
                                what);
                c->failed(c->session);
        }
        c->settled(c->session);
        answer(h);
        c->changed(c->session);
}

/* --- asking for it ---------------------------------------------------------------------------- */

bool session_hooks_change(const SessionHooks *h) {
        return h && (h->is_hooking || h->is_rehooking);
}

bool session_hooks_are_due(const SessionHooks *h) {
        return session_hooks_change(h) || tracer_waits(h->config.tracer);
}

bool session_hooks_had_calls(const SessionHooks *h) {
        return h->was_hooked || !tracer_waits(h->config.tracer);
}

void session_hooks_follow(SessionHooks *h, uint64_t since_ns) {
        h->since_ns = since_ns;
        if (!session_hooks_change(h) && !is_due(h))
                return;
        if (TAKE(h->is_hooking, true))
                return; /* the task looks again */
        if (background_run(h->config.background, hook, h) < 0)
                hook(h); /* the loop waits */
}

int session_hooks_await(SessionHooks *h, SessionHooked done, void *userdata) {
        HookWish *w;

        if (!h->is_hooking)
                return ORIGIN(-EINVAL);
        w = NEW(HookWish, .next = h->wishes, .done = done, .userdata = userdata);
        if (!w)
                return -ENOMEM;
        h->wishes = w;
        return 0;
}

/* --- hooking less, or more --------------------------------------------------------------------- */

static void note(SessionHooks *h, HookReason reason, const ClockTuple *since) {
        SessionMeta *m = h->config.meta;
        ClockTuple now;

        if (tracer_read_clocks(h->config.tracer, &now) < 0)
                return;
        (void) own_works_add(&m->own_work, since->trace_ns, now.trace_ns);
        if (m->n_hooked > 0)
                m->narrowed_ns = now.trace_ns;
        (void) hook_changes_add(&m->hook_changes, &(HookChange){ .trace_ns = now.trace_ns,
                                                                 .reason = reason,
                                                                 .n_hooked = m->n_hooked,
                                                                 .n_known = m->n_known });
}

/* Whether it did. */
static bool rehook(SessionHooks *h, LeanScope scope, const Load *load, HookReason reason) {
        const SessionHooksConfig *c = &h->config;
        uint32_t n_before = c->meta->n_hooked;
        char text[UNIT_TEXT_MAX];
        ClockTuple since = {};
        int r, k;

        if (h->is_hooking) /* nothing but its roots is hooked, or will be */
                return false;
        if (tracer_read_clocks(c->tracer, &since) < 0)
                return false;
        health_hold_hooks(c->health);
        h->is_rehooking = true;
        r = controller_rehook(c->controller, c->tracer, c->meta, scope, load);
        h->is_rehooking = false;
        /* It may have been stopped meanwhile, or be about to be hooked. */
        k = c->is_watched(c->session) && !h->is_hooking ? health_release_hooks(c->health) : 0;
        if (k < 0)
                (void) log_warning_errno(k, "Session '%s' is not watched any more: %m",
                                         c->meta->name);
        if (r < 0)
                (void) log_warning_errno(r,
                                         "Session '%s' goes on with what is hooked: "
                                         "set_ftrace_filter could not be changed: %m",
                                         c->meta->name);
        if (r > 1)
                health_warn(c->meta,
                            "calls below its roots are missing for up to %s: this kernel hooks few "
                            "functions while a long list of them is written",
                            format_duration(text, now_ns(CLOCK_MONOTONIC) - since.monotonic_ns));
        if (reason == HOOK_THINNED && c->meta->n_hooked > n_before)
                reason = HOOK_RESTORED;
        if (r > 0)
                note(h, reason, &since);
        return r > 0;
}

void session_hooks_rehook(SessionHooks *h, LeanScope scope, const Load *load, HookReason reason) {
        const SessionMeta *m = h->config.meta;

        if (!rehook(h, scope, load, reason))
                return;
        if (m->n_hooked > 0)
                log_info("Session '%s' hooks %u functions from now on; its roots are known to "
                         "call %u.",
                         m->name, m->n_hooked, m->n_known);
        else
                log_info("Session '%s' hooks all functions for a moment, to learn what it calls.",
                         m->name);
        h->config.rehooked(h->config.session);
}

void session_hooks_list(SessionHooks *h) {
        const SessionMeta *m = h->config.meta;

        if (m->n_hooked > 0 || tracer_waits(h->config.tracer) ||
            !rehook(h, m->tree_from == TREE_LESSON ? LEAN_LESSON : LEAN_TREE, NULL, HOOK_WIDENED))
                return;
        h->config.rehooked(h->config.session);
}
