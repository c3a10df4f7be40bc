/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A look comes when the readers have closed segments, and with daemon/watch/health.h's. */

#include "base/log.h"
#include "base/now.h"
#include "base/unit.h"
#include "daemon/session/session-share.h"
#include "daemon/watch/health.h"

#define SLICE_NS (10 * NSEC_PER_MSEC) /* then the loop comes round: there may be much to drop */
#define OVER_NS (5 * NSEC_PER_SEC)    /* a ring that has nothing to drop ends then */

int session_share_admit_snapshot(SessionShare *h, uint64_t n_bytes) {
        _cleanup_refusal_ Refusal refusal = {};
        int r = h->admit(h->session, n_bytes, &refusal);

        if (r != REFUSED)
                return r;
        log_notice("Session '%s': no snapshot is kept: %s.", h->meta->name,
                   refusal_message(&refusal));
        health_warn(h->meta,
                    "snapshots were not kept: its owner's sessions take what MaxStored= in "
                    "[Members] of ftraced.conf allows");
        return ORIGIN(-EDQUOT);
}

/* Whether there is enough, or the ring makes it so.  What it is writing to is closed first, and goes
 * a moment later. */
static bool fits(SessionShare *h, Refusal *refusal) {
        uint64_t now = now_ns(CLOCK_MONOTONIC);
        bool has_dropped = false;

        while (h->admit(h->session, 0, refusal) == REFUSED) {
                bool waits = h->over_ns > 0;

                if (!h->meta->spec.ring || (waits && now - h->over_ns > OVER_NS))
                        return false;
                if (rotation_make_room(h->rotation) <= 0) {
                        h->over_ns = h->over_ns ?: now;
                        break;
                }
                has_dropped = true;
                h->dropped(h->session);
                if (now_ns(CLOCK_MONOTONIC) - now > SLICE_NS) {
                        recorder_wake(h->recorder);
                        break;
                }
        }
        if (has_dropped)
                h->changed(h->session);
        return true;
}

int session_share_look(SessionShare *h, Refusal *refusal) {
        if (!fits(h, refusal))
                return REFUSED;
        if (!refusal->parameters)
                h->over_ns = 0;
        return 0;
}
