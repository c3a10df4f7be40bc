/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session's rules.  Each listens, if there is anything to hear it by, exactly as long as its firing
 * would do something: look() says so after every change, and nothing else switches notifiers on or off.
 * What happened meanwhile the notifier has counted, so that it can be told as suppressed.
 *
 * What a rule does without delay the kernel does first, by a switch; the daemon, told by the notifier,
 * does the rest: takes the time, lets the readers go, keeps a snapshot, waits again.
 */

#include <time.h>

#include "base/io.h"
#include "base/log.h"
#include "base/unit.h"
#include "daemon/session/session-trigger.h"

#define COUNT_LOOK_USEC (2 * USEC_PER_SEC)

typedef struct Rule {
        SessionTriggers *all;
        size_t i; /* in the spec, and in the captures' counts */
        Trigger trigger;
        Notifier *notifier;
        sd_event_source *timer; /* in, at, and while count looks at times */
        bool listens;
        bool has_switch;
} Rule;

struct SessionTriggers {
        SessionTriggersConfig config; /* from session_triggers_begin() on */
        Rule rules[TRIGGER_MAX];
        size_t n;
        sd_event_source *gap;      /* until a cap lets go */
        sd_event_source *stop;     /* a stop that has been ordered */
        sd_event_source *snapshot; /* likewise */
        bool start_queue;          /* some rule does, so it waits armed */
        bool repeats;              /* each recording becomes a snapshot, and it waits again */
        bool keeps;                /* some rule makes snapshots */
        bool has_begun;
        bool is_leaving; /* another daemon goes on */
        bool stops_next; /* when the snapshot that is under way is done */
        Rule *fired;     /* what else it does waits until all is hooked */
        char *fired_why;
};

static void look(SessionTriggers *t);

static const char *rule_text(const Rule *r) {
        return trigger_rule_on(r->all->config.meta->spec.triggers.items[r->i]);
}

static TriggerCount *rule_count(const Rule *r) {
        return &r->all->config.meta->captures.triggers[r->i];
}

static int switch_of(const Rule *r) {
        return tracer_switch_of(&r->all->config.meta->spec, &r->trigger);
}

static bool is_live(const SessionTriggers *t) {
        return session_state_is_live(t->config.meta->state);
}

static bool has_snapshot(const SessionTriggers *t) {
        return t->config.has_snapshot(t->config.session);
}

static void stop(const SessionTriggers *t, const char *reason) {
        t->config.stop(t->config.session, reason);
}

/* --- what a firing would do ------------------------------------------------------------------- */

static bool can_act(const Rule *r) {
        const SessionTriggers *t = r->all;
        SessionState state = t->config.meta->state;

        if (t->is_leaving)
                return false;
        if (r->trigger.does[TRIGGER_START])
                return state == SESSION_ARMED && !has_snapshot(t);
        if (state != SESSION_RECORDING)
                return false;
        if (r->trigger.does[TRIGGER_SNAPSHOT])
                return !has_snapshot(t) && !t->snapshot;
        return !t->stop && !t->stops_next;
}

/* How long a cap still holds captures back [ns]. */
static uint64_t wait_ns(const SessionTriggers *t) {
        const Spec *spec = &t->config.meta->spec;

        return captures_wait(&t->config.meta->captures,
                             &(CaptureCaps){ .max = spec->max_captures,
                                             .max_a_day = spec->max_captures_a_day,
                                             .min_gap_ns = spec->min_gap_ns },
                             now_ns(CLOCK_REALTIME));
}

/* --- doing it --------------------------------------------------------------------------------- */

static void do_stop(SessionTriggers *t, const char *why) {
        if (t->config.meta->state != SESSION_RECORDING)
                return;
        if (has_snapshot(t)) {
                t->stops_next = true;
                return;
        }
        if (t->repeats)
                t->config.pause(t->config.session, why);
        else
                stop(t, why);
}

static void do_snapshot(SessionTriggers *t, const char *why) {
        int r = t->config.snapshot(t->config.session, why);

        if (r < 0)
                log_warning_errno(r, "Session '%s': no snapshot can be made: %m",
                                  t->config.meta->name);
}

static int on_stop(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionTriggers *t = userdata;

        t->stop = sd_event_source_disable_unref(t->stop);
        do_stop(t, "stopped by its trigger");
        return 0;
}

static int on_snapshot(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionTriggers *t = userdata;

        t->snapshot = sd_event_source_disable_unref(t->snapshot);
        do_snapshot(t, "its trigger fired");
        return 0;
}

