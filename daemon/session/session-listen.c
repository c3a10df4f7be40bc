/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * By what a session's rules hear.  What one does without delay the kernel does first, by a switch; the daemon,
 * told by the notifier, does the rest (session-trigger.c).
 */

#include "base/io.h"
#include "base/unit.h"
#include "daemon/session/session-private.h"

const char *rule_text(const Rule *r) {
        return trigger_rule_on(r->session->meta->spec.triggers.items[r->i]);
}

TriggerCount *rule_count(const Rule *r) {
        return &r->session->meta->captures.triggers[r->i];
}

int rule_switch(const Rule *r) {
        return tracer_switch_of(&r->session->meta->spec, &r->trigger);
}

/* --- listening --------------------------------------------------------------------------------- */

static void put_switch(Rule *r) {
        Session *s = r->session;
        int on = rule_switch(r), k;

        if (on < 0)
                return;
        (void) tracer_take_switch(s->tracer, r->i, &r->trigger, on > 0); /* one that is used up */
        k = tracer_put_switch(s->tracer, r->i, &r->trigger, on > 0);
        health_renew_hooks(s->health); /* that of a function is in set_ftrace_filter */
        r->has_switch = k >= 0;
        if (k < 0)
                session_warn(s,
                             "the kernel does not take %s as a trigger of its own (%s): the daemon "
                             "does what it can a moment later",
                             rule_text(r), origin_text(k));
}

/* What is written to set_ftrace_filter must not come between. */
static void take_switch(Rule *r) {
        Session *s = r->session;

        if (session_hooks_are_changing(s) || !TAKE(r->has_switch, false))
                return;
        (void) tracer_take_switch(s->tracer, r->i, &r->trigger, rule_switch(r) > 0);
        health_renew_hooks(s->health);
}

void rule_listen(Rule *r) {
        uint64_t n = 0;

        if (r->session->triggers.has_begun && r->trigger.kind != TRIGGER_COUNT &&
            trigger_is_capture(&r->trigger) && notifier_count(r->notifier, &n) >= 0)
                rule_count(r)->suppressed += n;
        (void) notifier_clear(r->notifier);
        put_switch(r);
        r->listens = notifier_listen(r->notifier, true) >= 0;
}

void rule_end_listening(Rule *r) {
        take_switch(r);
        (void) notifier_listen(r->notifier, false);
        r->listens = false;
}

void session_take_left_switches(Session *s) {
        bool has_any = false;

        for (size_t i = 0; i < s->triggers.n; i++) {
                has_any = has_any || s->triggers.rules[i].has_switch;
                take_switch(&s->triggers.rules[i]);
        }
        if (has_any)
                (void) tracer_set_recording(s->tracer, false);
}

/* --- whether the rules make sense --------------------------------------------------------------- */

static int refuse(Refusal *refusal, const char *text) {
        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "triggers", "%s", text);
}

int session_admit_triggers(const Spec *spec, bool is_new, Refusal *refusal) {
        uint64_t now = now_ns(CLOCK_REALTIME);

        if (spec->in_kernel && !spec->ring)
                return refuse(refusal, "InKernel= needs Ring=yes");
        for (size_t i = 0; i < spec->triggers.n; i++) {
                _cleanup_trigger_ Trigger trigger = {};
                const char *rule = spec->triggers.items[i];
                char why[TRIGGER_WHY_MAX];
                int r = trigger_parse(&trigger, rule, why);

                if (r != 0)
                        return r < 0 ? r : refuse(refusal, why);
                if (trigger.does[TRIGGER_SNAPSHOT] && !spec->ring)
                        return refuse(refusal, "only a ring can keep a snapshot: add --in-kernel "
                                               "or --ring, or use --do=start");
                if (!is_new || !trigger.is_moment || trigger.value > now)
                        continue;
                (void) snprintf(
                        why, sizeof(why),
                        "%s was %s ago by this host's clock when it was armed: name a later "
                        "moment, or set the clock",
                        trigger_rule_on(rule), FORMAT_DURATION(now - trigger.value));
                return refuse(refusal, why);
        }
        return 0;
}

/* --- from the beginning to the end -------------------------------------------------------------- */

int session_make_triggers(Session *s, Refusal *refusal) {
        const Spec *spec = &s->meta->spec;
        SessionTriggers *t = &s->triggers;
        Captures *c = &s->meta->captures;
        bool stops = false;
        int r = session_admit_triggers(spec, s->meta->state == SESSION_NEW, refusal);

        for (; r == 0 && t->n < spec->triggers.n; t->n++) {
                Rule *rule = &t->rules[t->n];
                char why[TRIGGER_WHY_MAX];

                *rule = (Rule){ .session = s, .i = t->n };
                r = trigger_parse(&rule->trigger, spec->triggers.items[t->n], why);
                t->start_queue = t->start_queue || rule->trigger.does[TRIGGER_START];
                t->keeps = t->keeps || rule->trigger.does[TRIGGER_SNAPSHOT];
                stops = stops || rule->trigger.does[TRIGGER_STOP];
        }
        t->repeats = t->start_queue && stops && !spec->ring && spec->max_captures != 1;
        while (r == 0 && c->n_triggers < t->n)
                r = ARRAY_ADD(c->triggers, c->n_triggers, (TriggerCount){}) ? 0 : -ENOMEM;
        return r;
}

static void drop_sources(SessionTriggers *t) {
        for (size_t i = 0; i < t->n; i++)
                t->rules[i].timer = sd_event_source_disable_unref(t->rules[i].timer);
        t->gap = sd_event_source_disable_unref(t->gap);
        t->stop = sd_event_source_disable_unref(t->stop);
        t->snapshot = sd_event_source_disable_unref(t->snapshot);
}

void session_end_triggers(Session *s) {
        SessionTriggers *t = &s->triggers;

        t->has_begun = false;
        for (size_t i = 0; i < t->n; i++)
                if (t->rules[i].notifier)
                        rule_end_listening(&t->rules[i]);
        drop_sources(t);
}

void session_free_triggers(Session *s) {
        SessionTriggers *t = &s->triggers;

        drop_sources(t);
        for (size_t i = 0; i < t->n; i++) {
                (void) notifier_free(t->rules[i].notifier);
                trigger_done(&t->rules[i].trigger);
        }
        free(t->fired_why);
        *t = (SessionTriggers){};
}
