/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A session's rules.  Each listens, if there is anything to hear it by, exactly as long as its firing
 * would do something: look() says so after every change, and nothing else switches bells on or off.
 * What happened meanwhile the bell has counted, so that it can be told as suppressed.
 *
 * What a rule does without delay the kernel does first, by a switch; the daemon, told by the bell,
 * does the rest: takes the time, lets the readers go, keeps a snapshot, waits again.
 */

#include <time.h>

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/session-private.h"

#define COUNT_LOOK_USEC (2 * USEC_PER_SEC)

typedef struct Rule {
        SessionTriggers *all;
        size_t i; /* in the spec, and in the captures' counts */
        Trigger trigger;
        Bell *bell;
        sd_event_source *timer; /* in, at, and while count looks at times */
        bool listens;
        bool has_switch;
} Rule;

struct SessionTriggers {
        Session *session;
        Rule rules[TRIGGER_MAX];
        size_t n;
        sd_event_source *gap;      /* until a cap lets go */
        sd_event_source *stop;     /* a stop that has been ordered */
        sd_event_source *snapshot; /* likewise */
        bool starts;               /* some rule does, so it waits armed */
        bool repeats;              /* each recording becomes a snapshot, and it waits again */
        bool keeps;                /* some rule makes snapshots */
        bool has_begun;
        bool stops_next; /* when the snapshot that is under way is done */
        Rule *fired;     /* what else it does waits until all is hooked */
        char *fired_why;
};

static void look(SessionTriggers *t);

static const char *rule_text(const Rule *r) {
        return trigger_rule_on(r->all->session->meta->spec.triggers.items[r->i]);
}

static TriggerCount *rule_count(const Rule *r) {
        return &r->all->session->meta->captures.triggers[r->i];
}

static int switch_of(const Rule *r) {
        return tracer_switch_of(&r->all->session->meta->spec, &r->trigger);
}

/* --- what a firing would do ------------------------------------------------------------------- */

static bool can_act(const Rule *r) {
        const SessionTriggers *t = r->all;
        SessionState state = t->session->meta->state;

        if (t->session->is_leaving)
                return false;
        if (r->trigger.does[TRIGGER_START])
                return state == SESSION_ARMED && !t->session->snapshot;
        if (state != SESSION_RECORDING)
                return false;
        if (r->trigger.does[TRIGGER_SNAPSHOT])
                return !t->session->snapshot && !t->snapshot;
        return !t->stop && !t->stops_next;
}

/* How long a cap still holds captures back [ns]. */
static uint64_t wait_ns(const SessionTriggers *t) {
        const Spec *spec = &t->session->meta->spec;

        return captures_wait(&t->session->meta->captures,
                             &(CaptureCaps){ .max = spec->max_captures,
                                             .max_a_day = spec->max_captures_a_day,
                                             .min_gap_ns = spec->min_gap_ns },
                             now_ns(CLOCK_REALTIME));
}

/* --- doing it --------------------------------------------------------------------------------- */

static void do_stop(SessionTriggers *t, const char *why) {
        Session *s = t->session;

        if (s->meta->state != SESSION_RECORDING)
                return;
        if (s->snapshot) {
                t->stops_next = true;
                return;
        }
        if (t->repeats)
                session_pause(s, why);
        else
                session_stop(s, why);
}

