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
#include "daemon/session/session-private.h"

#define COUNT_LOOK_USEC (2 * USEC_PER_SEC)

static void look(Session *s);

/* --- what a firing would do ------------------------------------------------------------------- */

static bool can_act(const Rule *r) {
        const Session *s = r->session;
        SessionState state = s->meta->state;

        if (s->is_leaving || s->stop_reason)
                return false;
        if (r->trigger.does[TRIGGER_START])
                return state == SESSION_ARMED && !s->snapshot;
        if (state != SESSION_RECORDING)
                return false;
        if (r->trigger.does[TRIGGER_SNAPSHOT])
                return !s->snapshot && !s->triggers.snapshot;
        return !s->triggers.stop && !s->triggers.stops_next;
}

/* How long a cap still holds captures back [ns]. */
static uint64_t wait_ns(const Session *s) {
        const Spec *spec = &s->meta->spec;

        return captures_wait(&s->meta->captures, spec->max_captures, spec->max_captures_a_day,
                             spec->min_gap_ns, now_ns(CLOCK_REALTIME));
}

/* --- doing it --------------------------------------------------------------------------------- */

static void do_stop(Session *s, const char *why) {
        if (s->meta->state != SESSION_RECORDING)
                return;
        if (s->snapshot) {
                s->triggers.stops_next = true;
                return;
        }
        if (s->triggers.repeats)
                session_pause(s, why);
        else
                session_stop(s, why);
}

static void do_snapshot(Session *s, const char *why) {
        int r = session_snapshot(s, why, NULL, NULL);

        if (r < 0)
                log_warning_errno(r, "Session \"%s\": no snapshot can be made: %m", s->meta->name);
}

static int on_stop(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        s->triggers.stop = sd_event_source_disable_unref(s->triggers.stop);
        do_stop(s, "stopped by its trigger");
        return 0;
}

static int on_snapshot(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        s->triggers.snapshot = sd_event_source_disable_unref(s->triggers.snapshot);
        do_snapshot(s, "its trigger fired");
        return 0;
}

/* Now, or when the delay is over. */
static void order(const Rule *r, TriggerAction action, const char *why) {
        Session *s = r->session;
        sd_event_source **timer =
                action == TRIGGER_STOP ? &s->triggers.stop : &s->triggers.snapshot;
        uint64_t delay_ns = r->trigger.delay_ns[action];

        if (!r->trigger.does[action] || *timer)
                return;
        if (delay_ns > 0 &&
            sd_event_add_time_relative(s->context->event, timer, CLOCK_MONOTONIC,
                                       delay_ns / NSEC_PER_USEC, 1000,
                                       action == TRIGGER_STOP ? on_stop : on_snapshot, s) >= 0)
                return;
        if (action == TRIGGER_STOP)
                do_stop(s, why);
        else
                do_snapshot(s, why);
}

static void order_the_rest(const Rule *r, const char *why) {
        order(r, TRIGGER_SNAPSHOT, why);
        order(r, TRIGGER_STOP, why);
}

/* True if what else the rule does can follow now. */
static bool begin_recording(Rule *r, const char *why) {
        Session *s = r->session;
        const char *what;
        int k = session_go(s, &what);

        if (k < 0) {
                log_error_errno(k, "Session \"%s\" cannot record: %s failed: %m", s->meta->name,
                                what);
                session_stop(s, "its trigger fired, and it could not record");
                return false;
        }
        if (session_hooks_are_changing(s)) {
                free(s->triggers.fired_why);
                s->triggers.fired_why = strdup(why);
                s->triggers.fired = r;
                return false;
        }
        return s->meta->state == SESSION_RECORDING; /* or it could not be hooked */
}

static void act(Rule *r, const char *why) {
        SessionMeta *m = r->session->meta;

        log_info("Session \"%s\": %s.", m->name, why);
        if (r->has_switch && rule_switch(r) == 0) /* the kernel has switched it off */
                health_drop_watch(r->session->health);
        if (trigger_is_capture(&r->trigger))
                (void) captures_note(&m->captures, now_ns(CLOCK_REALTIME));
        if (r->trigger.does[TRIGGER_START] && m->state == SESSION_ARMED && !begin_recording(r, why))
                return;
        order_the_rest(r, why);
}

