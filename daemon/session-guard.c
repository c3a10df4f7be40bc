/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a session costs, and its end when that is too much (daemon/guard.h).  Nothing of it needs a
 * look into pages: events are counted by the kernel, bytes and CPU time by the readers.  A look comes
 * with daemon/health.h's, and the readers ask for one sooner when they have stored what a flood would.
 */

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/session-private.h"
#include "daemon/stock.h"

static GuardSample take_sample(const Session *s) {
        GuardSample now = { .at_ns = now_ns(CLOCK_MONOTONIC) };

        now.totals[GUARD_EVENTS] = session_meta_n_events(s->meta) +
                                   session_meta_events_lost(s->meta) + tracer_n_waiting(s->tracer);
        now.totals[GUARD_BYTES] = recorder_n_bytes(s->recorder);
        now.totals[GUARD_CPU] =
                (recorder_cpu_ns(s->recorder) + health_cpu_ns(s->health)) / NSEC_PER_USEC;
        return now;
}

static void set_look(Session *s) {
        uint64_t n_bytes = recorder_n_bytes(s->recorder), n = guard_look_bytes(&s->guard);

        recorder_look_at(s->recorder, n > UINT64_MAX - n_bytes ? UINT64_MAX : n_bytes + n);
}

void session_guard_begin(Session *s) {
        GuardSample now = take_sample(s);

        guard_init(&s->guard, &s->meta->spec, &now);
        set_look(s);
}

void session_guard_look(Session *s) {
        GuardSample now;
        GuardVerdict verdict;
        char text[GUARD_TEXT_MAX];

        /* What is in the kernel alone costs nothing but its hooks, and a snapshot is a burst. */
        if (s->meta->state != SESSION_RECORDING || s->is_leaving || s->meta->spec.in_kernel)
                return;
        now = take_sample(s);
        if (guard_look(&s->guard, &now, &verdict) != GUARD_E_PASSED) {
                set_look(s);
                return;
        }
        (void) guard_sentence(text, &verdict);
        log_warning("Session '%s' costs too much and ends: %s.", s->meta->name, text);
        s->meta->limit = guard_limit(verdict.kind);
        session_stop(s, text);
}

int session_guard_nearest(const Session *s, unsigned *ret_percent) {
        return s->meta->state == SESSION_RECORDING ? guard_nearest(&s->guard, ret_percent) : -1;
}

json_t *session_cost(const Session *s) {
        uint64_t cpu_ns;

        if (!s->dir || !s->tracer || !s->recorder || !s->health)
                return NULL;
        cpu_ns = recorder_cpu_ns(s->recorder) + health_cpu_ns(s->health);
        return json_pack("{s:I, s:I, s:I}", "cpu_ns", (json_int_t) cpu_ns, "unread_events",
                         (json_int_t) tracer_n_waiting(s->tracer), "segments",
                         (json_int_t) stock_n_segments(s->dir));
}