static void do_snapshot(SessionTriggers *t, const char *why) {
        int r = session_snapshot(t->session, why, NULL, NULL);

        if (r < 0)
                log_warning_errno(r, "Session '%s': no snapshot can be made: %m",
                                  t->session->meta->name);
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
            sd_event_add_time_relative(t->session->context->event, timer, CLOCK_MONOTONIC,
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

static void act(Rule *r, const char *why) {
        Session *s = r->all->session;
        const char *what, *object;
        int k;

        log_info("Session '%s': %s.", s->meta->name, why);
        if (r->has_switch && switch_of(r) == 0) /* the kernel has switched it off */
                health_drop_watch(s->health);
        if (trigger_is_capture(&r->trigger))
                captures_note(&s->meta->captures, now_ns(CLOCK_REALTIME));
        if (r->trigger.does[TRIGGER_START] && s->meta->state == SESSION_ARMED) {
                k = session_go(s, &what, &object);
                if (k < 0) {
                        log_error_errno(k, "Session '%s' cannot record: %s %s failed: %m",
                                        s->meta->name, what, object);
                        session_stop(s, "its trigger fired, and it could not record");
                        return;
                }
                if (session_hooks_change(s)) {
                        put_off(r, why);
                        return;
                }
                if (s->meta->state != SESSION_RECORDING)
                        return; /* it could not be hooked */
        }
        order_the_rest(r, why);
}

/* @n: how often it happened; once is enough, the rest came too soon after. */
static void fire(Rule *r, uint64_t n) {
        Session *s = r->all->session;
        TriggerCount *count = rule_count(r);
        bool is_capture = trigger_is_capture(&r->trigger);
        _cleanup_free_ char *why = NULL;

        if (s->is_leaving) /* the next daemon's */
                return;
        if (!can_act(r) || (is_capture && wait_ns(r->all) > 0)) {
                count->suppressed += is_capture ? n : 0;
                return;
        }
        count->fired++;
        count->suppressed += is_capture ? n - 1 : 0;
        count->last_ns = now_ns(CLOCK_REALTIME);
        if (asprintf(&why, "%s fired", rule_text(r)) < 0)
                why = NULL;
        act(r, why ?: "its trigger fired");
        if (!session_is_live(s))
                return;
        session_save(s);
        look(r->all);
        s->context->changed(s, s->context->userdata);
}

/* --- hearing of it ---------------------------------------------------------------------------- */

static int on_count(sd_event_source *source, uint64_t usec, void *userdata);

/* Something rang, or has been ringing for a while: what came since the bell was cleared. */
static void hear(Rule *r) {
        uint64_t n = 0;

        r->listens = false;
        if (r->all->session->is_leaving)
                return; /* the next daemon hears of it */
        if (bell_count(r->bell, &n) < 0 || n == 0) {
                look(r->all);
                return;
        }
        if (r->trigger.kind == TRIGGER_COUNT && n < r->trigger.value) {
                r->listens = true;
                if (sd_event_add_time_relative(r->all->session->context->event, &r->timer,
                                               CLOCK_MONOTONIC, COUNT_LOOK_USEC, 0, on_count,
                                               r) < 0)
                        (void) bell_listen(r->bell, true);
                return;
        }
        (void) bell_clear(r->bell);
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
        Session *s = r->all->session;
        int on = switch_of(r), k;

        if (on < 0)
                return;
        (void) tracer_take_switch(s->tracer, r->i, &r->trigger, on > 0); /* one that is used up */
        k = tracer_put_switch(s->tracer, r->i, &r->trigger, on > 0);
        r->has_switch = k >= 0;
        if (k < 0)
                session_warn(s,
                             "the kernel does not take %s as a trigger of its own (%s): the daemon "
                             "does what it can a moment later",
                             rule_text(r), strerror(-k));
}

/* What is written to set_ftrace_filter must not come between. */
static void take_switch(Rule *r) {
        if (session_hooks_change(r->all->session))
                return;
        if (TAKE(r->has_switch, false))
                (void) tracer_take_switch(r->all->session->tracer, r->i, &r->trigger,
                                          switch_of(r) > 0);
}

/* Listens, and accounts for what happened while it did not. */
static void begin_to_listen(Rule *r) {
        uint64_t n = 0;

        if (r->all->has_begun && r->trigger.kind != TRIGGER_COUNT &&
            trigger_is_capture(&r->trigger) && bell_count(r->bell, &n) >= 0)
                rule_count(r)->suppressed += n;
        (void) bell_clear(r->bell);
        put_switch(r);
        r->listens = bell_listen(r->bell, true) >= 0;
}

static void end_to_listen(Rule *r) {
        take_switch(r);
        (void) bell_listen(r->bell, false);
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
        const Session *s = t->session;

        if (wait != UINT64_MAX || s->snapshot || t->snapshot || t->stop)
                return false;
        if (t->repeats)
                return s->meta->state == SESSION_ARMED;
        return t->keeps && !t->starts && s->meta->state == SESSION_RECORDING;
}

static void look(SessionTriggers *t) {
        uint64_t wait = wait_ns(t);

        if (!t->session->tracer || t->session->is_leaving)
                return;
        if (is_done(t, wait)) {
                session_stop(t->session, "as many captures were made as --max-captures allows");
                return;
        }
        for (size_t i = 0; i < t->n && !session_hooks_change(t->session); i++) {
                Rule *r = &t->rules[i];
                bool wants = can_act(r) && (wait == 0 || !trigger_is_capture(&r->trigger));

                if (!r->bell || wants == r->listens || r->timer)
                        continue;
                if (wants)
                        begin_to_listen(r);
                else
                        end_to_listen(r);
        }
        if (wait > 0 && wait < UINT64_MAX && !t->gap)
                (void) sd_event_add_time_relative(t->session->context->event, &t->gap,
                                                  CLOCK_BOOTTIME, wait / NSEC_PER_USEC + 1, 0,
                                                  on_gap, t);
}

void session_triggers_look(Session *s) {
        SessionTriggers *t = s->triggers;

        if (!t || !t->has_begun || !session_is_live(s))
                return;
        if (!s->snapshot && TAKE(t->stops_next, false))
                do_stop(t, "stopped by its trigger");
        if (session_is_live(s))
                look(t);
}

/* Its end was asked for meanwhile: switches stayed, and one may have switched recording on again. */
static void take_left_switches(SessionTriggers *t) {
        bool has_any = false;

        for (size_t i = 0; i < t->n; i++) {
                has_any = has_any || t->rules[i].has_switch;
                take_switch(&t->rules[i]);
        }
        if (has_any && t->session->tracer)
                (void) tracer_set_recording(t->session->tracer, false);
}

void session_triggers_hooked(Session *s) {
        SessionTriggers *t = s->triggers;
        Rule *fired;

        if (!t || session_hooks_change(s))
                return;
        if (s->meta->state != SESSION_RECORDING && s->meta->state != SESSION_ARMED) {
                take_left_switches(t);
                return;
        }
        fired = TAKE(t->fired, NULL);
        if (fired && s->meta->state == SESSION_RECORDING)
                order_the_rest(fired, t->fired_why ?: "its trigger fired");
        session_triggers_look(s);
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
        if (r->trigger.kind == TRIGGER_AT)
                (void) set_timer(r);
        fire(r, 1);
        return 0;
}

static int set_timer(Rule *r) {
        const Session *s = r->all->session;
        sd_event *event = s->context->event;
        uint64_t at_us;

        if (r->trigger.kind == TRIGGER_AT)
                return sd_event_add_time(event, &r->timer, CLOCK_REALTIME,
                                         next_time_of_day_us(r->trigger.value), 1000, on_time, r);
        if (rule_count(r)->fired + rule_count(r)->suppressed > 0)
                return 0; /* it was before this daemon */
        at_us = s->meta->armed.boottime_ns / NSEC_PER_USEC +
                MIN(r->trigger.value / NSEC_PER_USEC, UINT64_MAX / 4);
        return sd_event_add_time(event, &r->timer, CLOCK_BOOTTIME, at_us, 1000, on_time, r);
}

/* --- commands --------------------------------------------------------------------------------- */

int session_trigger(Session *s, const char *who) {
        SessionTriggers *t = s->triggers;
        Rule *r = NULL;

        if (!t || !t->has_begun || !session_is_live(s))
                return -EINVAL;
        for (size_t i = 0; i < t->n && !r; i++)
                if (t->rules[i].trigger.kind == TRIGGER_COMMAND)
                        r = &t->rules[i];
        if (!r)
                r = &t->rules[0];
        if (!can_act(r))
                return -EBUSY;
        rule_count(r)->fired++;
        rule_count(r)->last_ns = now_ns(CLOCK_REALTIME);
        act(r, who);
        if (session_is_live(s)) {
                session_save(s);
                look(t);
        }
        s->context->changed(s, s->context->userdata);
        return 0;
}

bool session_signal(Session *s) {
        SessionTriggers *t = s->triggers;
        bool waits = false;

        for (size_t i = 0; t && t->has_begun && i < t->n; i++)
                if (t->rules[i].trigger.kind == TRIGGER_SIGNAL && session_is_live(s)) {
                        waits = true;
                        fire(&t->rules[i], 1);
                }
        return waits;
}

/* --- from the beginning to the end ------------------------------------------------------------ */

static int refuse(Refusal *refusal, const char *text) {
        return refusal_set(refusal, REFUSAL_INVALID_SPEC, json_pack("{s:s}", "field", "triggers"),
                           "%s", text);
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

int session_triggers_new(Session *s, Refusal *refusal) {
        const Spec *spec = &s->meta->spec;
        SessionTriggers *t;
        bool stops = false;
        int r;

        r = session_triggers_admit(spec, refusal);
        if (r != 0 || spec->triggers.n == 0)
                return r;
        t = calloc(1, sizeof(*t));
        if (!t)
                return -ENOMEM;
        s->triggers = t;
        t->session = s;
        for (; r == 0 && t->n < spec->triggers.n; t->n++) {
                Rule *rule = &t->rules[t->n];
                char why[TRIGGER_WHY_MAX];

                *rule = (Rule){ .all = t, .i = t->n };
                r = trigger_parse(&rule->trigger, spec->triggers.items[t->n], why);
                t->starts = t->starts || rule->trigger.does[TRIGGER_START];
                t->keeps = t->keeps || rule->trigger.does[TRIGGER_SNAPSHOT];
                stops = stops || rule->trigger.does[TRIGGER_STOP];
        }
        t->repeats = t->starts && stops && !spec->ring && spec->max_captures != 1;
        s->meta->captures.n_triggers = t->n;
        return MIN(r, 0);
}

bool session_waits_for_start(const Session *s) {
        return s->triggers && s->triggers->starts;
}

/* What rang while there was no daemon. */
static void catch_up(SessionTriggers *t) {
        for (size_t i = 0; i < t->n; i++) {
                Rule *r = &t->rules[i];
                uint64_t n = 0;

                if (!r->bell || r->trigger.kind == TRIGGER_COUNT || bell_count(r->bell, &n) < 0 ||
                    n == 0)
                        continue;
                (void) bell_clear(r->bell);
                fire(r, n);
        }
}

int session_triggers_begin(Session *s, bool is_adopted) {
        SessionTriggers *t = s->triggers;
        int r = 0;

        for (size_t i = 0; t && r >= 0 && i < t->n; i++) {
                Rule *rule = &t->rules[i];

                if (tracer_can_ring(&rule->trigger))
                        r = tracer_open_bell(s->tracer, &rule->bell, i, s->context->event, on_ring,
                                             rule);
                else if (rule->trigger.kind == TRIGGER_IN || rule->trigger.kind == TRIGGER_AT)
                        r = set_timer(rule);
        }
        if (!t || r < 0)
                return r;
        if (is_adopted)
                catch_up(t);
        look(t);
        t->has_begun = true;
        return 0;
}

/* Not freed: one of its rules may be what ends the session. */
void session_triggers_end(Session *s) {
        SessionTriggers *t = s->triggers;

        if (!t)
                return;
        t->has_begun = false;
        for (size_t i = 0; i < t->n; i++) {
                if (t->rules[i].bell)
                        end_to_listen(&t->rules[i]);
                t->rules[i].timer = sd_event_source_disable_unref(t->rules[i].timer);
        }
        t->gap = sd_event_source_disable_unref(t->gap);
        t->stop = sd_event_source_disable_unref(t->stop);
        t->snapshot = sd_event_source_disable_unref(t->snapshot);
}

void session_triggers_free(Session *s) {
        SessionTriggers *t = TAKE_PTR(s->triggers);

        for (size_t i = 0; t && i < t->n; i++) {
                (void) sd_event_source_disable_unref(t->rules[i].timer);
                (void) bell_free(t->rules[i].bell);
                trigger_done(&t->rules[i].trigger);
        }
        if (t) {
                (void) sd_event_source_disable_unref(t->gap);
                (void) sd_event_source_disable_unref(t->stop);
                (void) sd_event_source_disable_unref(t->snapshot);
        }
        if (t)
                free(t->fired_why);
        free(t);
}
