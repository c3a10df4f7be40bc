/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Takes the samples that guard.h judges, and has the readers ask for the next. */

#include "base/io.h"
#include "base/unit.h"
#include "daemon/session/session-guard.h"

static GuardSample take_sample(const SessionGuard *g) {
        GuardSample now = { .at_ns = now_ns(CLOCK_MONOTONIC) };

        now.totals[GUARD_EVENTS] = session_meta_total(g->meta).read_events +
                                   session_meta_events_lost(g->meta) +
                                   instance_n_waiting(tracer_instance(g->tracer));
        now.totals[GUARD_BYTES] = recorder_n_bytes(g->recorder);
        now.totals[GUARD_CPU] =
                (recorder_cpu_ns(g->recorder) + health_cpu_ns(g->health)) / NSEC_PER_USEC;
        return now;
}

static void set_look(SessionGuard *g) {
        uint64_t n_bytes = recorder_n_bytes(g->recorder), n = guard_look_bytes(&g->guard);

        recorder_look_at(g->recorder, add_capped(n_bytes, n));
}

void session_guard_begin(SessionGuard *g) {
        GuardSample now = take_sample(g);

        guard_init(&g->guard, &g->meta->spec, &now);
        set_look(g);
}

int session_guard_look(SessionGuard *g, char ret[static GUARD_TEXT_MAX], SessionLimit *ret_limit) {
        GuardSample now = take_sample(g);
        GuardVerdict verdict;

        if (guard_look(&g->guard, &now, &verdict) != GUARD_E_PASSED) {
                set_look(g);
                return 0;
        }
        (void) guard_sentence(ret, &verdict);
        *ret_limit = guard_limits[verdict.kind];
        return GUARD_E_PASSED;
}
