/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Three timers: of learning, which goes on until enough is known; of looking at what others call; and of
 * learning again, when enough was known long enough ago.  What is hooked is changed by a task.
 */

#include "base/log.h"
#include "base/unit.h"
#include "daemon/lean/lean.h"
#include "daemon/session/session-lean.h"
#include "daemon/watch/bystander-watch.h"
#include "daemon/watch/learning-pass.h"

#define LEARN_US (5 * USEC_PER_SEC)
#define GUESS_US LEARN_US            /* as long as what is hooked was not learned here */
#define WATCH_US USEC_PER_SEC        /* the first time */
#define WATCH_FACTOR 8               /* ... and how much later each time */
#define PART_US (100 * USEC_PER_SEC) /* until the next look: this one is at a part */
#define MAX_US (UINT64_C(3600) * USEC_PER_SEC)
#define BUDGET_PERCENT                                                                             \
        75 /* of it is what others may pay by their calls: the rest is function_graph's own */

typedef struct LeanTimer {
        sd_event_source *source; /* NULL: it is not set */
        uint64_t us;             /* that it is set to next */
} LeanTimer;

struct SessionLean {
        SessionLeanConfig config;
        LeanTimer learn, watch, widen;
        LearningPass *learning_pass; /* goes on after the end */
        BystanderWatch *bystanders;
        unsigned n_parts;            /* that were looked at */
        bool has_found;              /* the last look did */
        bool is_due[_HOOK_REASON_N]; /* a task is to change what is hooked, and why */
        bool has_task, has_ended;
};

int session_lean_new(SessionLean **ret, const SessionLeanConfig *config) {
        *ret = NEW(SessionLean, .config = *config);
        return *ret ? 0 : -ENOMEM;
}

static void stop_timers(SessionLean *l) {
        l->learn.source = sd_event_source_disable_unref(l->learn.source);
        l->watch.source = sd_event_source_disable_unref(l->watch.source);
        l->widen.source = sd_event_source_disable_unref(l->widen.source);
}

SessionLean *session_lean_free(SessionLean *l) {
        if (!l)
                return NULL;
        stop_timers(l);
        (void) learning_pass_free(l->learning_pass);
        (void) bystander_watch_free(l->bystanders);
        return mfree(l);
}

static bool is_recording(const SessionLean *l) {
        return !l->has_ended && l->config.meta->state == SESSION_RECORDING;
}

static int set_timer(SessionLean *l, LeanTimer *t, sd_event_time_handler_t on_timer,
                     unsigned factor) {
        uint64_t us = t->us;

        t->us = MIN(factor * us, MAX_US);
        t->source = sd_event_source_disable_unref(t->source);
        return sd_event_add_time_relative(l->config.event, &t->source, CLOCK_MONOTONIC, us, 0,
                                          on_timer, l);
}

/* --- what is hooked ---------------------------------------------------------------------------- */

static int set_learn_timer(SessionLean *l);
static int set_widen_timer(SessionLean *l);

/* A task. */
static void change_hooks(void *userdata) {
        SessionLean *l = userdata;

        l->has_task = false;
        for (HookReason reason = 0; reason < _HOOK_REASON_N; reason++)
                if (TAKE(l->is_due[reason], false) && is_recording(l))
                        l->config.rehook(l->config.session, reason);
        if (!is_recording(l))
                return;
        if (l->config.meta->learns && !l->learning_pass && !l->learn.source)
                (void) set_learn_timer(l);
        else if (!l->config.meta->learns && !l->widen.source)
                (void) set_widen_timer(l);
}

static void ask_for_change(SessionLean *l, HookReason reason) {
        l->is_due[reason] = true;
        if (TAKE(l->has_task, true))
                return;
        if (background_run(l->config.background, change_hooks, l) < 0)
                change_hooks(l); /* the loop waits */
}

/* --- learning ---------------------------------------------------------------------------------- */

static int set_watch_timer(SessionLean *l);

static void on_learning_pass(int error, void *userdata) {
        SessionLean *l = userdata;

        l->learning_pass = learning_pass_free(l->learning_pass);
        l->config.changed(l->config.session);
        if (!is_recording(l))
                return;
        if (error < 0) {
                (void) set_learn_timer(l);
                return;
        }
        ask_for_change(l, HOOK_NARROWED);
        if (l->watch.source) { /* what others called too often is forgotten, and hooked */
                l->watch.us = WATCH_US;
                (void) set_watch_timer(l);
        }
}

static void look(SessionLean *l) {
        const SessionLeanConfig *c = &l->config;
        int r;

        if (l->learning_pass)
                return;
        r = learning_pass_start(&l->learning_pass, c->event, c->background, c->controller, c->dir,
                                c->meta, tracer_quiet(c->tracer), on_learning_pass, l);
        if (r < 0 && r != -ENODATA)
                (void) log_warning_errno(r, "Session '%s': cannot learn what it calls: %m",
                                         c->meta->name);
        if (r < 0 && is_recording(l))
                (void) set_learn_timer(l);
}