/* Now, or when the delay is over. */
static void order(const Rule *r, TriggerAction action, const char *why) {
        static void (*const now[_TRIGGER_ACTION_N])(SessionTriggers * t, const char *why) = {
                [TRIGGER_STOP] = do_stop,
                [TRIGGER_SNAPSHOT] = do_snapshot,
        };
        SessionTriggers *t = r->all;
        sd_event_source **timer = action == TRIGGER_STOP ? &t->stop : &t->snapshot;
        uint64_t delay_ns = r->trigger.delay_ns[action];

        if (!r->trigger.does[action] || *timer)
                return;
        if (delay_ns > 0 &&
            sd_event_add_time_relative(t->config.event, timer, CLOCK_MONOTONIC,
                                       delay_ns / NSEC_PER_USEC, 1000,
                                       action == TRIGGER_STOP ? on_stop : on_snapshot, t) >= 0)
                return;
        now[action](t, why);
}

static void order_the_rest(const Rule *r, const char *why) {
        order(r, TRIGGER_SNAPSHOT, why);
        order(r, TRIGGER_STOP, why);
}

static void put_off(Rule *r, const char *why) {
        SessionTriggers *t = r->all;

        free(t->fired_why);
        t->fired_why = strdup(why);
        t->fired = r;
}

/* Whether what else the rule does can follow now. */
static bool begin_recording(Rule *r, const char *why) {
        SessionTriggers *t = r->all;
        const char *what, *object;
        int k = t->config.go(t->config.session, &what, &object);

        if (k < 0) {
                log_error_errno(k, "Session '%s' cannot record: %s %s failed: %m",
                                t->config.meta->name, what, object);
                stop(t, "its trigger fired, and it could not record");
                return false;
        }
        if (session_hooks_change(t->config.hooks)) {
                put_off(r, why);
                return false;
        }
        return t->config.meta->state == SESSION_RECORDING; /* or it could not be hooked */
}

static void act(Rule *r, const char *why) {
        SessionMeta *m = r->all->config.meta;

        log_info("Session '%s': %s.", m->name, why);
        if (r->has_switch && switch_of(r) == 0) /* the kernel has switched it off */
                health_drop_watch(r->all->config.health);
        if (trigger_is_capture(&r->trigger))
                captures_note(&m->captures, now_ns(CLOCK_REALTIME));
        if (r->trigger.does[TRIGGER_START] && m->state == SESSION_ARMED && !begin_recording(r, why))
                return;
        order_the_rest(r, why);
}

/* @n: how often it happened; once is enough, the rest came too soon after. */
static void fire(Rule *r, uint64_t n) {
        SessionTriggers *t = r->all;
        TriggerCount *count = rule_count(r);
        bool is_capture = trigger_is_capture(&r->trigger);
        _cleanup_free_ char *why = NULL;

        if (t->is_leaving) /* the next daemon's */
                return;
        if (!can_act(r) || (is_capture && wait_ns(t) > 0)) {
                count->suppressed += is_capture ? n : 0;
                return;
        }
        count->fired++;
        count->suppressed += is_capture ? n - 1 : 0;
        count->last_ns = now_ns(CLOCK_REALTIME);
        if (asprintf(&why, "%s fired", rule_text(r)) < 0)
                why = NULL;
        act(r, why ?: "its trigger fired");
        if (!is_live(t))
                return;
        t->config.counted(t->config.session);
        look(t);
        t->config.changed(t->config.session);
}

/* --- hearing of it ---------------------------------------------------------------------------- */

static int on_count(sd_event_source *source, uint64_t usec, void *userdata);

/* Something rang, or has been ringing for a while: what came since the notifier was cleared. */
static void hear(Rule *r) {
        uint64_t n = 0;

        r->listens = false;
        if (r->all->is_leaving)
                return; /* the next daemon hears of it */
        if (notifier_count(r->notifier, &n) < 0 || n == 0) {
                look(r->all);
                return;
        }
        if (r->trigger.kind == TRIGGER_COUNT && n < r->trigger.value) {
                r->listens = true;
                if (sd_event_add_time_relative(r->all->config.event, &r->timer, CLOCK_MONOTONIC,
                                               COUNT_LOOK_USEC, 0, on_count, r) < 0)
                        (void) notifier_listen(r->notifier, true);
                return;
        }
        (void) notifier_clear(r->notifier);
        fire(r, r->trigger.kind == TRIGGER_COUNT ? 1 : n);
        look(r->all);
}

static int on_count(sd_event_source *source, uint64_t usec, void *userdata) {
        Rule *r = userdata;

        r->timer = sd_event_source_disable_unref(r->timer);
        hear(r);
        return 0;
}

