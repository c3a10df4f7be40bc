/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A member's sessions have a share of the disk together (daemon/allowance.h), which is asked for before
 * anything is made.  What records grows beside what was made since it began: a ring then drops its
 * oldest, as it does when the disk is full, and others end.  A look comes when the readers have
 * closed segments, and with daemon/health.h's.
 */

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/session-private.h"

#define OVER_NS (5 * NSEC_PER_SEC) /* a ring that has nothing to drop ends then */

bool session_snapshot_is_moved(const Session *s) {
        return s->meta->spec.in_kernel || !s->meta->spec.ring;
}

uint64_t session_snapshot_bytes(Session *s) {
        return session_snapshot_is_moved(s) ? session_own_bytes(s) : session_disk_bytes(s);
}

int session_share_admit_snapshot(Session *s) {
        _cleanup_refusal_ Refusal refusal = {};
        int r;

        r = s->context->admit(s, session_snapshot_bytes(s), &refusal, s->context->userdata);
        if (r != REFUSED)
                return r;
        log_notice("Session '%s': no snapshot is kept: %s.", s->meta->name,
                   refusal_message(&refusal));
        session_warn(s, "snapshots were not kept: its owner's sessions take what MaxStored= in "
                        "[Members] of ftraced.conf allows");
        return -EDQUOT;
}

/* Whether there is enough, or the ring makes it so.  What it is writing to is closed first, and goes
 * a moment later. */
static bool fits(Session *s, Refusal *refusal) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        bool has_dropped = false;

        while (s->context->admit(s, 0, refusal, s->context->userdata) == REFUSED) {
                bool waits = s->over_share_ns > 0;

                if (!s->meta->spec.ring || (waits && now - s->over_share_ns > OVER_NS))
                        return false;
                if (rotation_make_room(s->rotation) <= 0) {
                        s->over_share_ns = s->over_share_ns ?: now;
                        break;
                }
                has_dropped = true;
                session_forget_disk_bytes(s);
        }
        if (has_dropped)
                session_save(s);
        return true;
}

void session_share_look(Session *s) {
        _cleanup_refusal_ Refusal refusal = {};

        /* What is in the kernel alone takes nothing more until there is a snapshot. */
        if (s->meta->state != SESSION_RECORDING || s->is_leaving || s->snapshot || !s->rotation ||
            s->meta->spec.in_kernel)
                return;
        if (!fits(s, &refusal)) {
                session_stop(s, refusal_message(&refusal));
                return;
        }
        if (!refusal.parameters)
                s->over_share_ns = 0;
}