static int on_learn(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        l->learn.source = sd_event_source_disable_unref(l->learn.source);
        look(l);
        return 0;
}

static int set_learn_timer(SessionLean *l) {
        return set_timer(l, &l->learn, on_learn, 2);
}

/* --- what others call -------------------------------------------------------------------------- */

static void on_bystanders(const Strv *names, const uint32_t *ppm, int error, void *userdata) {
        SessionLean *l = userdata;
        const SessionLeanConfig *c = &l->config;
        int r = error;

        if (r >= 0 && names->n > 0)
                r = controller_learn_hot(c->controller, c->meta, c->meta->kernel ?: "", names, ppm);
        if (r >= 0 && names->n > 0) {
                log_info("Session '%s': others call %zu functions often, %s most: they are left "
                         "out.",
                         c->meta->name, names->n, names->items[0]);
                l->watch.us = WATCH_US; /* something has begun: there may be more of it */
                l->has_found = true;
                ask_for_change(l, HOOK_SPARED);
        }
        if (r < 0)
                log_debug("lean", "%s: what others call is not known: %s", c->meta->name,
                          origin_text(r));
        l->bystanders = bystander_watch_free(l->bystanders);
        (void) set_watch_timer(l);
}

/* Of the first looks: another each time, but all where something was found a moment ago. */
static unsigned choose_part(SessionLean *l) {
        return l->watch.us > PART_US || TAKE(l->has_found, false)
                       ? 0
                       : l->n_parts++ % CONTROLLER_SAMPLE_PARTS + 1;
}

static int on_watch(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;
        const SessionLeanConfig *c = &l->config;
        int r;

        l->watch.source = sd_event_source_disable_unref(l->watch.source);
        r = bystander_watch_start(&l->bystanders,
                                  &(BystanderWatchConfig){ .event = c->event,
                                                           .background = c->background,
                                                           .controller = c->controller,
                                                           .name = c->meta->name,
                                                           .tracer = c->tracer,
                                                           .dir = c->dir,
                                                           .roots = &c->meta->roots,
                                                           .budget_ppm = c->meta->spec.budget_ppm /
                                                                         100 * BUDGET_PERCENT,
                                                           .part = choose_part(l),
                                                           .done = on_bystanders,
                                                           .userdata = l });
        return r < 0 ? set_watch_timer(l) : 0;
}

static int set_watch_timer(SessionLean *l) {
        return is_recording(l) ? set_timer(l, &l->watch, on_watch, WATCH_FACTOR) : 0;
}

/*
 * Others' calls are what was called less what was recorded, so both have to be known: not of what stays in the
 * kernel's buffer, by another clock, or of slow calls alone.
 */
static bool can_watch(const SessionMeta *m) {
        return m->spec.lean == LEAN_AUTO && lean_asks(&m->spec) && !m->spec.in_kernel &&
               m->spec.slower_ns == 0 && streq_ptr(m->clock, SPEC_DEFAULT_CLOCK);
}

/* --- learning again ---------------------------------------------------------------------------- */

static int on_widen(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionLean *l = userdata;

        l->widen.source = sd_event_source_disable_unref(l->widen.source);
        l->learn.us = LEARN_US;
        ask_for_change(l, HOOK_WIDENED);
        return 0;
}

static int set_widen_timer(SessionLean *l) {
        const SessionMeta *m = l->config.meta;
        uint64_t us = m->learned_ns == 0 ? GUESS_US : l->config.widen_us;

        if (m->spec.lean != LEAN_AUTO || !lean_asks(&m->spec) || m->n_hooked == 0 || us == 0)
                return 0;
        l->widen.us = us;
        return set_timer(l, &l->widen, on_widen, 1);
}

/* --- from begin to end ------------------------------------------------------------------------- */

int session_lean_begin(SessionLean *l) {
        const SessionMeta *m = l->config.meta;
        int r = 0;

        if (!lean_asks(&m->spec))
                return 0;
        if (m->learns && !l->learn.source && !l->learning_pass) {
                l->learn.us = LEARN_US;
                r = set_learn_timer(l);
        }
        if (r >= 0 && !m->learns && !l->widen.source)
                r = set_widen_timer(l);
        if (r >= 0 && can_watch(m) && !l->watch.source && !l->bystanders) {
                l->watch.us = WATCH_US;
                /* Its state changes in a moment: it is not set_watch_timer() that sets it. */
                r = set_timer(l, &l->watch, on_watch, WATCH_FACTOR);
        }
        return r;
}

void session_lean_look_at_modules(SessionLean *l) {
        const SessionMeta *m = l->config.meta;

        if (is_recording(l) && m->n_hooked == 0 && m->n_ordinary > 0)
                ask_for_change(l, HOOK_MODULES);
}

void session_lean_end(SessionLean *l, bool has_calls) {
        stop_timers(l);
        l->bystanders = bystander_watch_free(l->bystanders);
        if (l->config.meta->learns && has_calls)
                look(l);
        l->has_ended = true;
}

bool session_lean_is_busy(const SessionLean *l) {
        return l && l->learning_pass;
}
