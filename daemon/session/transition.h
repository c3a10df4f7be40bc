/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Transition: which state of a session follows which
 *
 *                  ARM           START             STOP             DRAIN
 *      new ──────────> armed ──────────> recording ──────> draining ──────> sealed
 *       │                │ ^─────PAUSE─────────┘ │           ^ │
 *       │                │ └──────────STOP───────│───────────┘ │
 *       └──────FAIL──────┴───────────────────────┴─────────────┴───────────> failed
 */

#include "meta/meta.h"

typedef enum SessionEvent {
        SESSION_EVENT_ARM,   /* the kernel is programmed */
        SESSION_EVENT_START, /* it records */
        SESSION_EVENT_PAUSE, /* it records no more, and waits for its triggers again */
        SESSION_EVENT_STOP,  /* it records no more */
        SESSION_EVENT_DRAIN, /* all is stored and the kernel is as it was */
        SESSION_EVENT_FAIL,
        _SESSION_EVENT_N,
} SessionEvent;

/* The state after @event in state @from, or -EINVAL: it cannot happen there. */
int transition_next(SessionState from, SessionEvent event);