static void on_ring(void *userdata) {
        hear(userdata);
}

static void put_switch(Rule *r) {
        const SessionTriggersConfig *c = &r->all->config;
        int on = switch_of(r), k;

        if (on < 0)
                return;
        (void) tracer_take_switch(c->tracer, r->i, &r->trigger, on > 0); /* one that is used up */
        k = tracer_put_switch(c->tracer, r->i, &r->trigger, on > 0);
        health_renew_hooks(c->health); /* that of a function is in set_ftrace_filter */
        r->has_switch = k >= 0;
        if (k < 0)
                health_warn(c->meta,
                            "the kernel does not take %s as a trigger of its own (%s): the daemon "
                            "does what it can a moment later",
                            rule_text(r), origin_text(k));
}

/* What is written to set_ftrace_filter must not come between. */
static void take_switch(Rule *r) {
        const SessionTriggersConfig *c = &r->all->config;

        if (session_hooks_change(c->hooks) || !TAKE(r->has_switch, false))
                return;
        (void) tracer_take_switch(c->tracer, r->i, &r->trigger, switch_of(r) > 0);
        health_renew_hooks(c->health);
}

/* Listens, and accounts for what happened while it did not. */
static void begin_to_listen(Rule *r) {
        uint64_t n = 0;

        if (r->all->has_begun && r->trigger.kind != TRIGGER_COUNT &&
            trigger_is_capture(&r->trigger) && notifier_count(r->notifier, &n) >= 0)
                rule_count(r)->suppressed += n;
        (void) notifier_clear(r->notifier);
        put_switch(r);
        r->listens = notifier_listen(r->notifier, true) >= 0;
}

static void end_to_listen(Rule *r) {
        take_switch(r);
        (void) notifier_listen(r->notifier, false);
        r->listens = false;
}

static int on_gap(sd_event_source *source, uint64_t usec, void *userdata) {
        SessionTriggers *t = userdata;

        t->gap = sd_event_source_disable_unref(t->gap);
        look(t);
        return 0;
}

/* All that may be captured has been. */
static bool is_done(const SessionTriggers *t, uint64_t wait) {
        SessionState state = t->config.meta->state;

        if (wait != UINT64_MAX || has_snapshot(t) || t->snapshot || t->stop)
                return false;
        if (t->repeats)
                return state == SESSION_ARMED;
        return t->keeps && !t->start_queue && state == SESSION_RECORDING;
}

static void look(SessionTriggers *t) {
        uint64_t wait = wait_ns(t);

        if (t->is_leaving)
                return;
        if (is_done(t, wait)) {
                stop(t, "as many captures were made as --max-captures allows");
                return;
        }
        for (size_t i = 0; i < t->n && !session_hooks_change(t->config.hooks); i++) {
                Rule *r = &t->rules[i];
                bool wants = can_act(r) && (wait == 0 || !trigger_is_capture(&r->trigger));

                if (!r->notifier || wants == r->listens || r->timer)
                        continue;
                if (wants)
                        begin_to_listen(r);
                else
                        end_to_listen(r);
        }
        if (wait > 0 && wait < UINT64_MAX && !t->gap)
                (void) sd_event_add_time_relative(t->config.event, &t->gap, CLOCK_BOOTTIME,
                                                  wait / NSEC_PER_USEC + 1, 0, on_gap, t);
}

void session_triggers_look(SessionTriggers *t) {
        if (!t || !t->has_begun || !is_live(t))
                return;
        if (!has_snapshot(t) && TAKE(t->stops_next, false))
                do_stop(t, "stopped by its trigger");
        if (is_live(t))
                look(t);
}

/* Its end was asked for meanwhile: switches stayed, and one may have switched recording on again. */
static void take_left_switches(SessionTriggers *t) {
        bool has_any = false;

        for (size_t i = 0; i < t->n; i++) {
                has_any = has_any || t->rules[i].has_switch;
                take_switch(&t->rules[i]);
        }
        if (has_any)
                (void) tracer_set_recording(t->config.tracer, false);
}

void session_triggers_hooked(SessionTriggers *t) {
        SessionState state;
        Rule *fired;

        if (!t || !t->config.meta || session_hooks_change(t->config.hooks))
                return;
        state = t->config.meta->state;
        if (state != SESSION_RECORDING && state != SESSION_ARMED) {
                take_left_switches(t);
                return;
        }
        fired = TAKE(t->fired, NULL);
        if (fired && state == SESSION_RECORDING)
                order_the_rest(fired, t->fired_why ?: "its trigger fired");
        session_triggers_look(t);
}

