/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The picture in the header, as a table.  0 is SESSION_NEW, which nothing leads to. */

#include <errno.h>

#include "daemon/session/transition.h"

static const SessionState transitions[_SESSION_STATE_N][_SESSION_EVENT_N] = {
        [SESSION_NEW] = {
                [SESSION_EVENT_ARM] = SESSION_ARMED,
                [SESSION_EVENT_FAIL] = SESSION_FAILED,
        },
        [SESSION_ARMED] = {
                [SESSION_EVENT_START] = SESSION_RECORDING,
                [SESSION_EVENT_STOP] = SESSION_DRAINING,
                [SESSION_EVENT_FAIL] = SESSION_FAILED,
        },
        [SESSION_RECORDING] = {
                [SESSION_EVENT_PAUSE] = SESSION_ARMED,
                [SESSION_EVENT_STOP] = SESSION_DRAINING,
                [SESSION_EVENT_FAIL] = SESSION_FAILED,
        },
        [SESSION_DRAINING] = {
                [SESSION_EVENT_DRAIN] = SESSION_SEALED,
                [SESSION_EVENT_FAIL] = SESSION_FAILED,
        },
};

int transition_next(SessionState from, SessionEvent event) {
        SessionState to;

        if ((unsigned) from >= _SESSION_STATE_N || (unsigned) event >= _SESSION_EVENT_N)
                return ORIGIN(-EINVAL);
        to = transitions[from][event];
        return to == SESSION_NEW ? -EINVAL : (int) to;
}