/* It fired. */
static void carry_out(Rule *r, const char *why) {
        Session *s = r->session;

        rule_count(r)->fired++;
        rule_count(r)->last_ns = now_ns(CLOCK_REALTIME);
        act(r, why);
        if (session_is_live(s)) {
                session_save(s);
                look(s);
        }
        session_tell(s);
}

/* @n: how often it happened; once is enough, the rest came too soon after. */
static void fire(Rule *r, uint64_t n) {
        Session *s = r->session;
        TriggerCount *count = rule_count(r);
        bool is_capture = trigger_is_capture(&r->trigger);
        _cleanup_free_ char *why = NULL;

        if (s->is_leaving) /* the next daemon's */
                return;
        if (!can_act(r) || (is_capture && wait_ns(s) > 0)) {
                count->suppressed += is_capture ? n : 0;
                return;
        }
        count->suppressed += is_capture ? n - 1 : 0;
        (void) text_format(&why, "%s fired", rule_text(r));
        carry_out(r, why ?: "its trigger fired");
}

/* --- hearing of it ---------------------------------------------------------------------------- */

static int on_count(sd_event_source *source, uint64_t usec, void *userdata);

/* Something rang, or has been ringing for a while: what came since the notifier was cleared. */
static void hear(Rule *r) {
        uint64_t n = 0;

        r->listens = false;
        if (r->session->is_leaving)
                return; /* the next daemon hears of it */
        if (notifier_count(r->notifier, &n) < 0 || n == 0) {
                look(r->session);
                return;
        }
        if (r->trigger.kind == TRIGGER_COUNT && n < r->trigger.value) {
                r->listens = true;
                if (sd_event_add_time_relative(r->session->context->event, &r->timer,
                                               CLOCK_MONOTONIC, COUNT_LOOK_USEC, 0, on_count,
                                               r) < 0)
                        (void) notifier_listen(r->notifier, true);
                return;
        }
        (void) notifier_clear(r->notifier);
        fire(r, r->trigger.kind == TRIGGER_COUNT ? 1 : n);
        look(r->session);
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

static int on_gap(sd_event_source *source, uint64_t usec, void *userdata) {
        Session *s = userdata;

        s->triggers.gap = sd_event_source_disable_unref(s->triggers.gap);
        look(s);
        return 0;
}

/* All that may be captured has been. */
static bool is_done(const Session *s, uint64_t wait) {
        SessionState state = s->meta->state;

        if (wait != UINT64_MAX || s->snapshot || s->triggers.snapshot || s->triggers.stop)
                return false;
        if (s->triggers.repeats)
                return state == SESSION_ARMED;
        return s->triggers.keeps && !s->triggers.start_queue && state == SESSION_RECORDING;
}

/* A task. */
static void look_when_free(void *userdata) {
        Session *s = userdata;

        s->triggers.is_to_look = false;
        session_look_at_triggers(s);
}

static void look(Session *s) {
        uint64_t wait = wait_ns(s);

        if (s->is_leaving || s->stop_reason)
                return;
        if (is_done(s, wait)) {
                session_stop(s, "as many captures were made as --max-captures allows");
                return;
        }
        if (tracer_is_held_up(s->tracer)) { /* whoever listens writes control files */
                if (!session_hooks_are_changing(s) && !TAKE(s->triggers.is_to_look, true))
                        background_run(s->context->background, look_when_free, s);
                return;
        }
        for (size_t i = 0; i < s->triggers.n && !session_hooks_are_changing(s); i++) {
                Rule *r = &s->triggers.rules[i];
                bool wants = can_act(r) && (wait == 0 || !trigger_is_capture(&r->trigger));

                if (!r->notifier || wants == r->listens || r->timer)
                        continue;
                if (wants)
                        rule_listen(r);
                else
                        rule_end_listening(r);
        }
        if (wait > 0 && wait < UINT64_MAX && !s->triggers.gap)
                (void) sd_event_add_time_relative(s->context->event, &s->triggers.gap,
                                                  CLOCK_BOOTTIME, wait / NSEC_PER_USEC + 1, 0,
                                                  on_gap, s);
}

void session_look_at_triggers(Session *s) {
        if (!s->triggers.has_begun || !session_is_live(s))
                return;
        if (!s->snapshot && TAKE(s->triggers.stops_next, false))
                do_stop(s, "stopped by its trigger");
        if (session_is_live(s))
                look(s);
}

void session_triggers_hooked(Session *s) {
        SessionState state = s->meta->state;
        Rule *fired;

        if (!s->triggers.are_heard || session_hooks_are_changing(s))
                return;
        if (state != SESSION_RECORDING && state != SESSION_ARMED) {
                session_take_left_switches(s);
                return;
        }
        fired = TAKE(s->triggers.fired, NULL);
        if (fired && state == SESSION_RECORDING)
                order_the_rest(fired, s->triggers.fired_why ?: "its trigger fired");
        session_look_at_triggers(s);
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
        sd_event *event = r->session->context->event;
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
        at_us = r->session->meta->armed.boottime_ns / NSEC_PER_USEC +
                MIN(r->trigger.value / NSEC_PER_USEC, UINT64_MAX / 4);
        return sd_event_add_time(event, &r->timer, CLOCK_BOOTTIME, at_us, 1000, on_time, r);
}

/* --- commands --------------------------------------------------------------------------------- */

int session_trigger(Session *s, const char *who) {
        Rule *r = NULL;

        if (!s->triggers.has_begun || !session_is_live(s))
                return ORIGIN(-EINVAL);
        for (size_t i = 0; i < s->triggers.n && !r; i++)
                if (s->triggers.rules[i].trigger.kind == TRIGGER_COMMAND)
                        r = &s->triggers.rules[i];
        if (!r)
                r = &s->triggers.rules[0];
        if (!can_act(r))
                return ORIGIN(-EBUSY);
        carry_out(r, who);
        return 0;
}

bool session_signal(Session *s) {
        bool waits = false;

        for (size_t i = 0; s->triggers.has_begun && i < s->triggers.n; i++)
                if (s->triggers.rules[i].trigger.kind == TRIGGER_SIGNAL && session_is_live(s)) {
                        waits = true;
                        fire(&s->triggers.rules[i], 1);
                }
        return waits;
}

/* --- from the beginning to the end ------------------------------------------------------------ */

/* What rang while there was no daemon. */
static void catch_up(Session *s) {
        for (size_t i = 0; i < s->triggers.n; i++) {
                Rule *r = &s->triggers.rules[i];
                uint64_t n = 0;

                if (!r->notifier || r->trigger.kind == TRIGGER_COUNT ||
                    notifier_count(r->notifier, &n) < 0 || n == 0)
                        continue;
                (void) notifier_clear(r->notifier);
                fire(r, n);
        }
}

int session_begin_triggers(Session *s, bool is_adopted) {
        int r = 0;

        if (s->triggers.n == 0)
                return 0;
        s->triggers.are_heard = true;
        for (size_t i = 0; r >= 0 && i < s->triggers.n; i++) {
                Rule *rule = &s->triggers.rules[i];

                if (tracer_can_ring(&rule->trigger))
                        r = notifier_open(&rule->notifier, tracer_instance(s->tracer)->fs,
                                          s->meta->name, i, s->context->event, on_ring, rule);
                else if (rule->trigger.kind == TRIGGER_IN || rule->trigger.kind == TRIGGER_AT)
                        r = set_timer(rule);
        }
        if (r < 0)
                return r;
        if (is_adopted)
                catch_up(s);
        look(s);
        s->triggers.has_begun = true;
        return 0;
}