/* --- times ------------------------------------------------------------------------------------ */

/* The next moment after now that is @seconds after midnight, local time [us]. */
static uint64_t next_time_of_day_us(uint64_t seconds) {
        time_t now = time(NULL), at;
        struct tm tm;

        (void) localtime_r(&now, &tm);
        for (int day = 0;; day++) {
                struct tm then = tm;

                then.tm_mday += day;
                then.tm_hour = (int) (seconds / 3600);
                then.tm_min = (int) (seconds / 60 % 60);
                then.tm_sec = (int) (seconds % 60);
                then.tm_isdst = -1;
                at = mktime(&then);
                if (at > now || day > 1)
                        return (uint64_t) at * USEC_PER_SEC;
        }
}

static int set_timer(Rule *r);

static int on_time(sd_event_source *source, uint64_t usec, void *userdata) {
        Rule *r = userdata;

        r->timer = sd_event_source_disable_unref(r->timer);
        if (r->trigger.kind == TRIGGER_AT && !r->trigger.is_moment)
                (void) set_timer(r);
        fire(r, 1);
        return 0;
}

static int set_timer(Rule *r) {
        sd_event *event = r->all->config.event;
        uint64_t at_us;

        if (r->trigger.kind == TRIGGER_AT && !r->trigger.is_moment)
                return sd_event_add_time(event, &r->timer, CLOCK_REALTIME,
                                         next_time_of_day_us(r->trigger.value), 1000, on_time, r);
        if (rule_count(r)->fired + rule_count(r)->suppressed > 0)
                return 0; /* it was before this daemon */
        /* One that came while there was no daemon is made up for; systemd rounds the rest. */
        if (r->trigger.is_moment)
                return sd_event_add_time(event, &r->timer, CLOCK_REALTIME,
                                         r->trigger.value / NSEC_PER_USEC, 1, on_time, r);
        at_us = r->all->config.meta->armed.boottime_ns / NSEC_PER_USEC +
                MIN(r->trigger.value / NSEC_PER_USEC, UINT64_MAX / 4);
        return sd_event_add_time(event, &r->timer, CLOCK_BOOTTIME, at_us, 1000, on_time, r);
}

/* --- commands --------------------------------------------------------------------------------- */

int session_triggers_command(SessionTriggers *t, const char *who) {
        Rule *r = NULL;

        if (!t || !t->has_begun || !is_live(t))
                return ORIGIN(-EINVAL);
        for (size_t i = 0; i < t->n && !r; i++)
                if (t->rules[i].trigger.kind == TRIGGER_COMMAND)
                        r = &t->rules[i];
        if (!r)
                r = &t->rules[0];
        if (!can_act(r))
                return ORIGIN(-EBUSY);
        rule_count(r)->fired++;
        rule_count(r)->last_ns = now_ns(CLOCK_REALTIME);
        act(r, who);
        if (is_live(t)) {
                t->config.counted(t->config.session);
                look(t);
        }
        t->config.changed(t->config.session);
        return 0;
}

bool session_triggers_signal(SessionTriggers *t) {
        bool waits = false;

        for (size_t i = 0; t && t->has_begun && i < t->n; i++)
                if (t->rules[i].trigger.kind == TRIGGER_SIGNAL && is_live(t)) {
                        waits = true;
                        fire(&t->rules[i], 1);
                }
        return waits;
}

/* --- from the beginning to the end ------------------------------------------------------------ */

static int refuse(Refusal *refusal, const char *text) {
        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "triggers", "%s", text);
}

int session_triggers_admit(const Spec *spec, Refusal *refusal) {
        if (spec->in_kernel && !spec->ring)
                return refuse(refusal, "in_kernel is a kind of ring: say ring too");
        for (size_t i = 0; i < spec->triggers.n; i++) {
                _cleanup_trigger_ Trigger trigger = {};
                char why[TRIGGER_WHY_MAX];
                int r = trigger_parse(&trigger, spec->triggers.items[i], why);

                if (r != 0)
                        return r < 0 ? r : refuse(refusal, why);
                if (trigger.does[TRIGGER_SNAPSHOT] && !spec->ring)
                        return refuse(refusal,
                                      "a snapshot keeps what a ring has, and this is none: add "
                                      "--in-kernel (or --ring), or let the trigger start");
        }
        return 0;
}

