/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What was measured, and when. */

#include "base/io.h"
#include "base/unit.h"
#include "daemon/process/background.h"
#include "daemon/session/session-usage.h"

#define MEASURED_NS (200 * NSEC_PER_MSEC) /* so long what a live one takes is taken for that */

void session_usage_set(SessionUsage *u, Footprint f) {
        u->footprint = f;
        u->measured_ns = now_ns(CLOCK_MONOTONIC);
}

void session_usage_measure(SessionUsage *u, const SessionDir *dir) {
        session_usage_set(u, BACKGROUND_CALL(footprint_measure(dir))); /* there may be many files */
}

void session_usage_measure_beside(SessionUsage *u, const SessionDir *dir, uint64_t segment_bytes) {
        session_usage_set(u, footprint_measure_beside(dir, segment_bytes));
}

void session_usage_segment_sealed(SessionUsage *u, uint64_t n_before, uint64_t n_bytes) {
        if (u->measured_ns > 0)
                footprint_replace(&u->footprint, n_before, n_bytes);
}

uint64_t session_usage_bytes(SessionUsage *u, const SessionPlace *p) {
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;

        if (u->measured_ns > 0 &&
            (!p->rotation || now_ns(CLOCK_MONOTONIC) - u->measured_ns < MEASURED_NS))
                return u->footprint.n_bytes;
        if (p->rotation)
                session_usage_measure_beside(u, p->dir,
                                             rotation_look_at_segments(p->rotation).counted_bytes);
        else if (p->dir)
                session_usage_set(u, footprint_measure(p->dir));
        else if (store_open_session(p->store, p->name, &dir) >= 0)
                session_usage_set(u, footprint_measure(dir));
        else
                u->footprint = (Footprint){};
        return u->footprint.n_bytes;
}