int session_triggers_admit_moments(const Spec *spec, Refusal *refusal) {
        uint64_t now = now_ns(CLOCK_REALTIME);

        for (size_t i = 0; i < spec->triggers.n; i++) {
                _cleanup_trigger_ Trigger trigger = {};
                char why[TRIGGER_WHY_MAX], text[UNIT_TEXT_MAX];

                if (trigger_parse(&trigger, spec->triggers.items[i], why) != 0 ||
                    !trigger.is_moment || trigger.value > now)
                        continue;
                (void) snprintf(
                        why, sizeof(why),
                        "%s was %s ago by this host's clock when it was armed: name a later "
                        "moment, or set the clock",
                        trigger_rule_on(spec->triggers.items[i]),
                        format_duration(text, now - trigger.value));
                return refuse(refusal, why);
        }
        return 0;
}

int session_triggers_new(SessionTriggers **ret, SessionMeta *m, Refusal *refusal) {
        const Spec *spec = &m->spec;
        SessionTriggers *t;
        bool stops = false;
        int r;

        *ret = NULL;
        r = session_triggers_admit(spec, refusal);
        if (r != 0 || spec->triggers.n == 0)
                return r;
        t = calloc(1, sizeof(*t));
        if (!t)
                return -ENOMEM;
        for (; r == 0 && t->n < spec->triggers.n; t->n++) {
                Rule *rule = &t->rules[t->n];
                char why[TRIGGER_WHY_MAX];

                *rule = (Rule){ .all = t, .i = t->n };
                r = trigger_parse(&rule->trigger, spec->triggers.items[t->n], why);
                t->start_queue = t->start_queue || rule->trigger.does[TRIGGER_START];
                t->keeps = t->keeps || rule->trigger.does[TRIGGER_SNAPSHOT];
                stops = stops || rule->trigger.does[TRIGGER_STOP];
        }
        t->repeats = t->start_queue && stops && !spec->ring && spec->max_captures != 1;
        m->captures.n_triggers = t->n;
        *ret = t;
        return MIN(r, 0);
}

bool session_triggers_start(const SessionTriggers *t) {
        return t && t->start_queue;
}

/* What rang while there was no daemon. */
static void catch_up(SessionTriggers *t) {
        for (size_t i = 0; i < t->n; i++) {
                Rule *r = &t->rules[i];
                uint64_t n = 0;

                if (!r->notifier || r->trigger.kind == TRIGGER_COUNT ||
                    notifier_count(r->notifier, &n) < 0 || n == 0)
                        continue;
                (void) notifier_clear(r->notifier);
                fire(r, n);
        }
}

int session_triggers_begin(SessionTriggers *t, const SessionTriggersConfig *config,
                           bool is_adopted) {
        int r = 0;

        if (!t)
                return 0;
        t->config = *config;
        for (size_t i = 0; r >= 0 && i < t->n; i++) {
                Rule *rule = &t->rules[i];

                if (tracer_can_ring(&rule->trigger))
                        r = tracer_open_notifier(config->tracer, &rule->notifier, i, config->event,
                                                 on_ring, rule);
                else if (rule->trigger.kind == TRIGGER_IN || rule->trigger.kind == TRIGGER_AT)
                        r = set_timer(rule);
        }
        if (r < 0)
                return r;
        if (is_adopted)
                catch_up(t);
        look(t);
        t->has_begun = true;
        return 0;
}

void session_triggers_leave(SessionTriggers *t) {
        if (t)
                t->is_leaving = true;
}

/* Not freed: one of its rules may be what ends the session. */
void session_triggers_end(SessionTriggers *t) {
        if (!t)
                return;
        t->has_begun = false;
        for (size_t i = 0; i < t->n; i++) {
                if (t->rules[i].notifier)
                        end_to_listen(&t->rules[i]);
                t->rules[i].timer = sd_event_source_disable_unref(t->rules[i].timer);
        }
        t->gap = sd_event_source_disable_unref(t->gap);
        t->stop = sd_event_source_disable_unref(t->stop);
        t->snapshot = sd_event_source_disable_unref(t->snapshot);
}

SessionTriggers *session_triggers_free(SessionTriggers *t) {
        if (!t)
                return NULL;
        for (size_t i = 0; i < t->n; i++) {
                (void) sd_event_source_disable_unref(t->rules[i].timer);
                (void) notifier_free(t->rules[i].notifier);
                trigger_done(&t->rules[i].trigger);
        }
        (void) sd_event_source_disable_unref(t->gap);
        (void) sd_event_source_disable_unref(t->stop);
        (void) sd_event_source_disable_unref(t->snapshot);
        free(t->fired_why);
        return mfree(t);
}
